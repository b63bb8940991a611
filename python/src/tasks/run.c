/* SPDX-License-Identifier: Apache-2.0
   Which thread runs which body, and what waits do. */
#define _GNU_SOURCE
#include "state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  k_tasks_in_a_row = 128,
  k_most_root_entries = 1024,
  k_fruitless_rounds = 100,
  k_spawns_unheld = 1024
};
#define K_SLICE 0.05 /* seconds between two looks at signals */

/* What g_lock guards. */
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
Task *g_all;
Thread *g_threads;
static TaskList g_ready; /* tasks that take a slot */
static TaskList g_ready_blocking; /* tasks that take none */
static sem_t g_work; /* for idle runners */
static long g_limit; /* of slots; 0 before the first task */
static long g_active; /* slots that are taken */
static long g_runners, g_idle;
static long g_blocked; /* runners that wait, or run a body that may block */
static long g_live; /* tasks that are not complete */
static unsigned long g_ended;
static bool g_is_over;

static unsigned g_generation; /* changes with the GIL */
static uint64_t g_unlogged; /* bodies that have ended without a slot and are not counted; with the GIL */
static PyObject *g_start;
static PyObject *g_coroutine_type;
static double g_patience; /* seconds of sleep before the watcher is asked; 0: never */

static __thread Task *t_task; /* whose body is the innermost here */
static __thread Root *t_root;
static __thread Thread *t_thread; /* null on one that has neither created tasks nor runs them */
static __thread order_log *t_log; /* where bodies of this thread are counted; null: there is none here */
static __thread int t_depth; /* bodies on top of each other */
static __thread bool t_is_runner, t_has_slot, t_is_blocked;
static __thread long t_in_a_row; /* bodies since the GIL was offered */
static __thread long t_unheld; /* spawns before the creator may be held back again */

/* ---- lists, under g_lock ---- */

static TaskList *list_of(const Task *t) { return t->blocking ? &g_ready_blocking : &g_ready; }

static void push_ready(Task *t) {
  t->state = k_ready;
  TaskList *const all = list_of(t), *const mine = &t->pool->ready;
  t->previous = all->last;
  t->next = NULL;
  *(all->last ? &all->last->next : &all->first) = t;
  all->last = t;
  t->pool_previous = mine->last;
  t->pool_next = NULL;
  *(mine->last ? &mine->last->pool_next : &mine->first) = t;
  mine->last = t;
}

static void enter_in_all(Task *t) {
  t->all_previous = NULL;
  t->all_next = g_all;
  if (g_all)
    g_all->all_previous = t;
  g_all = t;
  ++g_live;
}

static void leave_all(Task *t) {
  *(t->all_previous ? &t->all_previous->all_next : &g_all) = t->all_next;
  if (t->all_next)
    t->all_next->all_previous = t->all_previous;
  t->all_next = t->all_previous = NULL;
  --g_live;
}

static void enter_thread(Thread *thread) {
  thread->tid = (int)syscall(SYS_gettid);
  thread->previous = NULL;
  thread->next = g_threads;
  if (g_threads)
    g_threads->previous = thread;
  g_threads = thread;
}

static void leave_thread(Thread *thread) {
  *(thread->previous ? &thread->previous->next : &g_threads) = thread->next;
  if (thread->next)
    thread->next->previous = thread->previous;
}

static void take_ready(Task *t) {
  TaskList *const all = list_of(t), *const mine = &t->pool->ready;
  *(t->previous ? &t->previous->next : &all->first) = t->next;
  *(t->next ? &t->next->previous : &all->last) = t->previous;
  *(t->pool_previous ? &t->pool_previous->pool_next : &mine->first) = t->pool_next;
  *(t->pool_next ? &t->pool_next->pool_previous : &mine->last) = t->pool_previous;
  t->next = t->previous = t->pool_next = t->pool_previous = NULL;
  t->state = k_running;
}

/* Wakes an idle runner if it would find a task. */
static void wake_runner(void) {
  if (g_idle > 0 && (g_ready_blocking.first || (g_ready.first && g_active < g_limit))) {
    --g_idle;
    sem_post(&g_work);
  }
}

static bool needs_runner(bool waits) {
  const long awake = g_runners - g_blocked;
  if (g_idle > 0)
    return false;
  return (waits && awake <= 0) || g_ready_blocking.first || (g_ready.first && awake < g_limit);
}

static void give_back_log(void) {
  if (t_log)
    order_give_back_log(t_log);
  t_log = NULL;
}

typedef struct Saved {
  bool slot, counted, logged;
  uint32_t asleep; /* for order_wake() */
} Saved;

/* Lets other threads have the caller's slot while it waits. Under g_lock; note_sleep() follows behind it. */
static Saved leave_slot(void) {
  const Saved saved = {t_has_slot, t_is_runner && !t_is_blocked, false, 0};
  g_active -= saved.slot;
  g_blocked += saved.counted;
  t_has_slot = false;
  t_is_blocked |= saved.counted;
  wake_runner();
  return saved;
}

static void take_slot_again(Saved saved) {
  g_active += saved.slot;
  g_blocked -= saved.counted;
  t_has_slot = saved.slot;
  if (saved.counted)
    t_is_blocked = false;
}

