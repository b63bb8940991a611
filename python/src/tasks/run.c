/* SPDX-License-Identifier: Apache-2.0
   Which thread runs which body: ready tasks, runners, and the end of the process. */
#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What g_lock guards. */
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
Task *g_all;
Thread *g_threads;
static TaskList g_ready; /* tasks that take a slot */
static TaskList g_ready_blocking; /* tasks that take none */
static sem_t g_work; /* for idle runners */
long g_limit, g_active, g_blocked, g_live;
static long g_runners; /* those that run, and g_starting */
static long g_starting; /* claimed, and not begun */
static long g_idle;
unsigned long g_ended;
static bool g_is_over;

unsigned g_generation;
static pid_t g_process; /* to which that belongs */
uint64_t g_unlogged;
static PyObject *g_start;
PyObject *g_coroutine_type;
double g_patience;

__thread Local t_local;

/* ---- lists, under g_lock ---- */

static TaskList *list_of(const Task *t) { return t->blocking ? &g_ready_blocking : &g_ready; }

void push_ready(Task *t) {
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

void enter_in_all(Task *t) {
  t->all_previous = NULL;
  t->all_next = g_all;
  if (g_all)
    g_all->all_previous = t;
  g_all = t;
  ++g_live;
}

void leave_all(Task *t) {
  *(t->all_previous ? &t->all_previous->all_next : &g_all) = t->all_next;
  if (t->all_next)
    t->all_next->all_previous = t->all_previous;
  t->all_next = t->all_previous = NULL;
  --g_live;
}

void enter_thread(Thread *thread) {
  thread->tid = (int)syscall(SYS_gettid);
  thread->previous = NULL;
  thread->next = g_threads;
  if (g_threads)
    g_threads->previous = thread;
  g_threads = thread;
}

void leave_thread(Thread *thread) {
  *(thread->previous ? &thread->previous->next : &g_threads) = thread->next;
  if (thread->next)
    thread->next->previous = thread->previous;
}

void take_ready(Task *t) {
  TaskList *const all = list_of(t), *const mine = &t->pool->ready;
  *(t->previous ? &t->previous->next : &all->first) = t->next;
  *(t->next ? &t->next->previous : &all->last) = t->previous;
  *(t->pool_previous ? &t->pool_previous->pool_next : &mine->first) = t->pool_next;
  *(t->pool_next ? &t->pool_next->pool_previous : &mine->last) = t->pool_previous;
  t->next = t->previous = t->pool_next = t->pool_previous = NULL;
  t->state = k_running;
}

void wake_runner(void) {
  if (g_idle > 0 && (g_ready_blocking.first || (g_ready.first && g_active < g_limit))) {
    --g_idle;
    sem_post(&g_work);
  }
}

bool claim_runner(bool waits) {
  const long awake = g_runners - g_blocked;
  if (g_idle > 0)
    return false;
  if (!(waits && awake <= 0) && !g_ready_blocking.first && !(g_ready.first && awake < g_limit))
    return false;
  ++g_runners; /* so that no other creator starts it as well */
  ++g_starting;
  return true;
}

void give_back_log(void) {
  Local *const my = local();
  if (my->log)
    order_give_back_log(my->log);
  my->log = NULL;
}

/* ---- runners ---- */

void set_starter(PyObject *start) {
  Py_INCREF(start);
  Py_XDECREF(g_start);
  g_start = start;
}

long task_limit(void) { return g_limit; }

int start_tasks(void) {
  if (__atomic_load_n(&g_limit, __ATOMIC_ACQUIRE) > 0)
    return 0;
  char why[512];
  const int workers = order_workers(why, sizeof why);
  if (workers < 0) {
    PyErr_SetString(PyExc_RuntimeError, why);
    return -1;
  }
  PyObject *const types = PyImport_ImportModule("types");
  PyObject *const coroutine = types ? PyObject_GetAttrString(types, "CoroutineType") : NULL;
  Py_XDECREF(types);
  if (!coroutine)
    return -1;
  if (!order_announce_reports()) {
    Py_DECREF(coroutine);
    PyErr_NoMemory();
    return -1;
  }
  pthread_mutex_lock(&g_lock);
  const bool is_first = g_limit == 0; /* another thread may have started them meanwhile */
  if (is_first) {
    g_coroutine_type = coroutine;
    g_patience = order_patience();
    sem_init(&g_work, 0, 0);
    __atomic_store_n(&g_limit, workers, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&g_lock);
  if (!is_first)
    Py_DECREF(coroutine);
  return 0;
}

int start_runner(void) {
  PyObject *const started = PyObject_CallNoArgs(g_start);
  if (started) {
    Py_DECREF(started);
    return 0;
  }
  pthread_mutex_lock(&g_lock);
  if (g_starting > 0) { /* else an interrupt has come behind the beginning of the thread */
    --g_starting;
    --g_runners;
  }
  pthread_mutex_unlock(&g_lock);
  return -1;
}

int start_helpful_runner(void) {
  if (start_runner() == 0)
    return 0;
  if (!PyErr_ExceptionMatches(PyExc_RuntimeError) && !PyErr_ExceptionMatches(PyExc_MemoryError))
    return -1; /* Thread.start() has run a handler */
  PyErr_Clear(); /* no thread can be made */
  return 0;
}

/* Takes a task for a runner, with what it needs; null: there is none that may run. */
static Task *take_for_runner(Local *my) {
  Task *const t = g_ready_blocking.first ? g_ready_blocking.first
                  : g_active < g_limit   ? g_ready.first
                                         : NULL;
  if (!t)
    return NULL;
  take_ready(t);
  if (t->blocking) {
    ++g_blocked;
    my->is_blocked = true;
  } else {
    ++g_active;
    my->has_slot = true;
  }
  return t;
}

static void end_turn(Local *my) {
  pthread_mutex_lock(&g_lock);
  g_active -= my->has_slot;
  g_blocked -= my->is_blocked;
  my->has_slot = my->is_blocked = false;
  pthread_mutex_unlock(&g_lock);
}

PyObject *run_forever(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(nothing)) {
  const unsigned generation = g_generation;
  Local *const my = local();
  my->is_runner = true;
  my->thread = calloc(
      1, sizeof *my->thread); /* not on the stack: the end of the program may take that away */
  pthread_mutex_lock(&g_lock);
  if (g_starting > 0)
    --g_starting;
  else /* start_runner() was interrupted, and has taken the claim back */
    ++g_runners;
  if (my->thread)
    enter_thread(my->thread);
  pthread_mutex_unlock(&g_lock);
  for (;;) {
    pthread_mutex_lock(&g_lock);
    if (my->thread)
      my->thread->sleeps = false;
    Task *const t = take_for_runner(my);
    if (t) {
      const bool more = claim_runner(false);
      pthread_mutex_unlock(&g_lock);
      if (more && start_runner() < 0)
        PyErr_Clear(); /* those that there are go on */
      run_body(t);
      if (generation != g_generation) /* the child of a fork() that the body has called */
        break;
      end_turn(my);
      continue;
    }
    if (g_is_over || g_idle >= g_limit) {
      --g_runners;
      if (my->thread)
        leave_thread(my->thread);
      pthread_mutex_unlock(&g_lock);
      free(my->thread);
      break;
    }
    ++g_idle;
    if (my->thread)
      my->thread->sleeps = true;
    pthread_mutex_unlock(&g_lock);
    give_back_log();
    Py_BEGIN_ALLOW_THREADS;
    order_begin_rest();
    while (sem_wait(&g_work) != 0 && errno == EINTR) {
    }
    order_end_rest();
    Py_END_ALLOW_THREADS;
  }
  my->thread = NULL;
  give_back_log();
  Py_RETURN_NONE;
}

/* ---- the process ---- */

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
  for (int rounds = 0; __atomic_load_n(&g_runners, __ATOMIC_RELAXED) > 0 && rounds != 200;
       ++rounds) {
    const struct timespec pause = {0, 1000000};
    Py_BEGIN_ALLOW_THREADS;
    nanosleep(&pause, NULL);
    Py_END_ALLOW_THREADS;
  }
  report_failures(&scope->own);
  report_failures(&g_apart->scope.own);
  return 0;
}

Load current_load(void) {
  return (Load){g_is_over, g_ready_blocking.first || (g_ready.first && g_active < g_limit)};
}

void begin_process(void) { g_process = getpid(); }

bool is_of_this_process(unsigned generation) {
  return generation == g_generation && g_process == getpid();
}

int check_process(const Task *t) {
  if (t->generation == g_generation)
    return 0;
  PyErr_SetString(
      PyExc_RuntimeError,
      "the task was spawned by the parent process, before fork(), and runs there alone");
  return -1;
}

/* The tasks are the parent's. Groups stay open: the child leaves their blocks as well. */
static void forget_children(Scope *scope) {
  scope->own = (Pool){0};
  scope->order = NULL;
  for (Group *group = scope->group; group; group = group->next) {
    group->pool = (Pool){0};
    group->generation = g_generation;
  }
}

/* The bodies that the thread has begun go on in the child: without a slot, and with children of their own. */
static void forget_bodies(void) {
  t_local.away = (Away){0};
  for (Body *body = t_local.body; body; body = body->outer) {
    body->away = (Away){0};
    body->task->order = NULL;
    if (body->task->scope)
      forget_children(body->task->scope);
  }
}

void forget_in_child(void) {
  ++g_generation;
  begin_process();
  pthread_mutex_init(&g_lock, NULL);
  forget_names_in_child();
  sem_init(&g_work, 0, 0);
  g_ready = g_ready_blocking = (TaskList){NULL, NULL};
  g_active = g_runners = g_starting = g_idle = g_blocked = g_live = 0;
  g_unlogged = 0;
  g_all = NULL;
  g_threads = NULL;
  t_local.thread = NULL;
  if (t_local.root) {
    t_local.root->generation = g_generation;
    t_local.root->thread = (Thread){0};
    enter_thread(t_local.thread = &t_local.root->thread);
  }
  g_is_over = false;
  t_local.has_slot = t_local.is_runner = t_local.is_blocked = false;
  t_local.log = NULL;
  forget_bodies();
  forget_children(&g_apart->scope);
  if (t_local.root)
    forget_children(&t_local.root->scope);
}
