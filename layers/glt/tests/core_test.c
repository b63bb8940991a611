// SPDX-License-Identifier: Apache-2.0
// What each of the 55 core functions does, with any number of workers and under any policy.
#include <weft/glt.h>

#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

static void add_one(void *p) { atomic_fetch_add((atomic_int *)p, 1); }
static void do_nothing(void *p) { (void)p; }

// ---- ULTs and tasklets --------------------------------------------------------------------------

static void creates_and_joins(void) {
  atomic_int ran = 0;
  enum { count = 100 };
  GLT_ult *ults = glt_ult_malloc(count);
  GLT_tasklet *tasklets = glt_tasklet_malloc(count);
  for (int i = 0; i < count; ++i)
    CHECK(ults[i] == GLT_NULL && tasklets[i] == GLT_NULL);
  for (int i = 0; i < count; ++i) {
    glt_ult_create(add_one, &ran, &ults[i]);
    glt_tasklet_create(add_one, &ran, &tasklets[i]);
    CHECK(ults[i] != GLT_NULL && tasklets[i] != GLT_NULL);
  }
  glt_yield();
  for (int i = 0; i < count; ++i) {
    glt_ult_join(&ults[i]);
    glt_tasklet_join(&tasklets[i]);
  }
  CHECK(ran == 2 * count);
  for (int i = 0; i < count; ++i) { // the order of programs for Argobots: join, then free
    glt_ult_free(&ults[i]);
    glt_tasklet_free(&tasklets[i]);
    CHECK(ults[i] == GLT_NULL && tasklets[i] == GLT_NULL);
  }
  free(ults);
  free(tasklets);
  free(glt_ult_malloc(0));
  free(glt_tasklet_malloc(0));
}

static void frees_wait_for_the_end(void) {
  atomic_int ran = 0;
  GLT_ult ult;
  GLT_tasklet tasklet;
  glt_ult_create(add_one, &ran, &ult);
  glt_ult_free(&ult);
  CHECK(ran == 1 && ult == GLT_NULL);
  glt_tasklet_create(add_one, &ran, &tasklet);
  glt_tasklet_free(&tasklet);
  CHECK(ran == 2 && tasklet == GLT_NULL);
}

static void without_handles_they_run_as_well(void) {
  atomic_int ran = 0;
  for (int i = 0; i < 50; ++i) {
    glt_ult_create(add_one, &ran, NULL);
    glt_tasklet_create(add_one, &ran, NULL);
    glt_ult_create_to(add_one, &ran, NULL, i % glt_get_num_threads());
    glt_tasklet_create_to(add_one, &ran, NULL, i % glt_get_num_threads());
  }
  while (ran != 200)
    glt_yield();
  CHECK(ran == 200);
}

struct number {
  int wanted;
  int seen[3];
  GLT_thread_id id;
};
static void note_number(void *p) {
  struct number *n = p;
  n->seen[0] = glt_get_thread_num();
  glt_workunit_get_thread_id(&n->id);
  glt_yield();
  n->seen[1] = glt_get_thread_num();
  glt_yield();
  n->seen[2] = glt_get_thread_num();
}

static void create_to_chooses_the_thread(void) {
  struct number numbers[40];
  GLT_ult ults[ELEMENTS(numbers)];
  GLT_tasklet tasklets[ELEMENTS(numbers)];
  const int threads = glt_get_num_threads();
  for (size_t i = 0; i < ELEMENTS(numbers); ++i) {
    numbers[i].wanted = (int)i % threads;
    if (i % 2)
      glt_ult_create_to(note_number, &numbers[i], &ults[i], numbers[i].wanted);
    else
      glt_tasklet_create_to(note_number, &numbers[i], &tasklets[i], numbers[i].wanted);
  }
  for (size_t i = 0; i < ELEMENTS(numbers); ++i) {
    if (i % 2)
      glt_ult_join(&ults[i]);
    else
      glt_tasklet_join(&tasklets[i]);
    CHECK(numbers[i].id == numbers[i].wanted);
    for (int k = 0; k < 3; ++k)
      CHECK(numbers[i].seen[k] == numbers[i].wanted);
  }
}