/* Notes that the caller waits, and gives its log back. Not under g_lock: Weft's threads take that, and a log takes a
   lock under which Weft stops its threads. */
static void note_sleep(Saved *saved, order_wait what) {
  saved->logged = t_log != NULL;
  saved->asleep = order_sleep(t_log, what);
  give_back_log();
}

static void note_wake(Saved saved) {
  if (saved.logged)
    t_log = order_borrow_log();
  if (t_log || !saved.logged)
    order_wake(t_log, saved.asleep);
}

/* ---- runners ---- */

void set_starter(PyObject *start) {
  Py_INCREF(start);
  Py_XDECREF(g_start);
  g_start = start;
}

long task_limit(void) { return g_limit; }

int start_tasks(void) {
  if (g_limit > 0)
    return 0;
  char why[512];
  const int workers = order_workers(why, sizeof why);
  if (workers < 0) {
    PyErr_SetString(PyExc_RuntimeError, why);
    return -1;
  }
  PyObject *const types = PyImport_ImportModule("types");
  g_coroutine_type = types ? PyObject_GetAttrString(types, "CoroutineType") : NULL;
  Py_XDECREF(types);
  if (!g_coroutine_type)
    return -1;
  if (!order_announce_reports()) {
    PyErr_NoMemory();
    return -1;
  }
  g_patience = order_patience();
  sem_init(&g_work, 0, 0);
  g_limit = workers;
  return 0;
}

/* Begins a runner. Returns 0, or -1 with an exception. */
static int start_runner(void) {
  pthread_mutex_lock(&g_lock);
  ++g_runners; /* so that no other creator starts it as well */
  pthread_mutex_unlock(&g_lock);
  PyObject *const started = PyObject_CallNoArgs(g_start);
  if (started) {
    Py_DECREF(started);
    return 0;
  }
  pthread_mutex_lock(&g_lock);
  --g_runners;
  pthread_mutex_unlock(&g_lock);
  return -1;
}

static void run_body(Task *t);

/* Takes a task for a runner, with what it needs; null: there is none that may run. */
static Task *take_for_runner(void) {
  Task *const t = g_ready_blocking.first ? g_ready_blocking.first
                  : g_active < g_limit   ? g_ready.first
                                         : NULL;
  if (!t)
    return NULL;
  take_ready(t);
  if (t->blocking) {
    ++g_blocked;
    t_is_blocked = true;
  } else {
    ++g_active;
    t_has_slot = true;
  }
  return t;
}

static void end_turn(void) {
  pthread_mutex_lock(&g_lock);
  g_active -= t_has_slot;
  g_blocked -= t_is_blocked;
  t_has_slot = t_is_blocked = false;
  pthread_mutex_unlock(&g_lock);
}

PyObject *run_forever(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(nothing)) {
  const unsigned generation = g_generation;
  t_is_runner = true;
  t_thread = calloc(1, sizeof *t_thread); /* not on the stack: the end of the program may take that away */
  if (t_thread) {
    pthread_mutex_lock(&g_lock);
    enter_thread(t_thread);
    pthread_mutex_unlock(&g_lock);
  }
  for (;;) {
    pthread_mutex_lock(&g_lock);
    if (t_thread)
      t_thread->sleeps = false;
    Task *const t = take_for_runner();
    if (t) {
      const bool more = needs_runner(false);
      pthread_mutex_unlock(&g_lock);
      if (more && start_runner() < 0)
        PyErr_Clear(); /* those that there are go on */
      run_body(t);
      if (generation != g_generation) /* the child of a fork() that the body has called */
        break;
      end_turn();
      continue;
    }
    if (g_is_over || g_idle >= g_limit) {
      --g_runners;
      if (t_thread)
        leave_thread(t_thread);
      pthread_mutex_unlock(&g_lock);
      free(t_thread);
      break;
    }
    ++g_idle;
    if (t_thread)
      t_thread->sleeps = true;
    pthread_mutex_unlock(&g_lock);
    give_back_log();
    Py_BEGIN_ALLOW_THREADS;
    order_begin_rest();
    while (sem_wait(&g_work) != 0 && errno == EINTR) {
    }
    order_end_rest();
    Py_END_ALLOW_THREADS;
  }
  t_thread = NULL;
  give_back_log();
  Py_RETURN_NONE;
}

/* ---- what counters and traces know ---- */

static order_body body_of(Task *t) {
  return (order_body){t, Py_TYPE(t->holder) == g_group_type ? t->pool : NULL, t->number};
}

/* ---- scopes ---- */

Task *current_task(void) { return t_task; }

