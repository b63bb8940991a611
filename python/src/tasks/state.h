/* SPDX-License-Identifier: Apache-2.0
   What the files of _tasks share: tasks, what waits count, and the calls between the files.

   Roles       A creator spawns. A runner is a thread of Python's that runs bodies; a host is a thread that runs them
               while it waits. A waiter waits for a task, or for all tasks of a pool.
   Locks       g_lock of run.c guards the lists, the counts and the states below, which Weft touches as well when it makes
               a task ready, on a thread without a thread state. Under g_lock no code of Python runs, so it covers no
               Py_DECREF(), and no thread waits for the GIL. What one thread at a time has needs no lock: a scope, a task
               before it is entered, the body's fields while it runs. The outcome of a task is written before the state
               k_over is stored, and read behind that load. So nothing relies on the GIL, which a free-threaded Python
               has not; where it is there, it saves the lock of names.c.
   Invariants  I1  While a thread waits, there is a runner that does not wait. So a task that becomes ready is run, also
                   where the thread that makes it ready cannot start one.
               I2  A body waits on the stack and the thread on which it began, so its thread state is its own as long as
                   it lives. Meanwhile it runs tasks of the pool that it waits for, on top of itself, k_deepest at most;
                   then it sleeps, and another runner takes its slot.
               I3  No more than g_limit threads have a slot, but for those that come back from a wait. */
#pragma once

#define PY_SSIZE_T_CLEAN
#if !defined(Py_LIMITED_API) &&                                                                    \
    !defined(WEFT_FREE_THREADED) /* without a GIL there is no stable interface yet */
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "order.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
  k_deepest = 24, /* bodies on top of each other, on one thread */
  k_most_live = 16384, /* tasks that have not ended, beyond which a creator is held back */
  k_most_failed = 64 /* tasks that one wait names */
};

typedef struct Task Task;
typedef struct Group Group;
typedef struct Place Place; /* names.c */

typedef struct Waiter {
  sem_t woken;
  struct Waiter *next;
} Waiter;

typedef struct TaskList {
  Task *first, *last;
} TaskList;

typedef struct Callback {
  PyObject *function;
  struct Callback *next;
} Callback;

/* Counts the tasks that one wait waits for. */
typedef struct Pool {
  long open; /* tasks that are not complete */
  TaskList ready; /* those of them that nothing holds, in the order in which they became ready */
  Waiter *waiter; /* null: no thread waits */
  Callback *at_end; /* called once, when no task is open */
  Task *failed, *last_failed; /* whose exceptions no wait has raised; references */
  long failed_count, failed_beyond; /* in that list; beyond what it may hold */
  bool cancelled;
  struct Pool *heir; /* counts this pool as one of its tasks until none is open here; null. An interrupted group has one */
  const void *reported; /* what waits for the tasks, in a report that is being made */
} Pool;

/* What spawns: a body or a thread. One thread at a time uses it. */
typedef struct Scope {
  Pool own;
  order_node *order; /* of the children's regions; null before the first */
  long entered; /* children with regions since `order` was made */
  Group *group; /* the open one that began last, or null */
  Task *task; /* whose body it is; null for a thread */
  PyObject *holder; /* what the scope lives in; not a reference */
} Scope;

typedef enum task_state { k_waits, k_ready, k_running, k_over } task_state;

/* A wait of a thread, on its stack, from its beginning to its end; it has the bodies that it hosts on top. g_lock. */
typedef struct Wait {
  order_wait what;
  Pool *pool; /* whose tasks it waits for; null */
  Task *task; /* whose end it waits for; null, and with a null pool all tasks */
  Task *waiter; /* whose body waits; null: the thread */
  char *where; /* the line that waits; null before it has waited for long */
  struct Wait *outer;
} Wait;

/* A thread that has created tasks, or runs them. g_lock. */
typedef struct Thread {
  int tid;
  Task *task; /* the innermost body; a hint */
  Wait *wait; /* the innermost */
  bool sleeps; /* in that wait, or without work */
  bool has_deadline;
  bool asks_later; /* it sleeps, and will say where and ask for an examination once its patience is over */
  struct Thread *next, *previous;
} Thread;

