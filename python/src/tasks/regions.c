/* SPDX-License-Identifier: Apache-2.0
   The bytes of a buffer with a shape and strides, as regions. */
#include "state.h"

enum { k_most_dimensions = 64, k_most_pieces = 64 };

typedef struct Loop {
  Py_ssize_t count, step; /* step in bytes, positive */
} Loop;

/* Fills `loops` with the dimensions that count, the inner ones first, all with positive steps. Returns how many there
   are, -1 for a buffer without elements; moves *first to the lowest byte. */
static int normalize(const Py_buffer *buffer, Loop *loops, const char **first) {
  int count = 0;
  Py_ssize_t packed = buffer->itemsize;
  for (int i = buffer->ndim; i-- > 0;) {
    const Py_ssize_t n = buffer->shape ? buffer->shape[i] : buffer->len / buffer->itemsize;
    Py_ssize_t step = buffer->strides ? buffer->strides[i] : packed;
    packed *= n;
    if (n == 0)
      return -1;
    if (n == 1 || step == 0)
      continue;
    if (step < 0) {
      *first += (n - 1) * step;
      step = -step;
    }
    int at = count++;
    for (; at > 0 && loops[at - 1].step > step;
         --at) /* a transposed array has its inner dimension first */
      loops[at] = loops[at - 1];
    loops[at] = (Loop){n, step};
  }
  return count;
}

/* Takes loops whose elements follow or overlap each other into the run, and joins loops that are one. Returns how many
   are left. */
static int merge(Loop *loops, int count, Py_ssize_t *run) {
  int kept = 0;
  Py_ssize_t reach = *run; /* of all inner loops */
  for (int i = 0; i != count; ++i) {
    const Loop loop = loops[i];
    if (kept == 0 && loop.step <= *run) {
      *run += (loop.count - 1) * loop.step;
    } else if (kept > 0 && loop.step < reach) { /* they overlap: all bytes between them */
      *run = reach + (loop.count - 1) * loop.step;
      kept = 0;
    } else if (kept > 0 && loop.step == loops[kept - 1].step * loops[kept - 1].count) {
      loops[kept - 1].count *= loop.count;
    } else {
      loops[kept++] = loop;
    }
    reach += (loop.count - 1) * loop.step;
  }
  return kept;
}

static int add(RegionList *list, const char *first, Py_ssize_t run, const Loop *loops, int count,
               order_mode mode) {
  if (list->count == list->room) {
    const size_t room = list->room ? 2 * list->room : 8;
    order_region *const more = PyMem_Realloc(list->items, room * sizeof *more);
    if (!more) {
      PyErr_NoMemory();
      return -1;
    }
    list->items = more;
    list->room = room;
  }
  order_region region = {first, run, {1, 1}, {0, 0}, mode};
  for (int i = 0; i != count; ++i) { /* the inner loop is the last */
    region.count[1 - i] = loops[i].count;
    region.step[1 - i] = loops[i].step;
  }
  list->items[list->count++] = region;
  return 0;
}

/* Adds a region for each element of the loops beyond the inner two. */
static int add_pieces(RegionList *list, const char *first, Py_ssize_t run, const Loop *loops,
                      int count, order_mode mode) {
  if (count <= 2)
    return add(list, first, run, loops, count, mode);
  const Loop outer = loops[count - 1];
  for (Py_ssize_t i = 0; i != outer.count; ++i)
    if (add_pieces(list, first + i * outer.step, run, loops, count - 1, mode) < 0)
      return -1;
  return 0;
}

int add_regions(RegionList *list, const Py_buffer *buffer, order_mode mode) {
  Loop loops[k_most_dimensions] = {{0, 0}};
  const char *first = buffer->buf;
  Py_ssize_t run = buffer->itemsize;
  if (buffer->len == 0 || buffer->ndim > k_most_dimensions)
    return buffer->len == 0 ? 0 : add(list, first, buffer->len, loops, 0, mode);
  int count = normalize(buffer, loops, &first);
  if (count < 0)
    return 0;
  count = merge(loops, count, &run);
  for (;;) {
    Py_ssize_t pieces = 1;
    for (int i = 2; i < count && pieces <= k_most_pieces; ++i)
      pieces *= loops[i].count;
    if (pieces <= k_most_pieces)
      break;
    /* Too many: the bytes between the runs of the inner loop count as named. */
    run += (loops[0].count - 1) * loops[0].step;
    for (int i = 1; i != count; ++i)
      loops[i - 1] = loops[i];
    count = merge(loops, count - 1, &run);
  }
  return add_pieces(list, first, run, loops, count, mode);
}

#ifdef WEFT_FREE_THREADED
int take_buffer(PyObject *object, Py_buffer *buffer, int flags) {
  int taken;
  Py_BEGIN_CRITICAL_SECTION(object);
  taken = PyObject_GetBuffer(object, buffer, flags);
  Py_END_CRITICAL_SECTION();
  return taken;
}

void drop_buffer(Py_buffer *buffer) {
  PyObject *const object = buffer->obj;
  if (!object)
    return;
  Py_INCREF(object); /* beyond the section */
  Py_BEGIN_CRITICAL_SECTION(object);
  PyBuffer_Release(buffer);
  Py_END_CRITICAL_SECTION();
  Py_DECREF(object);
}
#else
int take_buffer(PyObject *object, Py_buffer *buffer, int flags) {
  return PyObject_GetBuffer(object, buffer, flags);
}

void drop_buffer(Py_buffer *buffer) { PyBuffer_Release(buffer); }
#endif