static Scope *scope_of_thread(void) {
  if (t_root)
    return &t_root->scope;
  PyObject *const values = PyThreadState_GetDict();
  Root *const root = PyObject_New(Root, g_root_type);
  if (!root)
    return NULL;
  root->scope = (Scope){.holder = (PyObject *)root};
  root->thread = (Thread){0};
  root->process = getpid();
  PyObject *const key = PyUnicode_InternFromString("weftrt");
  if (!values || !key || PyObject_SetItem(values, key, (PyObject *)root) < 0) {
    Py_XDECREF(key);
    Py_DECREF(root);
    return NULL;
  }
  Py_DECREF(key);
  Py_DECREF(root); /* the thread state keeps it */
  t_root = root;
  if (!t_thread) {
    t_thread = &root->thread;
    pthread_mutex_lock(&g_lock);
    enter_thread(t_thread);
    pthread_mutex_unlock(&g_lock);
  }
  return &root->scope;
}

Scope *current_scope(void) {
  if (!t_task)
    return scope_of_thread();
  if (!t_task->scope) {
    t_task->scope = calloc(1, sizeof *t_task->scope);
    if (!t_task->scope) {
      PyErr_NoMemory();
      return NULL;
    }
    t_task->scope->task = t_task;
    t_task->scope->holder = (PyObject *)t_task;
  }
  return t_task->scope;
}

static void report_failures(Pool *pool) {
  if (raise_failures(pool, NULL) == 0)
    return;
  PyObject *const what = PyUnicode_FromString("a task that nothing has waited for");
  PyErr_WriteUnraisable(what);
  Py_XDECREF(what);
}

void destroy_scope(Scope *scope, bool is_of_this_process) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (t_root && scope == &t_root->scope) {
    if (t_thread == &t_root->thread)
      t_thread = NULL;
    t_root = NULL;
  }
  if (Py_TYPE(scope->holder) == g_root_type && is_of_this_process && ((Root *)scope->holder)->thread.tid) {
    pthread_mutex_lock(&g_lock);
    leave_thread(&((Root *)scope->holder)->thread);
    pthread_mutex_unlock(&g_lock);
  }
  if (scope->order && !scope->task && is_of_this_process)
    order_end(scope->order);
  scope->order = NULL;
  report_failures(&scope->own); /* no thread is left that could wait */
  PyErr_Restore(type, value, traceback);
}

/* ---- the end of a task ---- */

/* Makes room for one more failed task by dropping those whose exceptions were seen. Returns whether there is any.
   `dropped` gets tasks to give back. */
static bool has_room(Pool *pool, Task **dropped) {
  if (pool->failed_count < k_most_failed)
    return true;
  Task **link = &pool->failed;
  pool->last_failed = NULL;
  while (*link) {
    Task *const other = *link;
    if (other->retrieved) {
      *link = other->next_failed;
      other->next_failed = *dropped;
      *dropped = other;
      --pool->failed_count;
    } else {
      pool->last_failed = other;
      link = &other->next_failed;
    }
  }
  return pool->failed_count < k_most_failed;
}

/* Keeps a task whose exception a later wait of the pool raises, and takes the reference. */
static void add_failed(Pool *pool, Task *t, Task **dropped) {
  if (t->retrieved || !has_room(pool, dropped)) {
    pool->failed_beyond += !t->retrieved;
    t->next_failed = *dropped;
    *dropped = t;
    return;
  }
  t->next_failed = NULL;
  *(pool->last_failed ? &pool->last_failed->next_failed : &pool->failed) = t;
  pool->last_failed = t;
  ++pool->failed_count;
}

/* Hands the failures that no wait of `from` has raised to `to`. */
static void move_failures(Pool *from, Pool *to, Task **dropped) {
  for (Task *t = from->failed; t;) {
    Task *const next = t->next_failed;
    add_failed(to, t, dropped);
    t = next;
  }
  to->failed_beyond += from->failed_beyond;
  from->failed = from->last_failed = NULL;
  from->failed_count = from->failed_beyond = 0;
}

Task *parent_of(const Task *t) {
  if (!t->holder || Py_TYPE(t->holder) != g_task_type)
    return NULL;
  return (Task *)t->holder;
}

static bool has_open_children(const Task *t) { return t->scope && t->scope->own.open > 0; }

/* Counts a task whose body has ended, and below which nothing is left, out of its pool, and so upwards. `complete` gets
   the tasks, `dropped` failed ones to give back. */
static void complete_upwards(Task *t, Task **complete, Task **dropped) {
  for (;;) {
    t->next = *complete;
    *complete = t;
    leave_all(t);
    Pool *const pool = t->pool;
    if (t->scope)
      move_failures(&t->scope->own, pool, dropped);
    if (--pool->open == 0 && pool->waiter)
      sem_post(&pool->waiter->woken);
    Task *const parent = parent_of(t);
    if (!parent || pool->open > 0 || parent->state != k_over)
      return;
    t = parent;
  }
}

static void give_back(Task *first, bool failed) {
  while (first) {
    Task *const t = first;
    first = failed ? t->next_failed : t->next;
    if (failed) {
      t->next_failed = NULL;
    } else {
      t->next = NULL;
      Py_CLEAR(t->holder);
    }
    Py_DECREF(t);
  }
}

static void drop_inputs(Task *t) {
  for (int i = 0; i != t->buffer_count; ++i)
    PyBuffer_Release(&t->buffers[i]);
  PyMem_Free(t->buffers);
  t->buffers = NULL;
  t->buffer_count = 0;
  Py_CLEAR(t->function);
  Py_CLEAR(t->arguments);
  Py_CLEAR(t->keywords);
}

