/* SPDX-License-Identifier: Apache-2.0
   A task from its spawn to its end: scopes, its body, cancelling, callbacks. */
#include "run.h"

#include <stdlib.h>
#include <unistd.h>

enum { k_tasks_in_a_row = 128, k_most_root_entries = 1024 };

/* ---- what counters and traces know ---- */

static order_body body_of(Task *t) {
  return (order_body){t, Py_TYPE(t->holder) == g_group_type ? t->pool : NULL, t->number};
}

/* ---- scopes ---- */

Root *g_apart;

Task *current_task(void) { return t_local.task; }

/* Makes the scope of a thread that spawns for the first time. */
static Scope *scope_of_thread(void) {
  PyObject *const values = PyThreadState_GetDict();
  Root *const root = PyObject_New(Root, g_root_type);
  if (!root)
    return NULL;
  root->scope = (Scope){.holder = (PyObject *)root};
  root->thread = (Thread){0};
  root->generation = g_generation;
  Keeper *const keeper = PyObject_New(Keeper, g_keeper_type);
  if (!keeper) {
    Py_DECREF(root);
    return NULL;
  }
  keeper->root = root;
  PyObject *const key = PyUnicode_InternFromString("weftrt");
  const bool kept = values && key && PyObject_SetItem(values, key, (PyObject *)keeper) == 0;
  Py_XDECREF(key);
  Py_DECREF(keeper); /* the thread state has it */
  if (!kept)
    return NULL;
  t_local.root = root;
  if (!t_local.thread) {
    t_local.thread = &root->thread;
    pthread_mutex_lock(&g_lock);
    enter_thread(t_local.thread);
    pthread_mutex_unlock(&g_lock);
  }
  return &root->scope;
}

Scope *current_scope(void) {
  Local *const my = local();
  if (!my->task)
    return my->root ? &my->root->scope : scope_of_thread();
  if (!my->task->scope) {
    my->task->scope = calloc(1, sizeof *my->task->scope);
    if (!my->task->scope) {
      PyErr_NoMemory();
      return NULL;
    }
    my->task->scope->task = my->task;
    my->task->scope->holder = (PyObject *)my->task;
  }
  return my->task->scope;
}

int start_bodies(void) {
  g_apart = PyObject_New(Root, g_root_type);
  if (!g_apart)
    return -1;
  g_apart->scope = (Scope){.holder = (PyObject *)g_apart};
  g_apart->thread = (Thread){0};
  g_apart->generation = g_generation;
  return 0;
}

void leave_root(Root *root) {
  if (t_local.thread == &root->thread)
    t_local.thread = NULL;
  if (t_local.root == root) /* else the end of the program, or fork(), clears the state of another thread */
    t_local.root = NULL;
  if (root->thread.tid == 0 || !is_of_this_process(root->generation))
    return;
  pthread_mutex_lock(&g_lock);
  leave_thread(&root->thread);
  root->thread.tid = 0;
  pthread_mutex_unlock(&g_lock);
}