struct Task {
  PyObject_HEAD PyObject *function, *arguments, *keywords; /* null when the body has ended */
  PyObject *result,
      *error; /* when the body has ended, one of them; neither where it was cancelled */
  PyObject *label; /* a str, set by name_task() */
  const char *name; /* the text of the label */
  Place *place; /* where the function is written; null: not known */
  PyObject *holder; /* of `pool`; null before the task is entered and when it is complete */
  Py_buffer *buffers; /* kept until the body has ended */
  int buffer_count;
  Pool *pool; /* where the task is counted */
  Scope *scope; /* of its children; null before it needs one */
  order_node *order; /* null without regions, and when they are given up */
  const void *former_order; /* when they are given up: what they were */
  Task *all_next, *all_previous; /* among all tasks that are not complete */
  Task *next, *previous; /* among all ready tasks */
  Task *pool_next, *pool_previous; /* among those of the pool */
  Task *next_failed;
  Waiter *waiters;
  Callback *callbacks, *last_callback;
  const char *waits_in; /* the line, or null; in a report that is being made */
  unsigned generation; /* of the process: fork() begins a new one */
  uint32_t number; /* in the trace; 0 for none */
  unsigned char state; /* task_state */
  bool cancelled; /* before its body began */
  bool retrieved; /* its exception was seen */
  bool is_noted; /* its creation is counted, and so is its body */
  bool has_own_label; /* that of spawn() */
  bool blocking; /* it may block outside of Weft, and takes no slot */
  bool is_entering; /* into Weft's order: it begins when that is over */
  bool is_early; /* it became ready meanwhile */
};

/* Behind k_over the outcome is there. */
static inline task_state state_of(const Task *task) {
  return (task_state)__atomic_load_n(&task->state, __ATOMIC_ACQUIRE);
}
/* Behind 0 what the tasks have done is there. */
static inline long open_tasks(const Pool *pool) {
  return __atomic_load_n(&pool->open, __ATOMIC_ACQUIRE);
}

struct Group {
  PyObject_HEAD Pool pool;
  Scope *scope; /* in which it is open; null */
  PyObject *holder; /* of `scope`, and with an heir what that lives in; a reference */
  Group *next; /* the open one of the scope that began before it */
  Group *enclosing; /* the open one in whose block it began; null */
  unsigned generation; /* of the process in which it began */
  bool cancels; /* the first failure cancels the group */
};

/* A thread as a creator. Its tasks keep it. */
typedef struct Root {
  PyObject_HEAD Scope scope;
  Thread thread;
  unsigned generation; /* of the process that has made it; a child of fork() clears the other threads */
} Root;

/* What a thread state has of the root: it ends with the thread state, where the root may outlive both. */
typedef struct Keeper {
  PyObject_HEAD Root *root; /* a reference */
} Keeper;

extern PyTypeObject *g_task_type, *g_group_type, *g_root_type, *g_keeper_type; /* module.c */

/* ---- regions.c ---- */

typedef struct RegionList {
  order_region *items;
  size_t count, room;
} RegionList;

/* Adds the bytes of a buffer. Where they are not runs in two loops, several regions, or a region with more bytes.
   Returns 0, or -1 with MemoryError. */
int add_regions(RegionList *list, const Py_buffer *buffer, order_mode mode);

/* @{ PyObject_GetBuffer() and PyBuffer_Release(), which are balanced where two threads call them for one object at once: a
   bytearray of a free-threaded Python counts its buffers without a lock. */
int take_buffer(PyObject *object, Py_buffer *buffer, int flags);
void drop_buffer(Py_buffer *buffer);
/* @} */

/* ---- names.c ---- */

/* Gives a new task the name of its function, unless spawn() has named it, and the place where that is written. A task
   that is spawned while another one of the same function is not over has these of that one. */
void name_task(Task *task);
void unname_task(Task *task);
/* @{ Returns where the function of the task is written, "FUNCTION at FILE:LINE" and "FILE:LINE"; empty where that is not
   known. Needs no GIL. */