/* Ends a task with a result, an exception, or neither, and takes the references. */
static void end_body(Task *t, PyObject *result, PyObject *error) {
  const bool is_of_parent_process = t->generation != g_generation;
  drop_inputs(t);
  order_node *order = t->order;
  if (!order && t->scope)
    order = t->scope->order;
  t->former_order = t->order;
  __atomic_store_n(&t->order, NULL, __ATOMIC_RELAXED); /* reports.c reads it while order_end() is held up */
  if (t->scope)
    t->scope->order = NULL;
  if (order && !is_of_parent_process)
    order_end(order);
  t->result = result;
  t->error = error;
  Task *complete = NULL, *dropped = NULL;
  pthread_mutex_lock(&g_lock);
  t->state = k_over;
  ++g_ended;
  Callback *callbacks = t->callbacks;
  t->callbacks = NULL;
  if (!is_of_parent_process) {
    for (Waiter *w = t->waiters; w;) {
      Waiter *const next = w->next;
      sem_post(&w->woken);
      w = next;
    }
    t->waiters = NULL;
    if (error) {
      Py_INCREF((PyObject *)t);
      add_failed(t->pool, t, &dropped);
      if (Py_TYPE(t->holder) == g_group_type && ((Group *)t->holder)->cancels)
        t->pool->cancelled = true;
    }
    if (!has_open_children(t))
      complete_upwards(t, &complete, &dropped);
  }
  pthread_mutex_unlock(&g_lock);
  while (callbacks) {
    Callback *const next = callbacks->next;
    PyObject *const ended = PyObject_CallFunctionObjArgs(callbacks->function, (PyObject *)t, NULL);
    if (!ended)
      PyErr_WriteUnraisable(callbacks->function);
    Py_XDECREF(ended);
    Py_DECREF(callbacks->function);
    PyMem_Free(callbacks);
    callbacks = next;
  }
  give_back(dropped, true);
  give_back(complete, false);
}

/* Returns the exception that is set, with its traceback, and clears it. */
static PyObject *take_exception(void) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback)
    PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value;
}

/* Refuses the result of an `async def` function, which has run nothing. */
static PyObject *refuse_coroutine(PyObject *coroutine) {
  PyObject *const closed = PyObject_CallMethod(coroutine, "close", NULL);
  Py_XDECREF(closed);
  Py_DECREF(coroutine);
  PyErr_SetString(
      PyExc_TypeError,
      "spawn() runs plain functions: an `async def` function belongs to asyncio, where it can await tasks");
  return NULL;
}

/* Gives the log back that a host has borrowed for one body; a runner keeps it until it is idle. */
static void keep_log(bool borrowed) {
  if (borrowed && !(t_is_runner && t_depth == 0))
    give_back_log();
}

/* Says in reports whose body this thread runs. */
static void show_task(Task *t) {
  if (t_thread)
    __atomic_store_n(&t_thread->task, t, __ATOMIC_RELAXED); /* a hint */
}

/* Counts what had no slot where there is one now. */
static void count_unlogged(order_log *log) {
  if (!log || g_unlogged == 0)
    return;
  order_count_unlogged(log, g_unlogged);
  g_unlogged = 0;
}

/* Runs a task that was taken from its lists. */
static void run_body(Task *t) {
  const bool borrows = !t_log, is_noted = t->is_noted;
  if (borrows)
    t_log = order_borrow_log();
  if (t->cancelled || t->pool->cancelled) {
    t->cancelled = true;
    const order_body body = body_of(t);
    if (t_log && is_noted)
      order_skip_body(t_log, &body);
    g_unlogged += is_noted && !t_log;
    end_body(t, NULL, NULL);
    keep_log(borrows);
    return;
  }
  Task *const outer = t_task;
  Py_INCREF((PyObject *)t);
  t_task = t;
  show_task(t);
  ++t_depth;
  order_running running = {{0}};
  const order_body body = body_of(t);
  const bool began = t_log && is_noted;
  if (began)
    order_begin_body(t_log, &body, &running);
  PyObject *result = PyObject_Call(t->function, t->arguments, t->keywords);
  if (result && (PyObject *)Py_TYPE(result) == g_coroutine_type)
    result = refuse_coroutine(result);
  if (began && t_log)
    order_end_body(t_log, &running);
  else
    g_unlogged += is_noted;
  count_unlogged(t_log);
  --t_depth;
  t_task = outer;
  show_task(outer);
  end_body(t, result, result ? NULL : take_exception());
  Py_DECREF(t);
  keep_log(borrows);
  if (++t_in_a_row % k_tasks_in_a_row ==
      0) { /* bodies in C never look whether another thread wants the GIL */
    Py_BEGIN_ALLOW_THREADS;
    Py_END_ALLOW_THREADS;
  }
}

/* ---- waits ---- */

static void deadline_in(struct timespec *at, double seconds) {
  clock_gettime(CLOCK_MONOTONIC, at);
  const time_t whole = (time_t)seconds;
  at->tv_sec += whole;
  at->tv_nsec += (long)((seconds - (double)whole) * 1e9);
  if (at->tv_nsec >= 1000000000) {
    at->tv_nsec -= 1000000000;
    ++at->tv_sec;
  }
}

