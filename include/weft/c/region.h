// SPDX-License-Identifier: Apache-2.0
// Accesses to parts of arrays, which are ordered by the bytes that they have in common.
#pragma once

#include <weft/c/handle.h>
#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ANY_EXTENT                                                                            \
  PTRDIFF_MAX // of the outermost dimension: the part alone says how many elements

// Holds one dimension of an array, and the part of it that is named.
typedef struct weft_dimension {
  ptrdiff_t extent; // elements that are declared
  ptrdiff_t first;  // of the part
  ptrdiff_t count;  // of the part; 0: the region is empty, and ignored
  ptrdiff_t stride; // from one element to the next, in elements; 0: they follow each other
} weft_dimension;

// Holds a part of an array of one to three dimensions, the outermost first, as C lays arrays out. A
// NULL address is ignored.
typedef struct weft_region {
  const void *address; // of the array
  size_t element_bytes; // of one element
  int mode; // enum weft_access_mode
  int dimensions; // 1 to 3
  weft_dimension dimension[3]; // the outermost first
} weft_region;

// Returns `count` elements from `first` on: array[first;count].
static inline weft_region weft_region_span(const void *array, size_t element_bytes, ptrdiff_t first,
                                           ptrdiff_t count, int mode) {
  weft_region region = {
      array, element_bytes, mode, 1, {{WEFT_ANY_EXTENT, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}};
  region.dimension[0].first = first;
  region.dimension[0].count = count;
  return region;
}
// Returns the elements from `first` to `last`, both included: array[first:last].
static inline weft_region weft_region_range(const void *array, size_t element_bytes,
                                            ptrdiff_t first, ptrdiff_t last, int mode) {
  return weft_region_span(array, element_bytes, first, last - first + 1, mode);
}
// Returns a block of a matrix: `rows` rows from `row` on, of each `columns` elements from `column`
// on; the rows of the whole are `width` elements long.
static inline weft_region weft_region_block(const void *matrix, size_t element_bytes,
                                            ptrdiff_t width, ptrdiff_t row, ptrdiff_t rows,
                                            ptrdiff_t column, ptrdiff_t columns, int mode) {
  weft_region region = weft_region_span(matrix, element_bytes, row, rows, mode);
  region.dimensions = 2;
  region.dimension[1].extent = width;
  region.dimension[1].first = column;
  region.dimension[1].count = columns;
  return region;
}

// Spawns as weft_spawn() a task of whose accesses some are regions: those of `regions`, beside
// those of `list`.
//
// Ownership. As weft_spawn(); the regions are read before the call returns.
// Threads. Any thread, and tasks; the first call starts the runtime.
// Blocks. As weft_spawn().
// Errors. As weft_spawn(); INVALID_ARGUMENT also for a negative extent, a part beyond what is
// declared, more bytes than there are addresses.
// Undefined. As weft_spawn().
WEFT_API int weft_spawn_regions(weft_body body, const void *arg, size_t arg_bytes,
                                const weft_region *regions, size_t region_count,
                                const weft_access *list, size_t count,
                                const weft_spawn_options *options, weft_handle **handle);

// Submits as weft_task_submit() a task of whose accesses some are regions. The number of regions
// need not be announced.
WEFT_API int weft_task_submit_regions(weft_prepared *prepared, const weft_region *regions,
                                      size_t region_count, const weft_access *list, size_t count);

// Releases regions as weft_release(): bytes that the running task has declared, all of a region or
// a part of it.
//
// Threads. The task itself.
// Blocks. Never.
// Errors. As weft_release(), and as weft_spawn_regions() for an invalid region; OUT_OF_RESOURCES.
WEFT_API int weft_release_regions(const weft_region *regions, size_t count);

// Waits as weft_taskwait_on() for regions.
//
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. As weft_spawn_regions(). Failures stay with weft_taskwait().
WEFT_API int weft_taskwait_on_regions(const weft_region *regions, size_t count);

#ifdef __cplusplus
}
#endif