void destroy_scope(Scope *scope, unsigned generation) {
  order_node *const order = scope->task ? NULL : scope->order;
  scope->order = NULL;
  const Pool *const own = &scope->own;
  if ((!order && !own->failed && own->failed_beyond == 0) || !is_of_this_process(generation))
    return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (order)
    order_end(order);
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

/* Counts one task out of a pool. `calls` gets what is to be called when none is open. */
static void count_out(Pool *pool, Callback **calls) {
  __atomic_store_n(&pool->open, pool->open - 1, __ATOMIC_RELEASE);
  if (pool->open > 0)
    return;
  if (pool->waiter)
    sem_post(&pool->waiter->woken);
  while (pool->at_end) {
    Callback *const call = pool->at_end;
    pool->at_end = call->next;
    call->next = *calls;
    *calls = call;
  }
}

/* Counts a task whose body has ended, and below which nothing is left, out of its pool, and so upwards. `complete` gets
   the tasks, `dropped` failed ones to give back, `calls` what waits in a coroutine for the end of a pool. */
static void complete_upwards(Task *t, Task **complete, Task **dropped, Callback **calls) {
  for (;;) {
    t->next = *complete;
    *complete = t;
    leave_all(t);
    Pool *pool = t->pool;
    PyObject *holder = t->holder;
    if (t->scope)
      move_failures(&t->scope->own, pool, dropped);
    count_out(pool, calls);
    for (Pool *heir; pool->open == 0 && (heir = pool->heir); pool = heir) {
      pool->heir = NULL;
      holder = ((Group *)holder)->holder;
      move_failures(pool, heir, dropped);
      count_out(heir, calls);
    }
    if (pool->open > 0 || Py_TYPE(holder) != g_task_type)
      return;
    t = (Task *)holder;
    if (t->state != k_over || t->generation != g_generation) /* of the parent process: adopt() had no memory */
      return;
  }
}

bool inherit(Pool *pool, Pool *heir) {
  pthread_mutex_lock(&g_lock);
  const bool inherits = pool->open > 0;
  if (inherits) {
    pool->heir = heir;
    ++heir->open;
  }
  pthread_mutex_unlock(&g_lock);
  return inherits;
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
    drop_buffer(&t->buffers[i]);
  PyMem_Free(t->buffers);
  t->buffers = NULL;
  t->buffer_count = 0;
  Py_CLEAR(t->function);
  Py_CLEAR(t->arguments);
  Py_CLEAR(t->keywords);
}

/* Chooses where a task is counted: among the children of a scope, or in the open group of the caller's context. */
static void choose_pool(Task *t, Scope *scope) {
  Group *const group = current_group(scope);
  t->generation = g_generation;
  t->holder = group ? (PyObject *)group : scope->holder;
  t->pool = group ? &group->pool : &scope->own;
  Py_INCREF(t->holder);
}

/* In the child of a fork(), where a body ends that the parent has begun: makes it one that the body below it, or the
   thread, has spawned in this process. So what it leaves behind, tasks, failures and an order, is waited for there.
   Returns false where there is no memory. */
static bool adopt(Task *t) {
  Scope *const scope = current_scope();
  if (!scope) {
    PyErr_Clear();
    return false;
  }
  PyObject *const former = t->holder;
  choose_pool(t, scope);
  t->waiters = NULL; /* threads of the parent */
  pthread_mutex_lock(&g_lock);
  ++t->pool->open;
  enter_in_all(t);
  pthread_mutex_unlock(&g_lock);
  Py_DECREF(former);
  return true;
}

/* Calls each of a list, with the task if there is one. */
static void call_all(Callback *first, Task *t) {
  while (first) {
    Callback *const next = first->next;
    PyObject *const ended = PyObject_CallFunctionObjArgs(first->function, (PyObject *)t, NULL);
    if (!ended)
      PyErr_WriteUnraisable(first->function);
    Py_XDECREF(ended);
    Py_DECREF(first->function);
    PyMem_Free(first);
    first = next;
  }
}

/* Ends a task with a result, an exception, or neither, and takes the references. */
static void end_body(Task *t, PyObject *result, PyObject *error) {
  const bool is_own = t->generation == g_generation;
  const bool is_counted = is_own || adopt(t);
  drop_inputs(t);
  order_node *order = t->order;
  if (!order && t->scope)
    order = t->scope->order;
  t->former_order = t->order;
  __atomic_store_n(&t->order, NULL, __ATOMIC_RELAXED); /* reports.c reads it while order_end() is held up */
  if (t->scope)
    t->scope->order = NULL;
  if (order)
    order_end(order);
  t->result = result;
  t->error = error;
  Task *complete = NULL, *dropped = NULL;
  pthread_mutex_lock(&g_lock);
  __atomic_store_n(&t->state, k_over, __ATOMIC_RELEASE);
  ++g_ended;
  Callback *const callbacks = t->callbacks;
  Callback *at_end = NULL;
  t->callbacks = t->last_callback = NULL;
  if (is_counted) {
    for (Waiter *w = t->waiters; w;) {
      Waiter *const next = w->next;
      sem_post(&w->woken);
      w = next;
    }
    t->waiters = NULL;
    if (error) {
      Py_INCREF((PyObject *)t);
      add_failed(t->pool, t, &dropped);
      if (is_own && Py_TYPE(t->holder) == g_group_type && ((Group *)t->holder)->cancels)
        t->pool->cancelled = true;
    }
    if (!has_open_children(t))
      complete_upwards(t, &complete, &dropped, &at_end);
  }
  pthread_mutex_unlock(&g_lock);
  call_all(callbacks, t);
  call_all(at_end, NULL);
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

void keep_log(bool borrowed) {
  if (borrowed && !(local()->is_runner && local()->depth == 0))
    give_back_log();
}

/* Says in reports whose body this thread runs. */
static void show_task(Thread *thread, Task *t) {
  if (thread)
    __atomic_store_n(&thread->task, t, __ATOMIC_RELAXED); /* a hint */
}

void count_unlogged(order_log *log) {
  if (!log || __atomic_load_n(&g_unlogged, __ATOMIC_RELAXED) == 0)
    return;
  order_count_unlogged(log, __atomic_exchange_n(&g_unlogged, 0, __ATOMIC_RELAXED));
}

static void count_without_log(void) { __atomic_fetch_add(&g_unlogged, 1, __ATOMIC_RELAXED); }

void run_body(Task *t) {
  Local *const my = local();
  const bool borrows = !my->log, is_noted = t->is_noted;
  if (borrows)
    my->log = order_borrow_log();
  if (t->cancelled || t->pool->cancelled) {
    t->cancelled = true;
    const order_body body = body_of(t);
    if (my->log && is_noted)
      order_skip_body(my->log, &body);
    if (is_noted && !my->log)
      count_without_log();
    end_body(t, NULL, NULL);
    keep_log(borrows);
    return;
  }
  Task *const outer = my->task;
  const Scope *const host = outer ? outer->scope : my->root ? &my->root->scope : NULL;
  PyObject *const group = host && host->group ? keep_group() : NULL;
  Body here = {.task = t, .outer = my->body};
  Py_INCREF((PyObject *)t);
  my->task = t;
  my->body = &here;
  show_task(my->thread, t);
  ++my->depth;
  order_running running; /* of a body that has begun in a slot */
  const order_body body = body_of(t);
  const bool began = my->log && is_noted;
  if (began)
    order_begin_body(my->log, &body, &running);
  PyObject *result = PyObject_Call(t->function, t->arguments, t->keywords);
  if (result && (PyObject *)Py_TYPE(result) == g_coroutine_type)
    result = refuse_coroutine(result);
  end_away(&here.away);
  if (began && my->log)
    order_end_body(my->log, &running);
  else if (is_noted)
    count_without_log();
  count_unlogged(my->log);
  --my->depth;
  my->task = outer;
  my->body = here.outer;
  show_task(my->thread, outer);
  PyObject *const error = result ? NULL : take_exception();
  if (group)
    return_to_group(group);
  end_body(t, result, error);
  Py_DECREF(t);
  keep_log(borrows);
  if (++my->in_a_row % k_tasks_in_a_row ==
      0) { /* bodies in C never look whether another thread wants the GIL */
    Py_BEGIN_ALLOW_THREADS;
    Py_END_ALLOW_THREADS;
  }
}

/* ---- spawning ---- */

static void task_is_ready(void *p) {
  Task *const t = p;
  pthread_mutex_lock(&g_lock);
  t->is_early = t->is_entering;
  if (!t->is_entering) {
    push_ready(t);
    wake_runner();
  }
  pthread_mutex_unlock(&g_lock);
}

/* Gives the scope a node for its children's regions. */
static int prepare_order(Scope *scope) {
  if (!scope->task && scope->order && open_tasks(&scope->own) == 0 && !scope->group &&
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

int enter_task(Task *t, const RegionList *regions, bool apart) {
  Scope *const scope = apart ? &g_apart->scope : current_scope();
  if (!scope || start_tasks() < 0)
    return -1;
  /* First: it runs handlers of signals, which may wait, and so end the order. */
  if (__atomic_load_n(&g_live, __ATOMIC_RELAXED) > k_most_live && hold_creator_back() < 0)
    return -1;
  if (regions->count && prepare_order(scope) < 0)
    return -1;
  choose_pool(t, scope);
  Py_INCREF((PyObject *)t); /* until it is complete */
  order_log *const log = t_local.log ? t_local.log : order_own_log();
  order_body body = body_of(t);
  t->is_noted = log != NULL;
  count_unlogged(log);
  if (log && !regions->count)
    order_note_creation(log, &body);
  t->number = body.number;
  t->is_entering = regions->count > 0;
  pthread_mutex_lock(&g_lock);
  ++t->pool->open;
  enter_in_all(t);
  int entered = 1;
  if (regions->count) {
    pthread_mutex_unlock(&g_lock);
    char why[512];
    entered = order_enter(scope->order, regions->items, regions->count, &task_is_ready, log, &body,
                          &t->order, why, sizeof why);
    t->number = body.number;
    pthread_mutex_lock(&g_lock);
    t->is_entering = false;
    if (entered < 0) { /* without a GIL others of the pool may have ended meanwhile, and this was the last */
      Task *complete = NULL, *dropped = NULL;
      Callback *at_end = NULL;
      complete_upwards(t, &complete, &dropped, &at_end);
      pthread_mutex_unlock(&g_lock);
      t->order = NULL;
      call_all(at_end, NULL);
      give_back(dropped, true);
      give_back(complete, false);
      PyErr_Format(PyExc_ValueError, "spawn(): %s", why);
      return -1;
    }
  }
  if (entered || t->is_early) {
    push_ready(t);
    wake_runner();
  }
  const bool starts = claim_runner(false);
  pthread_mutex_unlock(&g_lock);
  return starts ? start_helpful_runner() : 0; /* without one a wait runs it */
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

bool call_at_end(Pool *pool, Callback *callback) {
  pthread_mutex_lock(&g_lock);
  const bool early = pool->open > 0;
  if (early) {
    callback->next = pool->at_end;
    pool->at_end = callback;
  }
  pthread_mutex_unlock(&g_lock);
  return early;
}

int add_callback(Task *t, Callback *callback) {
  if (state_of(t) != k_over && check_process(t) < 0)
    return -1;
  pthread_mutex_lock(&g_lock);
  const bool early = t->state != k_over;
  if (early) {
    *(t->last_callback ? &t->last_callback->next : &t->callbacks) = callback;
    t->last_callback = callback;
  }
  pthread_mutex_unlock(&g_lock);
  return early;
}