static double seconds_until(const struct timespec *at) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(at->tv_sec - now.tv_sec) + (double)(at->tv_nsec - now.tv_nsec) * 1e-9;
}

/* ---- what reports know of waits ---- */

/* Begins a wait in reports. Under g_lock. */
static void begin_wait(Wait *wait) {
  wait->waiter = t_task;
  wait->where = NULL;
  if (!t_thread)
    return;
  wait->outer = t_thread->wait;
  t_thread->wait = wait;
}

/* Under g_lock. */
static void end_wait(Wait *wait) {
  free(wait->where);
  if (t_thread && t_thread->wait == wait) /* else in the child of a fork() */
    t_thread->wait = wait->outer;
}

static void note_where_it_waits(void) {
  char text[512] = "";
  write_line_of_caller(text, sizeof text);
  char *const copy = *text ? strdup(text) : NULL;
  pthread_mutex_lock(&g_lock);
  Wait *const wait = t_thread ? t_thread->wait : NULL;
  const bool keeps = wait && !wait->where;
  if (keeps)
    wait->where = copy;
  pthread_mutex_unlock(&g_lock);
  if (!keeps)
    free(copy);
}

static void show_sleep(bool sleeps, bool has_deadline) {
  if (!t_thread)
    return;
  t_thread->sleeps = sleeps;
  t_thread->has_deadline = has_deadline;
}

/* Sleeps until the semaphore is posted. Returns 1 then, 0 when the time is over, -1 with an exception of a signal. */
static int sleep_until(sem_t *woken, double seconds) {
  struct timespec end, patient;
  if (seconds >= 0)
    deadline_in(&end, seconds);
  bool asks = seconds < 0 && g_patience > 0;
  if (asks)
    deadline_in(&patient, g_patience);
  for (;;) {
    double slice = K_SLICE;
    if (seconds >= 0) {
      const double left = seconds_until(&end);
      slice = left < slice ? left : slice;
    }
    struct timespec at;
    deadline_in(&at, slice > 0 ? slice : 0);
    int failed;
    Py_BEGIN_ALLOW_THREADS;
    order_begin_rest();
    failed = sem_clockwait(woken, CLOCK_MONOTONIC, &at);
    order_end_rest();
    Py_END_ALLOW_THREADS;
    if (!failed)
      return 1;
    if (PyErr_CheckSignals() < 0)
      return -1;
    if (seconds >= 0 && seconds_until(&end) <= 0)
      return 0;
    if (asks && seconds_until(&patient) <= 0) {
      asks = false;
      note_where_it_waits();
      order_ask_for_examination();
    }
  }
}

/* Sleeps with the slot given up. Under g_lock, which it leaves. */
static int sleep_and_unlock(Waiter *waiter, double seconds, order_wait what) {
  Saved saved = leave_slot();
  show_sleep(true, seconds >= 0);
  const bool starts = needs_runner(true);
  pthread_mutex_unlock(&g_lock);
  note_sleep(&saved, what);
  const int slept = starts && start_runner() < 0 ? -1 : sleep_until(&waiter->woken, seconds);
  pthread_mutex_lock(&g_lock);
  show_sleep(false, false);
  take_slot_again(saved);
  pthread_mutex_unlock(&g_lock);
  note_wake(saved);
  return slept;
}

/* Returns whether the caller may run a task while it waits, and whether that takes a slot. Under g_lock. */
static bool may_host(const Task *t, bool *takes) {
  *takes = !t->blocking && !t_has_slot && !t_is_blocked && g_active < g_limit;
  return t_depth < k_deepest && (t->blocking || t_has_slot || t_is_blocked || *takes);
}

/* Runs a ready task on top of the caller, and gives the slot back; one that may block outside of Weft has none, nor has
   the caller meanwhile. Under g_lock, which it leaves. Returns -1 with KeyboardInterrupt where that ended the body: it
   was meant for the program. */
static int host_and_unlock(Task *t, bool takes) {
  const unsigned generation = g_generation;
  Saved left = {0};
  take_ready(t);
  if (t->blocking)
    left = leave_slot();
  g_active += takes;
  t_has_slot |= takes;
  const bool more = needs_runner(t->blocking), leaves = t->blocking;
  pthread_mutex_unlock(&g_lock);
  if (leaves)
    note_sleep(&left, ORDER_OUTSIDE);
  if (more && start_runner() < 0)
    PyErr_Clear();
  Py_INCREF((PyObject *)t);
  run_body(t);
  pthread_mutex_lock(&g_lock);
  const bool returns = generation == g_generation; /* else in the child of a fork() that the body has called */
  if (returns) {
    if (leaves)
      take_slot_again(left);
    if (takes) {
      --g_active;
      t_has_slot = false;
      wake_runner();
    }
  }
  pthread_mutex_unlock(&g_lock);
  if (returns && leaves)
    note_wake(left);
  int interrupted = PyErr_CheckSignals();
  if (interrupted == 0 && t->error &&
      PyErr_GivenExceptionMatches(t->error, PyExc_KeyboardInterrupt)) {
    t->retrieved = true;
    PyErr_SetObject((PyObject *)Py_TYPE(t->error), t->error);
    interrupted = -1;
  }
  Py_DECREF(t);
  return interrupted;
}

