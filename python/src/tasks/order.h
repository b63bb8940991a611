/* SPDX-License-Identifier: Apache-2.0
   The order between the tasks of Python: Weft's, by the regions of arrays that they name. It knows no Python. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum order_mode {
  ORDER_READS,
  ORDER_WRITES,
  ORDER_UPDATES,
  ORDER_CONCURRENT,
  ORDER_COMMUTATIVE
} order_mode;

/* Holds bytes that a task names: runs of `run` bytes, in two loops around them. */
typedef struct order_region {
  const char *first;
  ptrdiff_t run;
  ptrdiff_t count[2]; /* the outer loop first; 1 for none */
  ptrdiff_t step[2]; /* bytes */
  order_mode mode;
} order_region;

/* Holds one task, or the tasks that one parent spawns. */
typedef struct order_node order_node;

/* Returns how many tasks may run at once: the workers of Weft, which starts. Returns -1 with a sentence in `why` (of
   `size` bytes) where it cannot. */
int order_workers(char *why, size_t size);

/* Makes the parent of tasks; null with a sentence in `why`. */
order_node *order_make_parent(char *why, size_t size);

/* Enters a task behind its siblings. `ready(context)` is called by the thread that makes the task ready, which may have
   no thread state of Python, and must not wait. Returns 1 where the task is ready and `ready` is not called, 0 where it
   is not, -1 with a sentence in `why`; *self is written first. One call at a time for one parent. */
int order_enter(order_node *parent, const order_region *list, size_t count, void (*ready)(void *),
                void *context, order_node **self, char *why, size_t size);

/* Ends a task, or a parent, whose body has ended. It is the last use of the node. Any thread. */
void order_end(order_node *self);

#ifdef __cplusplus
}
#endif