const char *place_of(const Task *task);
const char *file_of(const Task *task);
/* @} */
/* Writes the line of the program that the caller is in, "FUNCTION at FILE:LINE"; empty where it is not known. */
void write_line_of_caller(char *text, size_t size);
/* Called when the module is imported. Returns 0, or -1 with an exception. */
int start_names(void);
/* In the child of a fork(): another thread of the parent may have had the lock. */
void forget_names_in_child(void);

/* ---- reports.c ---- */

extern Task *g_all; /* run.c: all tasks that are not complete */
extern Thread *g_threads;

/* ---- run.c ---- */

/* What reports.c reads, under g_lock. */
typedef struct Load {
  bool is_over, has_room; /* a ready task is about to begin */
} Load;
extern pthread_mutex_t g_lock;
Load current_load(void);

/* Starts Weft at the first call. Returns 0, or -1 with an exception. `start` begins a thread that calls run_forever(). */
int start_tasks(void);
void set_starter(PyObject *start);
long task_limit(void);
PyObject *run_forever(PyObject *self, PyObject *nothing);

/* Waits for all tasks of the process and ends the runners. Returns 0, or -1 with an exception. */
int finish_tasks(void);
/* In the child of a fork(), of which the caller is the only thread. */
void forget_in_child(void);
void begin_process(void);
/* Returns whether what has that generation is of this process. In the child of a fork() nothing is before
   forget_in_child(). */
bool is_of_this_process(unsigned generation);
/* Raises where a task was spawned by the parent process. Returns 0, or -1 with the exception. */
int check_process(const Task *task);

/* ---- bodies.c ---- */

/* Lets a pool with open tasks be one of the heir's tasks, until they have ended. Returns whether it has any. */
bool inherit(Pool *pool, Pool *heir);
Task *parent_of(const Task *task);
/* Returns the open group in whose block the caller is, by its context; null for none. */
Group *current_group(const Scope *scope);

/* Returns the scope of the body or the thread that calls; null with MemoryError. */
Scope *current_scope(void);
Task *current_task(void);
/* Has the thread whose thread state ends forget its root: one that C has made gets a new state for each call of Python. */
void leave_root(Root *root);
/* Ends what a scope without open children keeps; a failure that was never raised is reported. In the child of a fork()
   nothing is ended or reported that is the parent's. */
void destroy_scope(Scope *scope, unsigned generation);

/* Gives a new task its place behind its siblings; apart: it belongs to no body, thread or group, so that no wait but that
   at the end of the program waits for it. Returns 0, or -1 with an exception; then there is no task, or it begins although
   a handler of a signal has raised. */
int enter_task(Task *task, const RegionList *regions, bool apart);

/* Returns whether the body has not begun and never will. */
bool cancel_task(Task *task);
void cancel_pool(Pool *pool);
/* Adds a call for the end of the body. Returns 1; 0 where it has ended, and -1 with an exception: then nothing was added. */
int add_callback(Task *task, Callback *callback);
/* Has a function without arguments called once, when no task of the pool is open, on the thread that has ended the last.
   Returns false if none is open: then nothing calls it. */
bool call_at_end(Pool *pool, Callback *callback);

/* ---- waits.c ---- */

/* Waits for the tasks of a pool, of children or of a group, and runs the ready ones meanwhile. Returns 0, or -1 with an
   exception. */
int wait_for_pool(Pool *pool, order_wait what);
/* Waits for the end of a body; `seconds` < 0: without limit. Returns 1 when it has ended, 0 when the time is over, -1
   with an exception. */
int wait_for_task(Task *task, double seconds);
/* Waits as taskwait() does, without raising what tasks have raised. */
int wait_for_children(Scope *scope);
/* Raises the first exception of the tasks that no wait has raised, with notes of the others; or adds all to `beside`.
   Returns 0 where there is none, or they were added; -1 with the exception. */
int raise_failures(Pool *pool, PyObject *beside);

/* Begins a time in which the caller may block outside of Weft, and ends it with the number that begin_blocking() has
   returned. It returns 0 with an exception. The end in another body, or on another thread, does nothing: the body that
   has begun the time has its slot again when it ends. */
unsigned long long begin_blocking(void);
void end_blocking(unsigned long long turn);