static int run_or_sleep(Pool *pool, order_wait what) {
  for (;;) {
    pthread_mutex_lock(&g_lock);
    if (pool->open == 0) {
      pthread_mutex_unlock(&g_lock);
      return 0;
    }
    Task *const t = pool->ready.first;
    bool takes = false;
    if (t && may_host(t, &takes)) {
      if (host_and_unlock(t, takes) < 0)
        return -1;
      continue;
    }
    Waiter waiter;
    sem_init(&waiter.woken, 0, 0);
    pool->waiter = &waiter;
    const int slept = sleep_and_unlock(&waiter, -1, what);
    pthread_mutex_lock(&g_lock);
    pool->waiter = NULL;
    pthread_mutex_unlock(&g_lock);
    sem_destroy(&waiter.woken);
    if (slept < 0)
      return -1;
  }
}

int wait_for_pool(Pool *pool, order_wait what) {
  const uint64_t since = order_wait_begins();
  const bool borrows = !t_log && pool->open > 0; /* once for all bodies that it hosts; open is a hint */
  if (borrows)
    t_log = order_borrow_log();
  int waited = 0;
  if (pool->open > 0) {
    Wait wait = {.what = what, .pool = pool};
    pthread_mutex_lock(&g_lock);
    begin_wait(&wait);
    pthread_mutex_unlock(&g_lock);
    waited = run_or_sleep(pool, what);
    pthread_mutex_lock(&g_lock);
    end_wait(&wait);
    pthread_mutex_unlock(&g_lock);
  }
  if (waited == 0)
    order_wait_is_over(t_log, since, what == ORDER_GROUP ? pool : NULL);
  if (g_unlogged > 0 && !t_log) { /* bodies before the end of the wait: a slot may be free by now */
    order_log *const log = order_borrow_log();
    count_unlogged(log);
    if (log)
      order_give_back_log(log);
  }
  count_unlogged(t_log);
  keep_log(borrows);
  return waited;
}

int wait_for_children(Scope *scope) {
  for (Group *group = scope->group; group; group = group->outer)
    if (wait_for_pool(&group->pool, ORDER_GROUP) < 0)
      return -1;
  if (wait_for_pool(&scope->own, ORDER_CHILDREN) < 0)
    return -1;
  if (scope->order && !scope->group && (!scope->task || scope->task->order != scope->order)) {
    order_end(scope->order); /* nothing refers to it, and it remembers all that was named */
    scope->order = NULL;
  }
  return 0;
}

static int wait_once_for_task(Task *t, double seconds) {
  if (t == t_task) {
    PyErr_SetString(PyExc_RuntimeError, "a task waits for its own result; it would wait for ever");
    return -1;
  }
  bool takes = false;
  if (seconds < 0 && t->state == k_ready && may_host(t, &takes)) {
    const int hosted = host_and_unlock(t, takes);
    pthread_mutex_lock(&g_lock);
    return hosted < 0 ? -1 : 1;
  }
  Waiter waiter = {.next = t->waiters};
  sem_init(&waiter.woken, 0, 0);
  t->waiters = &waiter;
  const int slept = sleep_and_unlock(&waiter, seconds, ORDER_END_OF_TASK);
  pthread_mutex_lock(&g_lock);
  for (Waiter **link = &t->waiters; *link; link = &(*link)->next)
    if (*link == &waiter) {
      *link = waiter.next;
      break;
    }
  sem_destroy(&waiter.woken);
  return slept;
}

int wait_for_task(Task *t, double seconds) {
  if (t->state == k_over)
    return 1;
  if (t->generation != g_generation) {
    PyErr_SetString(
        PyExc_RuntimeError,
        "the task was spawned by the parent process, before fork(), and runs there alone");
    return -1;
  }
  if (!t_task && !current_scope()) /* reports know the thread by it */
    return -1;
  int slept = 1;
  Wait wait = {.what = ORDER_END_OF_TASK, .task = t};
  pthread_mutex_lock(&g_lock);
  begin_wait(&wait);
  while (t->state != k_over && slept == 1)
    slept = wait_once_for_task(t, seconds);
  const bool over = t->state == k_over;
  end_wait(&wait);
  pthread_mutex_unlock(&g_lock);
  return slept < 0 ? -1 : over;
}

long long begin_blocking(void) {
  pthread_mutex_lock(&g_lock);
  Saved saved = leave_slot();
  const bool starts = needs_runner(true);
  pthread_mutex_unlock(&g_lock);
  note_sleep(&saved, ORDER_OUTSIDE);
  if (starts && start_runner() < 0)
    PyErr_Clear(); /* then this thread's tasks wait for the end of the time */
  return saved.slot | saved.counted << 1 | saved.logged << 2 | (long long)saved.asleep << 3;
}