static void migrate(void *p) {
  const int threads = glt_get_num_threads();
  for (int to = threads - 1; to >= 0; --to) {
    glt_ult_migrate_self_to(to);
    CHECK(glt_get_thread_num() == to);
    glt_yield();
    CHECK(glt_get_thread_num() == to); // and it remains there
  }
  add_one(p);
}
static void migrates(void) {
  atomic_int ran = 0;
  GLT_ult ults[10];
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_create(migrate, &ran, &ults[i]);
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_join(&ults[i]);
  CHECK(ran == ELEMENTS(ults));
}

struct selves {
  GLT_ult ult, self_as_ult;
  GLT_tasklet tasklet, self_as_tasklet;
};
static void ask_self(void *p) {
  struct selves *s = p;
  glt_ult_self(&s->self_as_ult);
  glt_tasklet_self(&s->self_as_tasklet);
  glt_yield();
  GLT_ult again;
  glt_ult_self(&again);
  CHECK(again == s->self_as_ult);
}
static void know_themselves(void) {
  struct selves u, t;
  glt_ult_create(ask_self, &u, &u.ult);
  const GLT_ult ult = u.ult;
  glt_tasklet_create(ask_self, &t, &t.tasklet);
  const GLT_tasklet tasklet = t.tasklet;
  GLT_ult_id id = 0, other = 0;
  glt_ult_get_id(&id, ult);
  glt_ult_join(&u.ult);
  glt_tasklet_join(&t.tasklet);
  CHECK(u.self_as_ult == ult && u.self_as_tasklet == GLT_NULL);
  CHECK(t.self_as_tasklet == tasklet && t.self_as_ult == GLT_NULL);

  GLT_ult self, again;
  GLT_tasklet no_tasklet = tasklet;
  glt_ult_self(&self);
  glt_ult_self(&again);
  glt_tasklet_self(&no_tasklet);
  CHECK(self != GLT_NULL && self == again && self != ult && no_tasklet == GLT_NULL);
  glt_ult_get_id(&other, self);
  CHECK(id != 0 && other != 0 && id != other);
}

static void *ask_on_a_thread(void *p) {
  glt_ult_self(p);
  GLT_ult child;
  atomic_int ran = 0;
  glt_ult_create(add_one, &ran, &child);
  glt_ult_join(&child);
  CHECK(ran == 1);
  const int number = glt_get_thread_num();
  CHECK(number >= 0 && number < glt_get_num_threads());
  return NULL;
}
static void threads_of_the_program_take_part(void) {
  GLT_ult mine, theirs = GLT_NULL;
  glt_ult_self(&mine);
  pthread_t thread;
  pthread_create(&thread, NULL, ask_on_a_thread, &theirs);
  pthread_join(thread, NULL);
  CHECK(theirs != GLT_NULL && theirs != mine);
}

static void leave_below(void *p) {
  glt_ult_exit();
  add_one(p);
}
static void leave(void *p) {
  leave_below(p);
  add_one(p);
}
static void exit_ends_a_ult(void) {
  atomic_int ran = 0;
  GLT_ult ult;
  GLT_tasklet tasklet;
  glt_ult_create(leave, &ran, &ult);
  glt_tasklet_create(leave, &ran, &tasklet);
  glt_ult_join(&ult);
  glt_tasklet_join(&tasklet);
  CHECK(ran == 0);
}

struct cancelled {
  atomic_bool begun, may_end, ended;
  int way;
};
static void yield_for_ever(void *p) {
  struct cancelled *c = p;
  GLT_ult self;
  glt_ult_self(&self);
  c->begun = true;
  for (;;)
    switch (c->way) {
    case 0:
      glt_yield();
      break;
    case 1:
      glt_yield_to(self);
      break;
    default:
      glt_ult_migrate_self_to(0);
    }
}
static void wait_and_end(void *p) {
  struct cancelled *c = p;
  c->begun = true;
  while (!c->may_end)
    glt_yield();
  c->ended = true;
}
static void cancel_ends_a_ult(void) {
  for (int way = 0; way < 3; ++way) {
    struct cancelled c = {.way = way};
    GLT_ult ult;
    glt_ult_create(yield_for_ever, &c, &ult);
    while (!c.begun)
      glt_yield();
    glt_ult_cancel(ult);
    glt_ult_join(&ult);
    CHECK(c.begun);
  }
  // A tasklet that has begun goes on. One that has not begun never does.
  struct cancelled c = {.way = 0};
  GLT_tasklet tasklet;
  glt_tasklet_create(wait_and_end, &c, &tasklet);
  while (!c.begun)
    glt_yield();
  glt_tasklet_cancel(tasklet);
  glt_yield();
  c.may_end = true;
  glt_tasklet_join(&tasklet);
  CHECK(c.ended);
}

