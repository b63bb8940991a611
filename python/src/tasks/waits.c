/* SPDX-License-Identifier: Apache-2.0
   What waits do, and which exceptions they raise. */
#define _GNU_SOURCE
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { k_fruitless_rounds = 100, k_spawns_unheld = 1024 };
#define K_SLICE 0.05 /* seconds between two looks at signals */
#define K_FOREVER 1e9 /* seconds */

/* When the creator is held back again. */
static __thread struct {
  long unheld; /* spawns until then */
  long next; /* spawns behind the next fruitless time: twice as many where nothing has ended since the last */
  unsigned long seen; /* of g_ended */
} t_held = {0, k_spawns_unheld, 0};

/* ---- slots ---- */

/* Lets other threads have the caller's slot while it waits. Under g_lock; note_sleep() follows behind it. */
static Saved leave_slot(void) {
  const Saved saved = {t_local.has_slot, t_local.is_runner && !t_local.is_blocked, false, 0, g_generation};
  g_active -= saved.slot;
  g_blocked += saved.counted;
  t_local.has_slot = false;
  t_local.is_blocked |= saved.counted;
  wake_runner();
  return saved;
}

/* In the child of a fork() that a handler has called no thread has a slot. */
static void take_slot_again(Saved saved) {
  if (saved.generation != g_generation)
    return;
  g_active += saved.slot;
  g_blocked -= saved.counted;
  if (saved.slot) /* else a handler of a signal may have come back meanwhile */
    t_local.has_slot = true;
  if (saved.counted)
    t_local.is_blocked = false;
}

/* Notes that the caller waits, and gives its log back. Not under g_lock: Weft's threads take that, and a log takes a
   lock under which Weft stops its threads. */
static void note_sleep(Saved *saved, order_wait what) {
  saved->logged = t_local.log != NULL;
  saved->asleep = order_sleep(t_local.log, what);
  give_back_log();
}

static void note_wake(Saved saved) {
  if (saved.generation != g_generation)
    return;
  if (saved.logged)
    t_local.log = order_borrow_log();
  if (t_local.log || !saved.logged)
    order_wake(t_local.log, saved.asleep);
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
  wait->waiter = t_local.task;
  wait->where = NULL;
  if (!t_local.thread)
    return;
  wait->outer = t_local.thread->wait;
  t_local.thread->wait = wait;
}

/* Under g_lock. */
static void end_wait(Wait *wait) {
  free(wait->where);
  if (t_local.thread && t_local.thread->wait == wait) /* else in the child of a fork() */
    t_local.thread->wait = wait->outer;
}

static void note_where_it_waits(void) {
  char text[512] = "";
  write_line_of_caller(text, sizeof text);
  char *const copy = *text ? strdup(text) : NULL;
  pthread_mutex_lock(&g_lock);
  Wait *const wait = t_local.thread ? t_local.thread->wait : NULL;
  const bool keeps = wait && !wait->where;
  if (keeps)
    wait->where = copy;
  if (t_local.thread)
    t_local.thread->asks_later = false;
  pthread_mutex_unlock(&g_lock);
  if (!keeps)
    free(copy);
}

static void show_sleep(bool sleeps, bool has_deadline, bool asks_later) {
  if (!t_local.thread)
    return;
  t_local.thread->sleeps = sleeps;
  t_local.thread->has_deadline = has_deadline;
  t_local.thread->asks_later = asks_later;
}

/* Python runs handlers of signals on this thread alone; it is the one that goes on behind fork(), too. */
static bool is_main_thread(void) { return gettid() == getpid(); }

static double shorter(double slice, const struct timespec *end) {
  const double left = seconds_until(end);
  return left < slice ? left : slice;
}

/* Says whether a sleep of so many seconds asks for an examination of hangs when the patience is over. */
static bool asks_for_examination(double seconds) { return seconds < 0 && g_patience > 0; }

/* Sleeps until the semaphore is posted. Returns 1 then, and in the child of a fork() that a handler has called, where
   what it sleeps for is to be looked at anew; 0 when the time is over, -1 with an exception of a signal. */
