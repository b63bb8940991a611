/* SPDX-License-Identifier: Apache-2.0
   Recursions of weft_spawn() with WEFT_TASK_MAY_INLINE and a cost, which wait, lock, spin and send
   events, end wherever they end with tasks that are always deferred. The settings of the test force
   each task that may to run in place. */
#include <weft.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { k_depth = 5, k_leaves = 1 << k_depth };
typedef int (*leaf)(int i);

static int g_in_place; /* WEFT_TASK_MAY_INLINE, or 0: each task is deferred */
static atomic_int g_count;

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "in_place: %s, %d workers, flags %d, counted %d; last error: %s\n", what,
            weft_worker_count(), g_in_place, (int)g_count, weft_last_error_message());
    exit(1);
  }
}

/* Spawns a task that may run in place. */
static void small(weft_body body, const void *arg, size_t bytes, const weft_access *list,
                  size_t count, weft_group *group) {
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  options.flags = (unsigned)g_in_place;
  options.cost = 1;
  options.label = "small";
  options.group = group;
  require(weft_spawn(body, arg, bytes, list, count, &options, NULL) == 0, "spawn");
}
/* Spawns a task that may not. */
static void other(weft_body body, const void *arg, size_t bytes, const weft_access *list,
                  size_t count) {
  require(weft_spawn(body, arg, bytes, list, count, NULL, NULL) == 0, "spawn");
}
static void taskwait(void) { require(weft_taskwait(NULL) == 0, "taskwait"); }

struct part {
  int depth, first;
  leaf run;
};
static int recur(void *arg) {
  const struct part all = *(const struct part *)arg;
  if (all.depth == 0)
    return all.run(all.first);
  struct part low = {all.depth - 1, all.first, all.run};
  struct part high = {all.depth - 1, all.first + (1 << (all.depth - 1)), all.run};
  small(&recur, &low, sizeof low, NULL, 0, NULL);
  small(&recur, &high, sizeof high, NULL, 0, NULL);
  return weft_taskwait(NULL);
}

/* ---- Leaves */

static int count_up(void *arg) {
  (void)arg;
  ++g_count;
  return 0;
}

static weft_mutex *g_mutex;
static pthread_mutex_t g_plain = PTHREAD_MUTEX_INITIALIZER;
static int g_under_mutex, g_under_plain;
static int hold(void *arg) {
  (void)arg;
  require(weft_mutex_lock(g_mutex) == 0, "lock");
  require(weft_taskyield() == 0, "yield");
  ++g_under_mutex;
  require(weft_mutex_unlock(g_mutex) == 0, "unlock");
  pthread_mutex_lock(&g_plain);
  ++g_under_plain;
  pthread_mutex_unlock(&g_plain);
  return 0;
}
static int locks(int i) {
  (void)i;
  small(&hold, NULL, 0, NULL, 0, NULL);
  hold(NULL);
  taskwait();
  return count_up(NULL);
}

struct pair {
  int before, after;
};
static int before(void *arg) {
  require(weft_taskyield() == 0, "yield");
  ++((struct pair *)arg)->before;
  return 0;
}
static int after(void *arg) {
  struct pair *const both = arg;
  both->after = both->before;
  return 0;
}
static int waits(int i) {
  (void)i;
  struct pair both = {0, 0};
  weft_group *group = NULL;
  int code = 0;
  const weft_access writes = weft_access_make(&both, WEFT_INOUT);
  other(&before, &both, 0, &writes, 1);
  small(&after, &both, 0, &writes, 1, NULL);
  require(weft_group_create(0, &group) == 0, "group");
  small(&count_up, NULL, 0, NULL, 0, group);
  require(weft_group_wait(group, &code) == 0 && code == 0, "group");
  require(weft_group_destroy(group) == 0, "group");
  taskwait();
  require(both.after == 1, "a task comes after the one before that writes");
  return 0;
}

static int set(void *arg) {
  atomic_store((atomic_int *)arg, 1);
  return 0;
}
static int spin(void *arg) {
  while (!atomic_load((atomic_int *)arg))
    sched_yield();
  return 0;
}
/* One leaf alone spins: a spare that has such a task, too, gets no spare of its own. */
static int spins(int i) {
  if (i == 0) {
    atomic_int flag = 0;
    other(&set, &flag, 0, NULL, 0);
    small(&spin, &flag, 0, NULL, 0, NULL);
    taskwait();
  }
  return count_up(NULL);
}

static int decrease(void *arg) { return weft_task_decrease_events(*(weft_task **)arg, 1); }
static int with_event(void *arg) {
  weft_task *self = NULL;
  require(weft_task_increase_events(1) == 0 && weft_task_self(&self) == 0, "an event");
  other(&decrease, &self, sizeof self, NULL, 0);
  ++((struct pair *)arg)->before;
  return 0;
}
static void *unblock(void *arg) {
  require(weft_task_unblock(arg) == 0, "unblock");
  return NULL;
}
static int blocks(void *arg) {
  (void)arg;
  weft_task *self = NULL;
  pthread_t thread;
  require(weft_task_self(&self) == 0, "self");
  require(pthread_create(&thread, NULL, &unblock, self) == 0, "a thread");
  require(weft_task_block() == 0, "block");
  pthread_join(thread, NULL);
  return 0;
}
static int events(int i) {
  struct pair both = {0, 0};
  const weft_access writes = weft_access_make(&both, WEFT_INOUT);
  other(&with_event, &both, 0, &writes, 1);
  small(&after, &both, 0, &writes, 1, NULL);
  if (i % 8 == 0)
    small(&blocks, NULL, 0, NULL, 0, NULL);
  taskwait();
  require(both.after == 1, "a task comes after the event of the one before");
  return count_up(NULL);
}

static void run(const char *what, leaf body) {
  const struct part all = {k_depth, 0, body};
  for (int from_a_task = 0; from_a_task < 2; ++from_a_task)
    for (int may = 0; may < 2; ++may) {
      g_in_place = may ? WEFT_TASK_MAY_INLINE : 0;
      g_count = g_under_mutex = g_under_plain = 0;
      if (from_a_task) {
        other(&recur, &all, sizeof all, NULL, 0);
        taskwait();
      } else {
        struct part mine = all;
        require(recur(&mine) == 0, what);
      }
      require(g_count == k_leaves, what);
      require(body != &locks || (g_under_mutex == 2 * k_leaves && g_under_plain == 2 * k_leaves),
              "who holds a mutex holds it alone");
    }
}

/* A task that runs in place has ended when the call returns. */
static void is_forced(void) {
  g_in_place = WEFT_TASK_MAY_INLINE;
  g_count = 0;
  small(&count_up, NULL, 0, NULL, 0, NULL);
  require(g_count == 1, "a task that may run in place does so");
  taskwait();
}

int main(void) {
  require(weft_start() == 0 && weft_mutex_create(&g_mutex) == 0, "the start");
  is_forced();
  run("locks", &locks);
  run("waits", &waits);
  run("spins", &spins);
  run("events", &events);
  require(weft_mutex_destroy(g_mutex) == 0 && weft_shutdown() == 0, "the end");
  puts("in_place: ok");
  return 0;
}