// Thread 0 is this thread, which runs no ULT before it waits.
static void a_ult_that_is_cancelled_before_it_begins_never_does(void) {
  atomic_int ran = 0;
  GLT_ult ult;
  GLT_tasklet tasklet;
  glt_ult_create_to(add_one, &ran, &ult, 0);
  glt_tasklet_create_to(add_one, &ran, &tasklet, 0);
  glt_ult_cancel(ult);
  glt_tasklet_cancel(tasklet);
  glt_ult_join(&ult);
  glt_tasklet_join(&tasklet);
  CHECK(ran == 0);
}

static void yield_until_second(void *p) {
  atomic_int *turn = p;
  while (*turn != 1)
    glt_yield();
  *turn = 2;
}
static void yields_let_others_run(void) {
  atomic_int turn = 0;
  GLT_ult ult;
  glt_ult_create_to(yield_until_second, &turn, &ult, 0);
  glt_yield();
  turn = 1;
  while (turn != 2)
    glt_yield_to(ult);
  glt_ult_join(&ult);
  CHECK(turn == 2);
}

struct tree {
  int depth;
  atomic_int *nodes;
};
static void grow(void *p) {
  const struct tree *t = p;
  atomic_fetch_add(t->nodes, 1);
  if (t->depth == 0)
    return;
  struct tree below = {t->depth - 1, t->nodes};
  GLT_ult ult;
  GLT_tasklet tasklet; // a tasklet waits as well
  glt_ult_create(grow, &below, &ult);
  glt_tasklet_create(grow, &below, &tasklet);
  glt_ult_join(&ult);
  glt_tasklet_join(&tasklet);
}
static void ults_create_ults(void) {
  atomic_int nodes = 0;
  struct tree t = {10, &nodes};
  GLT_ult root;
  glt_ult_create(grow, &t, &root);
  glt_ult_join(&root);
  CHECK(nodes == (1 << 11) - 1);
}

// ---- mutexes ------------------------------------------------------------------------------------

struct counted {
  GLT_mutex mutex;
  int value; // guarded by the mutex
  int way;
};
static void count_up(void *p) {
  struct counted *c = p;
  for (int i = 0; i < 100; ++i) {
    switch ((i + c->way) % 3) {
    case 0:
      glt_mutex_lock(c->mutex);
      break;
    case 1:
      glt_mutex_spinlock(c->mutex);
      break;
    default:
      while (glt_mutex_trylock(c->mutex) != GLT_SUCCESS)
        glt_yield();
    }
    const int seen = c->value;
    if (i % 10 == 0)
      glt_yield(); // a holder that is suspended, and goes on elsewhere
    c->value = seen + 1;
    glt_mutex_unlock(c->mutex);
  }
}
static void mutexes_exclude(void) {
  struct counted c = {.value = 0};
  glt_mutex_create(&c.mutex);
  GLT_ult ults[20];
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_create(count_up, &c, &ults[i]);
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_join(&ults[i]);
  CHECK(c.value == 100 * (int)ELEMENTS(ults));
  glt_mutex_free(&c.mutex);
  CHECK(c.mutex == GLT_NULL);
}

struct tried {
  GLT_mutex mutex;
  int code;
};
static void try_it(void *p) {
  struct tried *t = p;
  t->code = glt_mutex_trylock(t->mutex);
  if (t->code == GLT_SUCCESS)
    glt_mutex_unlock(t->mutex);
}
static int code_of_another(GLT_mutex mutex) {
  struct tried t = {mutex, -1};
  GLT_ult ult;
  glt_ult_create(try_it, &t, &ult);
  glt_ult_join(&ult);
  return t.code;
}
static void trylock_says_whether_it_has(void) {
  GLT_mutex mutex;
  glt_mutex_create(&mutex);
  CHECK(code_of_another(mutex) == GLT_SUCCESS);
  CHECK(glt_mutex_trylock(mutex) == GLT_SUCCESS);
  CHECK(glt_mutex_trylock(mutex) == GLT_ERR_MUTEX_LOCKED);
  CHECK(code_of_another(mutex) == GLT_ERR_MUTEX_LOCKED);
  glt_mutex_unlock(mutex);
  CHECK(code_of_another(mutex) == GLT_SUCCESS);
  glt_mutex_free(&mutex);
}

