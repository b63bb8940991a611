/* SPDX-License-Identifier: Apache-2.0
   The order between the tasks of Python: Weft's, by the regions of arrays that they name. It knows no Python. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Holds where a thread counts and traces bodies: a slot of Weft's. */
typedef struct order_log order_log;

/* Describes a task for a counter or a trace. */
typedef struct order_body {
  void *task; /* a Task */
  const void *group; /* null: the parent waits for it */
  uint32_t number; /* in the trace; 0 for none */
} order_body;

/* Supplied by names.c; called with the GIL, by the calls that take an order_body. The label lives as long as the task. */
const char *order_label_of(void *task);
void order_spawn_site_of(void *task, char *text, size_t size);

typedef enum order_wait { ORDER_CHILDREN, ORDER_GROUP, ORDER_END_OF_TASK, ORDER_OUTSIDE } order_wait;

/* What order_begin_body() hands to order_end_body(). */
typedef struct order_running {
  uint64_t space[7];
} order_running;

/* Returns the slot of the calling thread, which becomes known to Weft; null: there is none. */
order_log *order_own_log(void);
/* Returns a slot for bodies of the calling thread until it is given back; null: there is none. */
order_log *order_borrow_log(void);
void order_give_back_log(order_log *log);
/* Notes a task without data; order_enter() notes those with. */
void order_note_creation(order_log *log, order_body *body);
void order_begin_body(order_log *log, const order_body *body, order_running *self);
void order_end_body(order_log *log, order_running *self);
/* Counts bodies that have ended without a slot. */
void order_count_unlogged(order_log *log, uint64_t bodies);
void order_skip_body(order_log *log, const order_body *body);
/* What runs in a slot leaves it to wait, and goes on, perhaps in another. `log` may be null. */
uint32_t order_sleep(order_log *log, order_wait what);
void order_wake(order_log *log, uint32_t asleep);
uint64_t order_wait_begins(void);
void order_wait_is_over(order_log *log, uint64_t since, const void *group);

/* @{ The calling thread sleeps, and calls nothing of Weft; it goes on. */
void order_begin_rest(void);
void order_end_rest(void);
/* @} */
/* Returns after how many seconds of sleep to call order_ask_for_examination(); 0: never. */
double order_patience(void);
/* Has Weft look whether anything can go on. */
void order_ask_for_examination(void);

/* Has order_list_tasks() called for reports. Returns false without memory. */
bool order_announce_reports(void);
/* Is a report that is being made. */
typedef struct order_report order_report;
/* Supplied by reports.c; called without the GIL. Lists all tasks by the calls below. Returns false where that cannot be
   now. */
bool order_list_tasks(order_report *to);
/* `id` is what waits refer to. `order` is the task's, null for none; `former_order` what it was until order_end(). `file`
   is "FILE:LINE" of the function, `where` "FUNCTION at FILE:LINE" of a body that has begun; empty for what is not known. */
void order_report_task(order_report *to, const void *id, const order_node *order, const void *former_order,
                       const char *name, const char *state, const char *file, const char *where);
/* A thread that waits, or runs, outside of bodies. */
void order_report_creator(order_report *to, const void *id, int tid, const char *where);
void order_report_thread(order_report *to, int tid, const void *id, bool sleeps);
void order_report_wait(order_report *to, const void *waiter, const void *awaited, const char *reason,
                       bool is_certain);
/* Something happens without a thread that is listed: a deadline, a task that is about to begin. */
void order_report_goes_on(order_report *to);

/* Returns how many tasks may run at once: the workers of Weft, which starts. Returns -1 with a sentence in `why` (of
   `size` bytes) where it cannot. */
int order_workers(char *why, size_t size);

/* Makes the parent of tasks; null with a sentence in `why`. */
order_node *order_make_parent(char *why, size_t size);

/* Enters a task behind its siblings. `ready(context)` is called by the thread that makes the task ready, which may have
   no thread state of Python, and must not wait. Returns 1 where the task is ready and `ready` is not called, 0 where it
   is not, -1 with a sentence in `why`; *self is written first. One call at a time for one parent. `log` may be null. */
int order_enter(order_node *parent, const order_region *list, size_t count, void (*ready)(void *),
                order_log *log, order_body *body, order_node **self, char *why, size_t size);

/* Ends a task, or a parent, whose body has ended. It is the last use of the node. Any thread. */
void order_end(order_node *self);

#ifdef __cplusplus
}
#endif