void end_blocking(long long saved) {
  const Saved left = {saved & 1, saved >> 1 & 1, saved >> 2 & 1, (uint32_t)(saved >> 3)};
  pthread_mutex_lock(&g_lock);
  take_slot_again(left);
  pthread_mutex_unlock(&g_lock);
  note_wake(left);
}

/* ---- exceptions ---- */

static void add_note(PyObject *exception, PyObject *note) {
  PyObject *const added = note ? PyObject_CallMethod(exception, "add_note", "O", note) : NULL;
  if (!added)
    PyErr_Clear();
  Py_XDECREF(added);
  Py_XDECREF(note);
}

static void restore(PyObject *error) {
  PyObject *const type = (PyObject *)Py_TYPE(error);
  Py_INCREF(type);
  Py_INCREF(error);
  PyErr_Restore(type, error, PyException_GetTraceback(error));
}

int raise_failures(Pool *pool, PyObject *beside) {
  pthread_mutex_lock(&g_lock);
  Task *first = pool->failed;
  long beyond = pool->failed_beyond;
  pool->failed = pool->last_failed = NULL;
  pool->failed_count = pool->failed_beyond = 0;
  pthread_mutex_unlock(&g_lock);
  PyObject *raised = beside;
  Py_XINCREF(raised);
  while (first) {
    Task *const t = first;
    first = t->next_failed;
    t->next_failed = NULL;
    if (!t->retrieved) {
      t->retrieved = true;
      if (!raised) {
        raised = t->error;
        Py_INCREF(raised);
      } else if (raised != t->error) {
        add_note(raised, PyUnicode_FromFormat("task %R also raised: %R",
                                              t->label, t->error));
      }
    }
    Py_DECREF(t);
  }
  if (raised && beyond > 0)
    add_note(raised, PyUnicode_FromFormat("%ld more tasks have raised", beyond));
  if (raised && !beside)
    restore(raised);
  Py_XDECREF(raised);
  return raised && !beside ? -1 : 0;
}

/* ---- spawning ---- */

static void task_is_ready(void *p) {
  Task *const t = p;
  pthread_mutex_lock(&g_lock);
  push_ready(t);
  wake_runner();
  pthread_mutex_unlock(&g_lock);
}

/* Waits until fewer tasks are alive; not for ever, because they may wait for what the creator does next. */
static int hold_creator_back(void) {
  if (t_unheld > 0) {
    --t_unheld;
    return 0;
  }
  pthread_mutex_lock(&g_lock);
  Saved saved = leave_slot();
  const bool starts = needs_runner(true);
  pthread_mutex_unlock(&g_lock);
  note_sleep(&saved, ORDER_OUTSIDE);
  int failed = starts ? start_runner() : 0;
  unsigned long seen = g_ended;
  for (int fruitless = 0; failed == 0 && g_live > k_most_live / 2;) {
    const struct timespec pause = {0, 1000000};
    Py_BEGIN_ALLOW_THREADS;
    nanosleep(&pause, NULL);
    Py_END_ALLOW_THREADS;
    failed = PyErr_CheckSignals();
    fruitless = seen == g_ended ? fruitless + 1 : 0;
    seen = g_ended;
    if (fruitless >= k_fruitless_rounds) {
      t_unheld = k_spawns_unheld;
      break;
    }
  }
  pthread_mutex_lock(&g_lock);
  take_slot_again(saved);
  pthread_mutex_unlock(&g_lock);
  note_wake(saved);
  return failed;
}

/* Gives the scope a node for its children's regions. */
static int prepare_order(Scope *scope) {
  if (!scope->task && scope->order && scope->own.open == 0 && !scope->group &&
      scope->entered >= k_most_root_entries) {
    order_end(scope->order);
    scope->order = NULL;
  }
  if (!scope->order && scope->task)
    scope->order = scope->task->order;
  if (!scope->order) {
    char why[512];
    scope->order = order_make_parent(why, sizeof why);
    scope->entered = 0;
    if (!scope->order) {
      PyErr_SetString(PyExc_RuntimeError, why);
      return -1;
    }
  }
  ++scope->entered;
  return 0;
}

int enter_task(Task *t, const RegionList *regions) {
  Scope *const scope = current_scope();
  if (!scope || start_tasks() < 0)
    return -1;
  if (regions->count && prepare_order(scope) < 0)
    return -1;
  if (g_live > k_most_live && hold_creator_back() < 0)
    return -1;
  t->generation = g_generation;
  t->holder = scope->group ? (PyObject *)scope->group : scope->holder;
  t->pool = scope->group ? &scope->group->pool : &scope->own;
  Py_INCREF(t->holder);
  Py_INCREF((PyObject *)t); /* until it is complete */
  order_log *const log = t_log ? t_log : order_own_log();
  order_body body = body_of(t);
  t->is_noted = log != NULL;
  count_unlogged(log);
  if (log && !regions->count)
    order_note_creation(log, &body);
  t->number = body.number;
  pthread_mutex_lock(&g_lock);
  ++t->pool->open;
  enter_in_all(t);
  int entered = 1;
  if (regions->count) {
    pthread_mutex_unlock(&g_lock);
    char why[512];
    entered = order_enter(scope->order, regions->items, regions->count, &task_is_ready, log, &body,
                          &t->order, why, sizeof why);
    t->number = body.number; /* no body begins before: the caller has the GIL */
    pthread_mutex_lock(&g_lock);
    if (entered < 0) {
      --t->pool->open;
      leave_all(t);
      pthread_mutex_unlock(&g_lock);
      t->order = NULL;
      Py_CLEAR(t->holder);
      Py_DECREF(t);
      PyErr_Format(PyExc_ValueError, "spawn(): %s", why);
      return -1;
    }
  }
  if (entered) {
    push_ready(t);
    wake_runner();
  }
  const bool starts = needs_runner(false);
  pthread_mutex_unlock(&g_lock);
  if (starts && start_runner() < 0) {
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
      return -1;
    PyErr_Clear(); /* a wait runs it */
  }
  return 0;
}