// ---- barriers -----------------------------------------------------------------------------------

enum { members = 9, episodes = 20 };
struct meeting {
  GLT_barrier barrier;
  atomic_int arrived[episodes];
};
static void meet(void *p) {
  struct meeting *m = p;
  for (int e = 0; e < episodes; ++e) {
    atomic_fetch_add(&m->arrived[e], 1);
    glt_barrier_wait(&m->barrier);
    CHECK(m->arrived[e] == members);
  }
}
static void barriers_gather(void) {
  struct meeting m = {.barrier = GLT_NULL};
  glt_barrier_create(members, &m.barrier);
  GLT_ult ults[members - 1];
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_create(meet, &m, &ults[i]);
  meet(&m); // a thread of the program is a member
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_join(&ults[i]);
  glt_barrier_free(&m.barrier);
  CHECK(m.barrier == GLT_NULL);

  GLT_barrier alone;
  glt_barrier_create(1, &alone);
  glt_barrier_wait(&alone);
  glt_barrier_wait(&alone);
  glt_barrier_free(&alone);
}

// ---- condition variables ------------------------------------------------------------------------

struct queue {
  GLT_mutex mutex;
  GLT_cond not_empty, all_wait;
  int items, taken, waiting;
};
static void take_one(void *p) {
  struct queue *q = p;
  glt_mutex_lock(q->mutex);
  ++q->waiting;
  glt_cond_signal(q->all_wait);
  while (q->items == 0)
    glt_cond_wait(q->not_empty, q->mutex);
  --q->items;
  ++q->taken;
  glt_mutex_unlock(q->mutex);
}
static void conditions_wake(void) {
  struct queue q = {.items = 0};
  glt_mutex_create(&q.mutex);
  glt_cond_create(&q.not_empty);
  glt_cond_create(&q.all_wait);
  glt_cond_signal(q.not_empty); // no caller waits: nothing happens
  glt_cond_broadcast(q.not_empty);
  GLT_ult ults[12];
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_create(take_one, &q, &ults[i]);
  glt_mutex_lock(q.mutex);
  while (q.waiting != (int)ELEMENTS(ults))
    glt_cond_wait(q.all_wait, q.mutex);
  q.items = 1;
  glt_cond_signal(q.not_empty);
  glt_mutex_unlock(q.mutex);
  for (int taken = 0; taken != 1; glt_yield()) {
    glt_mutex_lock(q.mutex);
    taken = q.taken;
    CHECK(taken <= 1);
    glt_mutex_unlock(q.mutex);
  }
  glt_mutex_lock(q.mutex);
  q.items = (int)ELEMENTS(ults) - 1;
  glt_cond_broadcast(q.not_empty);
  glt_mutex_unlock(q.mutex);
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_join(&ults[i]);
  CHECK(q.taken == (int)ELEMENTS(ults) && q.items == 0);
  glt_cond_free(&q.not_empty);
  glt_cond_free(&q.all_wait);
  glt_mutex_free(&q.mutex);
  CHECK(q.not_empty == GLT_NULL && q.all_wait == GLT_NULL);
}

struct line {
  GLT_mutex mutex;
  GLT_cond next;
  int waiting, order[8], woken;
};
static void stand_in_line(void *p) {
  struct line *l = p;
  glt_mutex_lock(l->mutex);
  const int place = l->waiting++;
  glt_cond_wait(l->next, l->mutex);
  l->order[l->woken++] = place;
  glt_mutex_unlock(l->mutex);
}
static int locked_value(struct line *l, const int *value) {
  glt_mutex_lock(l->mutex);
  const int seen = *value;
  glt_mutex_unlock(l->mutex);
  return seen;
}
static void a_signal_wakes_one_in_the_order_of_arrival(void) {
  struct line l = {.waiting = 0};
  glt_mutex_create(&l.mutex);
  glt_cond_create(&l.next);
  enum { count = ELEMENTS(l.order) };
  GLT_ult ults[count];
  for (int i = 0; i < count; ++i)
    glt_ult_create(stand_in_line, &l, &ults[i]);
  while (locked_value(&l, &l.waiting) != count)
    glt_yield();
  for (int i = 0; i < count; ++i) {
    glt_cond_signal(l.next);
    while (locked_value(&l, &l.woken) == i)
      glt_yield();
    CHECK(l.order[i] == i && locked_value(&l, &l.woken) == i + 1);
  }
  for (int i = 0; i < count; ++i)
    glt_ult_join(&ults[i]);
  glt_cond_free(&l.next);
  glt_mutex_free(&l.mutex);
}