static int sleep_until(sem_t *woken, double seconds, unsigned generation) {
  struct timespec end, patient;
  if (seconds >= 0)
    deadline_in(&end, seconds);
  bool asks = asks_for_examination(seconds);
  if (asks)
    deadline_in(&patient, g_patience);
  const double longest = is_main_thread() ? K_SLICE : K_FOREVER;
  while (generation == g_generation) {
    double slice = longest;
    if (seconds >= 0)
      slice = shorter(slice, &end);
    if (asks)
      slice = shorter(slice, &patient);
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
  return 1;
}

/* Sleeps with the slot given up. Under g_lock, which it leaves. */
static int sleep_and_unlock(Waiter *waiter, double seconds, order_wait what) {
  Saved saved = leave_slot();
  show_sleep(true, seconds >= 0, asks_for_examination(seconds));
  const bool starts = claim_runner(true);
  pthread_mutex_unlock(&g_lock);
  note_sleep(&saved, what);
  const int slept = starts && start_runner() < 0 ? -1 : sleep_until(&waiter->woken, seconds, saved.generation);
  pthread_mutex_lock(&g_lock);
  show_sleep(false, false, false);
  take_slot_again(saved);
  pthread_mutex_unlock(&g_lock);
  note_wake(saved);
  return slept;
}

static PyObject *g_loops; /* the name of the module that knows which loop runs */
static PyObject *g_get_loop; /* its function; null before a wait has found that the program has imported it */

int start_waits(void) {
  g_loops = PyUnicode_InternFromString("asyncio.events");
  return g_loops ? 0 : -1;
}

/* Returns what tells the loop of a thread; null while the program has not imported asyncio. */
static PyObject *find_get_loop(void) {
  PyObject *const known = __atomic_load_n(&g_get_loop, __ATOMIC_ACQUIRE);
  PyObject *const module = known ? NULL : PyDict_GetItemWithError(PyImport_GetModuleDict(), g_loops);
  if (!module)
    return known;
  PyObject *const found = PyObject_GetAttrString(module, "_get_running_loop");
  if (!found)
    PyErr_Clear(); /* it is being imported */
  __atomic_store_n(&g_get_loop, found, __ATOMIC_RELEASE);
  return found;
}

/* Returns whether no loop of asyncio runs on this thread: where one does, a body on top could run none of its own. */
static bool is_free_of_loops(void) {
  PyObject *const get = find_get_loop();
  PyObject *const loop = get ? PyObject_CallNoArgs(get) : NULL;
  if (get && !loop)
    PyErr_Clear(); /* no memory */
  Py_XDECREF(loop);
  return !get || loop == Py_None;
}

/* Returns whether the caller may run a task while it waits, and whether that takes a slot. Under g_lock. */
static bool may_host(const Task *t, bool *takes) {
  *takes = !t->blocking && !t_local.has_slot && !t_local.is_blocked && g_active < g_limit;
  return t_local.depth < k_deepest &&
         (t->blocking || t_local.has_slot || t_local.is_blocked || *takes);
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
  t_local.has_slot |= takes;
  const bool more = claim_runner(t->blocking), leaves = t->blocking;
  pthread_mutex_unlock(&g_lock);
  if (leaves)
    note_sleep(&left, ORDER_OUTSIDE);
  const bool begins = !more || start_helpful_runner() == 0;
  const bool runs = begins && generation == g_generation;
  Py_INCREF((PyObject *)t);
  if (runs)
    run_body(t);
  pthread_mutex_lock(&g_lock);
  const bool returns = generation == g_generation; /* else in the child of a fork() that the body, or a handler, has called */
  if (returns && !runs) {
    push_ready(t);
    wake_runner();
  }
  if (leaves)
    take_slot_again(left);
  if (returns && takes) {
    --g_active;
    t_local.has_slot = false;
    wake_runner();
  }
  pthread_mutex_unlock(&g_lock);
  if (leaves)
    note_wake(left);
  int interrupted = begins ? PyErr_CheckSignals() : -1;
  if (interrupted == 0 && t->error &&
      PyErr_GivenExceptionMatches(t->error, PyExc_KeyboardInterrupt)) {
    t->retrieved = true;
    PyErr_SetObject((PyObject *)Py_TYPE(t->error), t->error);
    interrupted = -1;
  }
  Py_DECREF(t);
  return interrupted;
}

static int run_or_sleep(Pool *pool, order_wait what, bool hosts) {
  for (;;) {
    pthread_mutex_lock(&g_lock);
    if (pool->open == 0) {
      pthread_mutex_unlock(&g_lock);
      return 0;
    }
    Task *const t = pool->ready.first;
    bool takes = false;
    if (hosts && t && may_host(t, &takes)) {
      if (host_and_unlock(t, takes) < 0)
        return -1;
      continue;
    }
    Waiter waiter;
    sem_init(&waiter.woken, 0, 0);
    Waiter *const outer = pool->waiter; /* below a handler of a signal, in which this wait is */
    pool->waiter = &waiter;
    const int slept = sleep_and_unlock(&waiter, -1, what);
    pthread_mutex_lock(&g_lock);
    pool->waiter = outer;
    if (outer && pool->open == 0)
      sem_post(&outer->woken);
    pthread_mutex_unlock(&g_lock);
    sem_destroy(&waiter.woken);
    if (slept < 0)
      return -1;
  }
}

int wait_for_pool(Pool *pool, order_wait what) {
  const uint64_t since = order_wait_begins();
  const bool borrows =
      !t_local.log && open_tasks(pool) > 0; /* once for all bodies that it hosts; a hint */
  if (borrows)
    t_local.log = order_borrow_log();
  int waited = 0;
  if (open_tasks(pool) > 0) {
    const bool hosts = is_free_of_loops();
    Wait wait = {.what = what, .pool = pool};
    pthread_mutex_lock(&g_lock);
    begin_wait(&wait);
    pthread_mutex_unlock(&g_lock);
    waited = run_or_sleep(pool, what, hosts);
    pthread_mutex_lock(&g_lock);
    end_wait(&wait);
    pthread_mutex_unlock(&g_lock);
  }
  if (waited == 0)
    order_wait_is_over(t_local.log, since, what == ORDER_GROUP ? pool : NULL);
  if (!t_local.log && __atomic_load_n(&g_unlogged, __ATOMIC_RELAXED) >
                          0) { /* bodies before the end of the wait: a slot may be free by now */
    order_log *const log = order_borrow_log();
    count_unlogged(log);
    if (log)
      order_give_back_log(log);
  }
  count_unlogged(t_local.log);
  keep_log(borrows);
  return waited;
}

int wait_for_children(Scope *scope) {
  for (Group *group = scope->group; group; group = group->next)
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

static int wait_once_for_task(Task *t, double seconds, bool hosts) {
  if (t == t_local.task) {
    PyErr_SetString(PyExc_RuntimeError, "a task waits for its own result; it would wait for ever");
    return -1;
  }
  bool takes = false;
  if (hosts && t->state == k_ready && may_host(t, &takes)) {
    const int hosted = host_and_unlock(t, takes);
    pthread_mutex_lock(&g_lock);
    return hosted < 0 ? -1 : 1;
  }
  Waiter waiter = {.next = t->waiters};
  sem_init(&waiter.woken, 0, 0);
  t->waiters = &waiter;
  const int slept = sleep_and_unlock(&waiter, seconds, ORDER_END_OF_TASK);
  pthread_mutex_lock(&g_lock);
  const bool returns = t->generation == g_generation; /* else the others of the list have gone with the parent's threads */
  for (Waiter **link = &t->waiters; returns && *link; link = &(*link)->next)
    if (*link == &waiter) {
      *link = waiter.next;
      break;
    }
  sem_destroy(&waiter.woken);
  return slept;
}

int wait_for_task(Task *t, double seconds) {
  if (state_of(t) == k_over)
    return 1;
  if (check_process(t) < 0)
    return -1;
  if (!t_local.task && !current_scope()) /* reports know the thread by it */
    return -1;
  const bool hosts = seconds < 0 && is_free_of_loops();
  int slept = 1;
  Wait wait = {.what = ORDER_END_OF_TASK, .task = t};
  pthread_mutex_lock(&g_lock);
  begin_wait(&wait);
  while (t->state != k_over && slept == 1 && t->generation == g_generation)
    slept = wait_once_for_task(t, seconds, hosts);
  const bool over = t->state == k_over;
  end_wait(&wait);
  pthread_mutex_unlock(&g_lock);
  if (slept == 1 && !over)
    return check_process(t);
  return slept < 0 ? -1 : over;
}

static Away *current_away(void) { return t_local.body ? &t_local.body->away : &t_local.away; }

unsigned long long begin_blocking(void) {
  static unsigned long long turns; /* atomic */
  Away *const away = current_away();
  if (!away->turn)
    away->turn = __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED);
  if (++away->count > 1)
    return away->turn;
  const unsigned long long turn = away->turn;
  pthread_mutex_lock(&g_lock);
  away->left = leave_slot();
  const bool starts = claim_runner(true);
  pthread_mutex_unlock(&g_lock);
  note_sleep(&away->left, ORDER_OUTSIDE);
  if (!starts || start_helpful_runner() == 0) /* without one this thread's tasks wait for the end of the time */
    return turn;
  end_blocking(turn);
  return 0;
}

void end_blocking(unsigned long long turn) {
  Away *const away = current_away();
  if (away->turn != turn || away->count == 0)
    return;
  if (away->count == 1)
    end_away(away);
  else
    --away->count;
}

void end_away(Away *away) {
  if (away->count == 0)
    return;
  away->count = 0;
  pthread_mutex_lock(&g_lock);
  take_slot_again(away->left);
  pthread_mutex_unlock(&g_lock);
  note_wake(away->left);
}

int hold_creator_back(void) {
  if (t_held.unheld > 0) {
    --t_held.unheld;
    return 0;
  }
  pthread_mutex_lock(&g_lock);
  Saved saved = leave_slot();
  const bool starts = claim_runner(true);
  pthread_mutex_unlock(&g_lock);
  note_sleep(&saved, ORDER_OUTSIDE);
  int failed = starts ? start_runner() : 0;
  for (int fruitless = 0;
       failed == 0 && __atomic_load_n(&g_live, __ATOMIC_RELAXED) > k_most_live / 2;) {
    const struct timespec pause = {0, 1000000};
    Py_BEGIN_ALLOW_THREADS;
    nanosleep(&pause, NULL);
    Py_END_ALLOW_THREADS;
    failed = PyErr_CheckSignals();
    const unsigned long ended = __atomic_load_n(&g_ended, __ATOMIC_RELAXED);
    ++fruitless;
    if (ended != t_held.seen) {
      t_held.seen = ended;
      t_held.next = k_spawns_unheld;
      fruitless = 0;
    }
    if (fruitless >= k_fruitless_rounds) {
      t_held.unheld = t_held.next;
      t_held.next *= 2;
      break;
    }
  }
  pthread_mutex_lock(&g_lock);
  take_slot_again(saved);
  pthread_mutex_unlock(&g_lock);
  note_wake(saved);
  return failed;
}

int wait_for_all(Scope *scope) {
  if (wait_for_children(scope) < 0 ||
      wait_for_pool(&g_apart->scope.own, ORDER_CHILDREN) < 0) /* hosts what has found no thread */
    return -1;
  int slept = 0;
  sem_t never;
  sem_init(&never, 0, 0);
  Wait wait = {.what = ORDER_OUTSIDE};
  pthread_mutex_lock(&g_lock);
  begin_wait(&wait);
  show_sleep(true, false, false);
  pthread_mutex_unlock(&g_lock);
  while (__atomic_load_n(&g_live, __ATOMIC_RELAXED) > 0 && slept >= 0)
    slept = sleep_until(&never, 0.005, g_generation); /* 1: in the child that a handler has forked */
  pthread_mutex_lock(&g_lock);
  show_sleep(false, false, false);
  end_wait(&wait);
  pthread_mutex_unlock(&g_lock);
  sem_destroy(&never);
  return slept < 0 ? -1 : 0;
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

void report_failures(Pool *pool) {
  if (raise_failures(pool, NULL) == 0)
    return;
  PyObject *const what = PyUnicode_FromString("a task that nothing has waited for");
  PyErr_WriteUnraisable(what);
  Py_XDECREF(what);
}