/* ---- cancelling, callbacks ---- */

bool cancel_task(Task *t) {
  pthread_mutex_lock(&g_lock);
  const bool early = t->state == k_waits || t->state == k_ready,
             runs = t->state == k_ready && t->generation == g_generation;
  if (early)
    t->cancelled = true;
  if (runs)
    take_ready(t);
  pthread_mutex_unlock(&g_lock);
  if (runs)
    run_body(t); /* ends it */
  return early || t->cancelled;
}

void cancel_pool(Pool *pool) {
  for (;;) {
    pthread_mutex_lock(&g_lock);
    pool->cancelled = true;
    Task *const t = pool->ready.first;
    if (t)
      take_ready(t);
    pthread_mutex_unlock(&g_lock);
    if (!t)
      return;
    run_body(t);
  }
}

bool add_callback(Task *t, Callback *callback) {
  pthread_mutex_lock(&g_lock);
  const bool early = t->state != k_over;
  if (early) {
    Callback **link = &t->callbacks;
    while (*link)
      link = &(*link)->next;
    *link = callback;
  }
  pthread_mutex_unlock(&g_lock);
  return early;
}

/* ---- the process ---- */

static int wait_for_all(Scope *scope) {
  if (wait_for_children(scope) < 0)
    return -1;
  int slept = 0;
  sem_t never;
  sem_init(&never, 0, 0);
  Wait wait = {.what = ORDER_OUTSIDE};
  pthread_mutex_lock(&g_lock);
  begin_wait(&wait);
  show_sleep(true, false);
  pthread_mutex_unlock(&g_lock);
  while (g_live > 0 && slept == 0)
    slept = sleep_until(&never, 0.005);
  pthread_mutex_lock(&g_lock);
  show_sleep(false, false);
  end_wait(&wait);
  pthread_mutex_unlock(&g_lock);
  sem_destroy(&never);
  return slept;
}

static void cancel_all(void) {
  for (;;) {
    pthread_mutex_lock(&g_lock);
    Task *const t = g_ready.first ? g_ready.first : g_ready_blocking.first;
    if (t) {
      take_ready(t);
      t->cancelled = true;
    }
    pthread_mutex_unlock(&g_lock);
    if (!t)
      return;
    run_body(t);
  }
}

int finish_tasks(void) {
  if (g_limit == 0)
    return 0;
  Scope *const scope = current_scope();
  if (!scope)
    return -1;
  if (wait_for_all(scope) < 0) { /* an interrupt: the user does not want to wait */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    cancel_all();
    PyErr_Restore(type, value, traceback);
    return -1;
  }
  pthread_mutex_lock(&g_lock);
  g_is_over = true;
  for (; g_idle > 0; --g_idle)
    sem_post(&g_work);
  pthread_mutex_unlock(&g_lock);
  for (int rounds = 0; g_runners > 0 && rounds != 200; ++rounds) {
    const struct timespec pause = {0, 1000000};
    Py_BEGIN_ALLOW_THREADS;
    nanosleep(&pause, NULL);
    Py_END_ALLOW_THREADS;
  }
  report_failures(&scope->own);
  return 0;
}

Load current_load(void) {
  return (Load){g_is_over, g_ready_blocking.first || (g_ready.first && g_active < g_limit)};
}

void forget_in_child(void) {
  ++g_generation;
  pthread_mutex_init(&g_lock, NULL);
  sem_init(&g_work, 0, 0);
  g_ready = g_ready_blocking = (TaskList){NULL, NULL};
  g_active = g_runners = g_idle = g_blocked = g_live = 0;
  g_unlogged = 0;
  g_all = NULL;
  g_threads = NULL;
  t_thread = NULL;
  if (t_root) {
    t_root->process = getpid();
    t_root->thread = (Thread){0};
    enter_thread(t_thread = &t_root->thread);
  }
  g_is_over = false;
  t_has_slot = t_is_runner = t_is_blocked = false;
  t_log = NULL;
  Scope *const scope = t_task ? t_task->scope : t_root ? &t_root->scope : NULL;
  if (scope) {
    scope->own = (Pool){0};
    scope->order = NULL;
    scope->group = NULL;
  }
  if (t_root && t_task) {
    t_root->scope.own = (Pool){0};
    t_root->scope.order = NULL;
  }
}