// ---- time ---------------------------------------------------------------------------------------

static void sleep_ms(long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}
static void timers_measure(void) {
  GLT_timer timer;
  double first = -1, still = -1, later = -1;
  const double begin = glt_get_wtime();
  glt_timer_create(&timer);
  glt_timer_get_secs(timer, &first);
  CHECK(first == 0);
  glt_timer_start(timer);
  sleep_ms(2);
  glt_timer_get_secs(timer, &still);
  CHECK(still >= 0.002); // it runs
  glt_timer_stop(timer);
  glt_timer_get_secs(timer, &first);
  sleep_ms(2);
  glt_timer_get_secs(timer, &later);
  CHECK(first >= still && later == first); // it has stopped
  CHECK(glt_get_wtime() - begin >= first + 0.002);
  glt_timer_start(timer); // from 0
  glt_timer_stop(timer);
  glt_timer_get_secs(timer, &later);
  CHECK(later >= 0 && later < glt_get_wtime() - begin);
  glt_timer_free(&timer);
  CHECK(timer == GLT_NULL);
}

// ---- keys ---------------------------------------------------------------------------------------

static GLT_key g_key, g_plain;
static atomic_int g_destroyed, g_rounds;

static void destroy(void *value) {
  CHECK(value != NULL);
  atomic_fetch_add(&g_destroyed, *(int *)value);
}
static void use_keys(void *p) {
  void *seen = p;
  glt_key_get(g_key, &seen);
  CHECK(seen == NULL);
  glt_key_set(g_key, p);
  glt_key_set(g_plain, &g_plain);
  for (int i = 0; i < 5; ++i) {
    glt_yield();
    glt_key_get(g_key, &seen);
    CHECK(seen == p);
  }
  glt_key_get(g_plain, &seen);
  CHECK(seen == &g_plain);
  glt_key_set(g_plain, NULL);
  glt_key_get(g_plain, &seen);
  CHECK(seen == NULL);
}
static void set_again(void *value) {
  atomic_fetch_add(&g_rounds, 1);
  glt_key_set(g_key, value);
}
static void use_key_that_sets_itself(void *p) { glt_key_set(g_key, p); }
static void *use_keys_on_a_thread(void *p) {
  use_keys(p);
  return NULL;
}

static void keys_have_a_value_per_ult(void) {
  enum { count = 30 };
  int values[count + 2], sum = 0;
  GLT_ult ults[count / 2];
  GLT_tasklet tasklets[count / 2];
  glt_key_create(destroy, &g_key);
  glt_key_create(NULL, &g_plain);
  for (int i = 0; i < count + 1; ++i)
    sum += values[i] = i + 1;
  values[count + 1] = 1000;
  glt_key_set(g_key, &values[count + 1]); // of this thread
  for (int i = 0; i < count / 2; ++i) {
    glt_ult_create(use_keys, &values[2 * i], &ults[i]);
    glt_tasklet_create(use_keys, &values[2 * i + 1], &tasklets[i]);
  }
  pthread_t thread;
  pthread_create(&thread, NULL, use_keys_on_a_thread, &values[count]);
  for (int i = 0; i < count / 2; ++i) {
    glt_ult_join(&ults[i]);
    glt_tasklet_join(&tasklets[i]);
  }
  pthread_join(thread, NULL);
  CHECK(g_destroyed == sum); // a thread's values end with the thread
  void *mine = NULL;
  glt_key_get(g_key, &mine);
  CHECK(mine == &values[count + 1]);
  glt_key_free(&g_key);
  glt_key_free(&g_plain);
  CHECK(g_key == GLT_NULL && g_plain == GLT_NULL);

  // A new key has no old values, and destructors may set values again, for four rounds.
  glt_key_create(set_again, &g_key);
  glt_key_get(g_key, &mine);
  CHECK(mine == NULL);
  GLT_ult ult;
  glt_ult_create(use_key_that_sets_itself, &values[0], &ult);
  glt_ult_join(&ult);
  CHECK(g_rounds == 4);
  glt_key_free(&g_key);
}

