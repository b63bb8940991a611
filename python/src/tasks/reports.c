/* SPDX-License-Identifier: Apache-2.0
   The tasks of Python for reports of hangs, `weft dump` and `weft why`. The watcher's thread calls it: it has no thread
   state, takes g_lock by a try only, and calls nothing of Python's. */
#include "state.h"

enum { k_most_explained = 64 }; /* ready tasks whose lack of a place is explained */

static const void *id_of(const Thread *thread, const Wait *wait) {
  return wait->waiter ? (const void *)wait->waiter : thread;
}

static const char *reason_of(order_wait what) {
  return what == ORDER_GROUP ? "waits in its group for" : "waits for its child";
}

/* Lists a wait for one task, or marks the pool whose tasks it is for. */
static void list_wait(order_report *to, const void *waiter, Wait *wait) {
  if (wait->task)
    order_report_wait(to, waiter, wait->task, "waits for the end of", true);
  else if (wait->pool)
    wait->pool->reported = waiter;
  else
    for (const Task *t = g_all; t; t = t->all_next)
      order_report_wait(to, waiter, t, "waits at the end of the program for", true);
}

/* Returns whether the thread sleeps, has said where, and what it sleeps for has not happened. One that is still to say
   where asks for another examination then. */
static bool is_held(const Thread *thread) {
  const Wait *const wait = thread->wait;
  if (!thread->sleeps || thread->has_deadline || thread->asks_later)
    return false;
  return !wait || (wait->pool ? wait->pool->open > 0 : wait->task ? wait->task->state != k_over : g_all != NULL);
}

static void list_thread(order_report *to, Thread *thread) {
  const Task *const runs = __atomic_load_n(&thread->task, __ATOMIC_RELAXED);
  order_report_thread(to, thread->tid, runs ? (const void *)runs : thread, thread->sleeps);
  if (thread->sleeps && !is_held(thread))
    order_report_goes_on(to);
  for (Wait *wait = thread->wait; wait; wait = wait->outer) {
    list_wait(to, id_of(thread, wait), wait);
    if (wait->waiter)
      wait->waiter->waits_in = wait->where;
    else
      order_report_creator(to, thread, thread->tid, wait->where ? wait->where : "");
  }
  if (!thread->wait && !runs && !thread->sleeps)
    order_report_creator(to, thread, thread->tid, "");
}

/* Returns where the body of a task is: the line in which it waits, or its function. */
static const char *where_is(const Task *t) {
  if (t->state != k_running)
    return "";
  return t->waits_in ? t->waits_in : place_of(t);
}

/* Says that a ready task has no place because of the bodies that run. */
static void list_lack_of_place(order_report *to, const Task *t) {
  for (const Thread *thread = g_threads; thread; thread = thread->next)
    if (!thread->sleeps && thread->task)
      order_report_wait(to, t, thread->task, "is ready, and waits for the place of", false);
}

/* Lists the wait for the tasks of the pool in which the task is counted, or of one that has inherited that. */
static void list_wait_for(order_report *to, const Task *t) {
  const Pool *pool = t->pool;
  PyObject *holder = t->holder;
  for (; !pool->reported && pool->heir; pool = pool->heir)
    holder = ((Group *)holder)->holder;
  if (pool->reported)
    order_report_wait(to, pool->reported, t, reason_of(Py_TYPE(holder) == g_group_type ? ORDER_GROUP : ORDER_CHILDREN), true);
}

static void list_task(order_report *to, const Task *t, bool has_room, int *explained) {
  static const char *const states[] = {"waits for its data", "is ready", "runs", ""};
  const order_node *const order = __atomic_load_n(&t->order, __ATOMIC_RELAXED);
  order_report_task(to, t, order, order ? NULL : t->former_order, t->name, states[t->state], file_of(t),
                    where_is(t));
  list_wait_for(to, t);
  const Task *const parent = parent_of(t);
  if (parent && parent->state == k_over)
    order_report_wait(to, parent, t, reason_of(ORDER_CHILDREN), true);
  if (t->state == k_ready && !has_room && ++*explained <= k_most_explained)
    list_lack_of_place(to, t);
}

/* Takes away what the report before has marked. */
static void clear_marks(void) {
  for (Task *t = g_all; t; t = t->all_next) {
    for (Pool *pool = t->pool; pool; pool = pool->heir)
      pool->reported = NULL;
    t->waits_in = NULL;
  }
}

bool order_list_tasks(order_report *to) {
  if (pthread_mutex_trylock(&g_lock) != 0)
    return false;
  const Load load = current_load();
  if (!load.is_over) {
    clear_marks();
    for (Thread *thread = g_threads; thread; thread = thread->next)
      list_thread(to, thread);
    int explained = 0;
    for (const Task *t = g_all; t; t = t->all_next)
      list_task(to, t, load.has_room, &explained);
    if (load.has_room)
      order_report_goes_on(to);
  }
  pthread_mutex_unlock(&g_lock);
  return true;
}
