// SPDX-License-Identifier: Apache-2.0
// Task reductions: tasks that add up into one object, each into a copy of its own; see
// <weft/reduction.hpp>.
#pragma once

#include <weft/c/access.h>
#include <weft/c/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Lists the operations that Weft knows. The bit operations are for the integer types only;
// _LOGICAL_AND and _LOGICAL_OR give 0 or 1.
enum weft_reduction_op {
  WEFT_SUM = 0,
  WEFT_PRODUCT = 1,
  WEFT_MINIMUM = 2,
  WEFT_MAXIMUM = 3,
  WEFT_BIT_AND = 4,
  WEFT_BIT_OR = 5,
  WEFT_BIT_XOR = 6,
  WEFT_LOGICAL_AND = 7,
  WEFT_LOGICAL_OR = 8
};

// Lists the types that Weft knows.
enum weft_reduction_type {
  WEFT_INT32 = 0,
  WEFT_UINT32 = 1,
  WEFT_INT64 = 2,
  WEFT_UINT64 = 3,
  WEFT_FLOAT = 4,
  WEFT_DOUBLE = 5
};

// Says what a task reduces, and how. Two of them are the same reduction when all members but
// `address` are equal.
typedef struct weft_reduction {
  void *address;        // of the first element; NULL names nothing
  ptrdiff_t count;      // of elements; 0 names nothing
  size_t element_bytes; // of one
  // Makes `count` elements at `copy` that change nothing when they are added.
  void (*init)(void *copy, size_t count, void *context);
  // Adds `count` elements at `copy` to those at `into`. Associative and commutative; neither waits nor spawns.
  void (*combine)(void *into, const void *copy, size_t count, void *context);
  void *context; // handed to both; must outlive the tasks
} weft_reduction;

// Fills *reduction for an operation and a type that Weft knows.
//
// Threads. Anywhere.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (an unknown operation or type, a bit operation on floating point,
// reduction NULL).
WEFT_API int weft_reduction_builtin(weft_reduction *reduction, void *address, ptrdiff_t count,
                                    int type, int op);

// Returns the access of a reduction, which holds the address of *reduction: *reduction must live
// until the spawn has returned.
static inline weft_access weft_reduce(const weft_reduction *reduction) {
  return weft_access_make(reduction, WEFT_REDUCTION);
}
// Returns the access of a reduction that only the task's children add to.
static inline weft_access weft_weak_reduce(const weft_reduction *reduction) {
  return weft_access_make(reduction, WEFT_WEAK_REDUCTION);
}

// Sets *local to the running task's copy of the `bytes` bytes at `address`, which it reduces. The
// copy begins with what init() made and is the task's until its accesses are released; in a task
// that has the object for itself it is the object.
//
// Threads. Tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (the task does not reduce the address, or less of it; local NULL),
// NOT_A_TASK, OUT_OF_RESOURCES.
WEFT_API int weft_reduction_local(const void *address, size_t bytes, void **local);

#ifdef __cplusplus
}
#endif