static void key_freed_before(void *p) {
  glt_key_set(g_key, p);
  GLT_key freed = g_key;
  glt_key_free(&freed);
}
static void a_freed_key_destroys_nothing(void) {
  int value = 1;
  g_destroyed = 0;
  glt_key_create(destroy, &g_key);
  GLT_ult ult;
  glt_ult_create(key_freed_before, &value, &ult);
  glt_ult_join(&ult);
  CHECK(g_destroyed == 0);
}

// ---- the library --------------------------------------------------------------------------------

static void says_what_it_can(void) {
  CHECK(glt_can_event_functions() == 1);
  CHECK(glt_can_future_functions() == 1);
  CHECK(glt_can_malleability() == 1);
  CHECK(glt_can_manage_scheduler() == 0);
  CHECK(glt_can_scheduler() == 0);
  CHECK(strcmp(GLT_VERSION, "GLT 2.5 on Weft") == 0);
}

static void has_a_team(void) {
  const glt_team_t *team = glt_get_team();
  CHECK(team->num_workers == glt_get_num_threads() && team->max_workers >= 1);
  const char *wanted = getenv("GLT_NUM_THREADS");
  if (wanted)
    CHECK(glt_get_num_threads() == atoi(wanted));
  CHECK(glt_get_thread_num() == 0);
}

static void create_more(void *p) {
  for (int i = 0; i < 3; ++i)
    glt_yield();
  GLT_ult *ult = malloc(sizeof *ult);
  glt_ult_create(add_one, p, ult);
  free(ult); // no call joins it
  glt_ult_create(add_one, p, NULL);
  add_one(p);
}

#ifndef TEST_SANITIZER
static void wait_for_value(void *p) {
  while (atomic_load((atomic_int *)p) == 0)
    glt_yield();
}
// The child of a fork() begins anew. ULTs of before the fork are the parent's.
static void a_forked_child_begins_anew(void) {
  atomic_int ran = 0, value = 0;
  GLT_ult ult, mine;
  glt_ult_create(wait_for_value, &value, &ult);
  glt_ult_self(&mine);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);
    glt_init(0, NULL);
    GLT_ult own;
    glt_ult_create(add_one, &ran, &own);
    glt_ult_create(add_one, &ran, NULL);
    glt_ult_join(&own);
    glt_finalize(); // does not wait for the parent's
    _exit(ran == 2 ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  value = 1;
  glt_ult_join(&ult);
  CHECK(ran == 0);
}
#else
static void a_forked_child_begins_anew(void) {} // ThreadSanitizer ends such a child
#endif

int main(int argc, char *argv[]) {
  says_what_it_can();
  CHECK(glt_get_wtime() > 0);
  glt_start();
  glt_init(argc, argv);
  glt_init(argc, argv); // counts
  has_a_team();
  creates_and_joins();
  frees_wait_for_the_end();
  without_handles_they_run_as_well();
  create_to_chooses_the_thread();
  migrates();
  know_themselves();
  threads_of_the_program_take_part();
  exit_ends_a_ult();
  cancel_ends_a_ult();
  a_ult_that_is_cancelled_before_it_begins_never_does();
  yields_let_others_run();
  ults_create_ults();
  mutexes_exclude();
  trylock_says_whether_it_has();
  barriers_gather();
  conditions_wake();
  a_signal_wakes_one_in_the_order_of_arrival();
  timers_measure();
  keys_have_a_value_per_ult();
  a_freed_key_destroys_nothing();
  a_forked_child_begins_anew();
  struct cancelled waits = {.way = 0};
  GLT_ult ult;
  glt_ult_create(wait_and_end, &waits, &ult);
  glt_finalize(); // the first of two does not wait
  CHECK(!waits.ended);
  waits.may_end = true;
  glt_ult_join(&ult);
  CHECK(waits.ended);

  // The end waits for all that is left, with handles and without.
  atomic_int ran = 0;
  GLT_ult ults[40];
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_create(create_more, &ran, i % 2 ? &ults[i] : NULL);
  glt_finalize();
  CHECK(ran == 3 * (int)ELEMENTS(ults));

  glt_init(0, NULL); // and it may begin again
  GLT_ult again;
  glt_ult_create(do_nothing, NULL, &again);
  glt_ult_join(&again);
  glt_finalize();
  glt_end();
  return end_of_checks();
}
