// SPDX-License-Identifier: Apache-2.0
// Each misuse ends a child process by abort(), with a line that names the call, what is wrong and
// the remedy. This process never starts Weft, so that it may fork.
#include <weft/glt.h>

#include "check.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

static void do_nothing(void *p) { (void)p; }
static void wait_until_set(void *p) {
  while (!atomic_load((atomic_int *)p))
    glt_yield();
}

static GLT_ult ended_ult(void) {
  GLT_ult ult, copy;
  glt_ult_create(do_nothing, NULL, &ult);
  copy = ult;
  glt_ult_join(&ult);
  return copy;
}
static GLT_mutex new_mutex(void) {
  GLT_mutex mutex;
  glt_mutex_create(&mutex);
  return mutex;
}
static void in_ult(void (*f)(void *), void *arg) {
  GLT_ult ult;
  glt_ult_create(f, arg, &ult);
  glt_ult_join(&ult);
}

// ---- the misuses --------------------------------------------------------------------------------

static void joins_twice(void) {
  GLT_ult ult;
  glt_ult_create(do_nothing, NULL, &ult);
  glt_ult_join(&ult);
  glt_ult_join(&ult);
}
static void joins_a_copy_again(void) {
  GLT_ult copy = ended_ult();
  glt_ult_join(&copy);
}
static void frees_a_copy_again(void) {
  GLT_ult copy = ended_ult();
  glt_ult_free(&copy);
}
static void frees_twice(void) {
  GLT_tasklet tasklet;
  glt_tasklet_create(do_nothing, NULL, &tasklet);
  glt_tasklet_free(&tasklet);
  glt_tasklet_free(&tasklet);
}
static void join_self(void *p) {
  (void)p;
  GLT_ult self;
  glt_ult_self(&self);
  glt_ult_join(&self);
}
static void joins_itself(void) { in_ult(join_self, NULL); }
static void free_self(void *p) {
  (void)p;
  GLT_tasklet self;
  glt_tasklet_self(&self);
  glt_tasklet_free(&self);
}
static void frees_itself(void) {
  GLT_tasklet tasklet;
  glt_tasklet_create(free_self, NULL, &tasklet);
  glt_tasklet_join(&tasklet);
}
static void join_that(void *p) { glt_ult_join(p); }
static void joins_beside_another(void) {
  atomic_int never = 0;
  GLT_ult target, first, copies[2];
  glt_ult_create(wait_until_set, &never, &target);
  copies[0] = copies[1] = target;
  glt_ult_create_to(join_that, &copies[0], &first, 0);
  for (int i = 0; i < 100; ++i)
    glt_yield(); // the first joiner waits now
  glt_ult_join(&copies[1]);
}
static void joins_a_thread(void) {
  GLT_ult self;
  glt_ult_self(&self);
  glt_ult_join(&self);
}
static void cancels_a_thread(void) {
  GLT_ult self;
  glt_ult_self(&self);
  glt_ult_cancel(self);
}
static void joins_a_tasklet_as_a_ult(void) {
  GLT_tasklet tasklet;
  glt_tasklet_create(do_nothing, NULL, &tasklet);
  GLT_ult ult = (GLT_ult)(void *)tasklet;
  glt_ult_join(&ult);
}
static void cancels_a_ult_as_a_tasklet(void) {
  GLT_ult ult;
  glt_ult_create(do_nothing, NULL, &ult);
  glt_tasklet_cancel((GLT_tasklet)(void *)ult);
}
static void joins_what_was_never_set(void) {
  GLT_ult ult = (GLT_ult)(void *)0x7fff12345678;
  glt_ult_join(&ult);
}
static void joins_null(void) {
  GLT_ult ult = GLT_NULL;
  glt_ult_join(&ult);
}
static void joins_no_variable(void) { glt_ult_join(NULL); }
static void creates_without_a_function(void) { glt_ult_create(NULL, NULL, NULL); }
static void creates_for_no_thread(void) {
  glt_ult_create_to(do_nothing, NULL, NULL, glt_get_num_threads());
}
static void creates_for_a_thread_below_0(void) {
  glt_tasklet_create_to(do_nothing, NULL, NULL, -1);
}
static void allocates_less_than_nothing(void) { glt_ult_malloc(-1); }
static void migrates_a_thread(void) { glt_ult_migrate_self_to(0); }
static void migrate_too_far(void *p) {
  (void)p;
  glt_ult_migrate_self_to(1000);
}
static void migrates_to_no_thread(void) { in_ult(migrate_too_far, NULL); }
static void exits_a_thread(void) { glt_ult_exit(); }
static void exit_at_the_end(void *value) {
  (void)value;
  glt_ult_exit();
}
static void set_value(void *key) { glt_key_set(*(GLT_key *)key, key); }
static void exits_as_it_ends(void) {
  GLT_key key;
  glt_key_create(exit_at_the_end, &key);
  in_ult(set_value, &key);
}
static void yields_to_the_dead(void) { glt_yield_to(ended_ult()); }
static void asks_the_dead(void) {
  GLT_ult_id id;
  glt_ult_get_id(&id, ended_ult());
}
static void finalize(void *p) {
  (void)p;
  glt_finalize();
}
static void finalizes_in_a_ult(void) { in_ult(finalize, NULL); }

static void lock(void *p) { glt_mutex_lock(*(GLT_mutex *)p); }
static void unlock(void *p) { glt_mutex_unlock(*(GLT_mutex *)p); }
static void unlocks_for_another(void) {
  GLT_mutex mutex = new_mutex();
  glt_mutex_lock(mutex);
  in_ult(unlock, &mutex);
}
static void unlocks_what_is_free(void) { glt_mutex_unlock(new_mutex()); }
static void locks_twice(void) {
  GLT_mutex mutex = new_mutex();
  glt_mutex_lock(mutex);
  glt_mutex_lock(mutex);
}
static void spins_twice(void) {
  GLT_mutex mutex = new_mutex();
  CHECK(glt_mutex_trylock(mutex) == GLT_SUCCESS);
  glt_mutex_spinlock(mutex);
}
static void frees_a_locked_mutex(void) {
  GLT_mutex mutex = new_mutex();
  in_ult(lock, &mutex);
  glt_mutex_free(&mutex);
}
static void locks_a_freed_mutex(void) {
  GLT_mutex mutex = new_mutex(), copy = mutex;
  glt_mutex_free(&mutex);
  glt_mutex_lock(copy);
}
static void frees_a_mutex_twice(void) {
  GLT_mutex mutex = new_mutex();
  glt_mutex_free(&mutex);
  glt_mutex_free(&mutex);
}
static void makes_a_barrier_for_none(void) {
  GLT_barrier barrier;
  glt_barrier_create(0, &barrier);
}
static void wait_at(void *p) { glt_barrier_wait(p); }
static void frees_a_barrier_in_use(void) {
  GLT_barrier barrier;
  GLT_ult ult;
  glt_barrier_create(3, &barrier);
  glt_ult_create_to(wait_at, &barrier, &ult, 0);
  for (int i = 0; i < 100; ++i)
    glt_yield();
  glt_barrier_free(&barrier);
}
struct wait {
  GLT_mutex mutex;
  GLT_cond cond;
};
static void wait_for_cond(void *p) {
  struct wait *w = p;
  glt_mutex_lock(w->mutex);
  glt_cond_wait(w->cond, w->mutex);
}
static void frees_a_condition_in_use(void) {
  struct wait w = {.mutex = new_mutex()};
  GLT_ult ult;
  glt_cond_create(&w.cond);
  glt_ult_create_to(wait_for_cond, &w, &ult, 0);
  for (int i = 0; i < 100; ++i)
    glt_yield();
  glt_cond_free(&w.cond);
}
static void waits_without_the_mutex(void) {
  struct wait w = {.mutex = new_mutex()};
  glt_cond_create(&w.cond);
  glt_cond_wait(w.cond, w.mutex);
}
static void signals_what_was_freed(void) {
  GLT_cond cond, copy;
  glt_cond_create(&cond);
  copy = cond;
  glt_cond_free(&cond);
  glt_cond_signal(copy);
}
static void stops_a_timer_that_rests(void) {
  GLT_timer timer;
  glt_timer_create(&timer);
  glt_timer_stop(timer);
}
static void sets_a_freed_key(void) {
  GLT_key key, copy;
  glt_key_create(NULL, &key);
  copy = key;
  glt_key_free(&key);
  glt_key_set(copy, &copy);
}
static void gets_into_nothing(void) {
  GLT_key key;
  glt_key_create(NULL, &key);
  glt_key_get(key, NULL);
}
static void sets_a_future_twice(void) {
  GLT_future future;
  glt_future_create(0, &future);
  glt_future_set(future, NULL, 0);
  glt_future_set(future, NULL, 0);
}
static void sets_too_much(void) {
  GLT_future future;
  glt_future_create(4, &future);
  glt_future_set(future, "woven", 6);
}
static void makes_a_future_below_0(void) {
  GLT_future future;
  glt_future_create(-1, &future);
}
static void await(void *p) { glt_future_wait(*(GLT_future *)p, NULL); }
static void frees_a_future_in_use(void) {
  GLT_future future;
  GLT_ult ult;
  glt_future_create(0, &future);
  glt_ult_create_to(await, &future, &ult, 0);
  for (int i = 0; i < 100; ++i)
    glt_yield();
  glt_future_free(&future);
}
static void enables_no_thread(void) { glt_thread_enable_id(-1); }
static void disables_no_thread(void) { glt_thread_disable_id(1000); }
static void adds_to_no_event(void) {
  int id;
  glt_event_add_callbac((GLT_event_kind)2, NULL, NULL, NULL, NULL, &id);
}
static void removes_a_callback_twice(void) {
  int id;
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, NULL, NULL, NULL, NULL, &id);
  glt_event_del_callback(GLT_EVENT_ADD_THREAD + 0, id);
}
static GLT_bool enables_in_callback(void *p, void *thread) {
  (void)p;
  glt_thread_enable_id(*(int *)thread);
  return GLT_TRUE;
}
static void changes_in_callback(void) {
  int id;
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, enables_in_callback, NULL, NULL, NULL, &id);
  glt_thread_disable_id(1);
}
static void acts_in_callback_of_ult(void *p) {
  int id;
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, NULL, NULL, enables_in_callback, p, &id);
  glt_thread_disable_id(1);
}
static void changes_in_callback_of_ult(void) { in_ult(acts_in_callback_of_ult, NULL); }
static void schedules_no_thread(void) {
  GLT_sched sched;
  int ids[] = {1000};
  glt_scheduler_create_basic(GLT_SCHED_BASIC, 1, ids, GLT_NULL, &sched);
}
static void asks_a_freed_scheduler(void) {
  GLT_sched sched, copy;
  glt_scheduler_create_basic(GLT_SCHED_BASIC, 0, NULL, GLT_NULL, &sched);
  copy = sched;
  glt_scheduler_free(&sched);
  glt_scheduler_set_data(copy, NULL);
}
static void frees_no_configuration(void) {
  GLT_sched_config config = GLT_NULL;
  glt_scheduler_config_free(&config);
}
static void uses_what_was_ended(void) {
  glt_finalize();
  glt_yield();
}

static const struct {
  void (*run)(void);
  const char *call, *what, *remedy;
} k_misuses[] = {
    {joins_twice, "glt_ult_join", "was joined before", "join once"},
    {joins_a_copy_again, "glt_ult_join", "freed or joined", "free it after its last use"},
    {frees_a_copy_again, "glt_ult_free", "freed or joined", "glt_ult_create()"},
    {frees_twice, "glt_tasklet_free", "is GLT_NULL", "glt_tasklet_create()"},
    {joins_itself, "glt_ult_join", "joined by itself", "glt_ult_exit()"},
    {frees_itself, "glt_tasklet_free", "freed by itself", "glt_ult_exit()"},
    {joins_beside_another, "glt_ult_join", "while another call joins", "let one call do so"},
    {joins_a_thread, "glt_ult_join", "a thread of the program", "that was created"},
    {cancels_a_thread, "glt_ult_cancel", "a thread of the program", "that was created"},
    {joins_a_tasklet_as_a_ult, "glt_ult_join", "names a tasklet", "calls of its kind"},
    {cancels_a_ult_as_a_tasklet, "glt_tasklet_cancel", "names a ULT", "calls of its kind"},
    {joins_what_was_never_set, "glt_ult_join", "never set", "glt_ult_create()"},
    {joins_null, "glt_ult_join", "is GLT_NULL", "glt_ult_create()"},
    {joins_no_variable, "glt_ult_join", "is NULL", "address of a variable"},
    {creates_without_a_function, "glt_ult_create", "is NULL", "pass a function"},
    {creates_for_no_thread, "glt_ult_create_to", "no thread 2", "from 0 to 1"},
    {creates_for_a_thread_below_0, "glt_tasklet_create_to", "no thread -1", "from 0 to 1"},
    {allocates_less_than_nothing, "glt_ult_malloc", "less than no handle", "pass the number"},
    {migrates_a_thread, "glt_ult_migrate_self_to", "not a ULT", "call it in a ULT"},
    {migrates_to_no_thread, "glt_ult_migrate_self_to", "no thread 1000", "from 0 to 1"},
    {exits_a_thread, "glt_ult_exit", "not a ULT", "return from the function"},
    {exits_as_it_ends, "glt_ult_exit", "ends already", "return from the destructor"},
    {yields_to_the_dead, "glt_yield_to", "freed or joined", "glt_ult_create()"},
    {asks_the_dead, "glt_ult_get_id", "freed or joined", "glt_ult_create()"},
    {finalizes_in_a_ult, "glt_finalize", "by a ULT", "called glt_init()"},
    {unlocks_for_another, "glt_mutex_unlock", "another ULT holds", "has locked it unlock it"},
    {unlocks_what_is_free, "glt_mutex_unlock", "no ULT holds", "once per lock"},
    {locks_twice, "glt_mutex_lock", "holds the mutex already", "unlock it first"},
    {spins_twice, "glt_mutex_spinlock", "holds the mutex already", "unlock it first"},
    {frees_a_locked_mutex, "glt_mutex_free", "a ULT holds", "unlock it before"},
    {locks_a_freed_mutex, "glt_mutex_lock", "not a mutex", "glt_mutex_create()"},
    {frees_a_mutex_twice, "glt_mutex_free", "not a mutex", "glt_mutex_create()"},
    {makes_a_barrier_for_none, "glt_barrier_create", "for 0 callers", "at least 1"},
    {frees_a_barrier_in_use, "glt_barrier_free", "1 of 3 callers", "have gone on"},
    {frees_a_condition_in_use, "glt_cond_free", "callers wait", "glt_cond_broadcast()"},
    {waits_without_the_mutex, "glt_cond_wait", "does not hold", "glt_mutex_lock()"},
    {signals_what_was_freed, "glt_cond_signal", "not a condition", "glt_cond_create()"},
    {stops_a_timer_that_rests, "glt_timer_stop", "does not run", "glt_timer_start()"},
    {sets_a_freed_key, "glt_key_set", "not a key", "glt_key_create()"},
    {gets_into_nothing, "glt_key_get", "is NULL", "address of a variable"},
    {sets_a_future_twice, "glt_future_set", "set before", "set a future once"},
    {sets_too_much, "glt_future_set", "6 bytes for a future of 4", "as many bytes"},
    {makes_a_future_below_0, "glt_future_create", "-1 bytes", "0 or more"},
    {frees_a_future_in_use, "glt_future_free", "callers wait", "glt_future_set()"},
    {enables_no_thread, "glt_thread_enable_id", "no thread -1", "from 0 to 1"},
    {disables_no_thread, "glt_thread_disable_id", "no thread 1000", "from 0 to 1"},
    {adds_to_no_event, "glt_event_add_callbac", "no event 2", "GLT_EVENT_STOP_THREAD"},
    {removes_a_callback_twice, "glt_event_del_callback", "has no callback", "once"},
    {changes_in_callback, "glt_thread_enable_id", "by a callback", "after that call"},
    {changes_in_callback_of_ult, "glt_thread_enable_id", "by a callback", "after that call"},
    {schedules_no_thread, "glt_scheduler_create_basic", "no thread 1000", "from 0 to 1"},
    {asks_a_freed_scheduler, "glt_scheduler_set_data", "not a scheduler", "glt_scheduler_create()"},
    {frees_no_configuration, "glt_scheduler_config_free", "is GLT_NULL",
     "glt_scheduler_config_create()"},
    {uses_what_was_ended, "glt_yield", "not initialised", "glt_init()"},
};

// ---- use before glt_init() ----------------------------------------------------------------------

static GLT_ult g_ult;
static GLT_mutex g_mutex;
static GLT_future g_future;
static int g_number;
static void *g_pointer;
static size_t g_size;

// Calls that need no valid handle, and one of each kind that does.
#define EARLY(call, arguments)                                                                     \
  static void early_##call(void) { call arguments; }
EARLY(glt_finalize, ())
EARLY(glt_get_team, ())
EARLY(glt_ult_create, (do_nothing, NULL, &g_ult))
EARLY(glt_ult_create_to, (do_nothing, NULL, &g_ult, 0))
EARLY(glt_tasklet_create, (do_nothing, NULL, NULL))
EARLY(glt_tasklet_create_to, (do_nothing, NULL, NULL, 0))
EARLY(glt_yield, ())
EARLY(glt_yield_to, (g_ult))
EARLY(glt_ult_join, (&g_ult))
EARLY(glt_ult_free, (&g_ult))
EARLY(glt_ult_cancel, (g_ult))
EARLY(glt_ult_self, (&g_ult))
EARLY(glt_ult_exit, ())
EARLY(glt_ult_migrate_self_to, (0))
EARLY(glt_workunit_get_thread_id, (&g_number))
EARLY(glt_get_thread_num, ())
EARLY(glt_get_num_threads, ())
EARLY(glt_mutex_create, (&g_mutex))
EARLY(glt_mutex_lock, (g_mutex))
EARLY(glt_mutex_trylock, (g_mutex))
EARLY(glt_barrier_create, (1, (GLT_barrier *)&g_pointer))
EARLY(glt_cond_create, ((GLT_cond *)&g_pointer))
EARLY(glt_timer_create, ((GLT_timer *)&g_pointer))
EARLY(glt_key_create, (NULL, (GLT_key *)&g_pointer))
EARLY(glt_future_create, (0, &g_future))
EARLY(glt_future_wait, (g_future, NULL))
EARLY(glt_thread_enable, ())
EARLY(glt_thread_disable, ())
EARLY(glt_thread_disable_id, (0))
EARLY(glt_event_add_callbac, (GLT_EVENT_ADD_THREAD, NULL, NULL, NULL, NULL, &g_number))
EARLY(glt_event_del_callback, (GLT_EVENT_ADD_THREAD, 1))
EARLY(glt_scheduler_create_basic, (GLT_SCHED_DEFAULT, 0, NULL, GLT_NULL, (GLT_sched *)&g_pointer))
EARLY(glt_scheduler_get_size, (GLT_NULL, &g_size))
EARLY(glt_scheduler_config_create, ((GLT_sched_config *)&g_pointer, GLT_sched_config_var_end))

#define ROW(call) {early_##call, #call}
static const struct {
  void (*run)(void);
  const char *call;
} k_early[] = {
    ROW(glt_finalize),
    ROW(glt_get_team),
    ROW(glt_ult_create),
    ROW(glt_ult_create_to),
    ROW(glt_tasklet_create),
    ROW(glt_tasklet_create_to),
    ROW(glt_yield),
    ROW(glt_yield_to),
    ROW(glt_ult_join),
    ROW(glt_ult_free),
    ROW(glt_ult_cancel),
    ROW(glt_ult_self),
    ROW(glt_ult_exit),
    ROW(glt_ult_migrate_self_to),
    ROW(glt_workunit_get_thread_id),
    ROW(glt_get_thread_num),
    ROW(glt_get_num_threads),
    ROW(glt_mutex_create),
    ROW(glt_mutex_lock),
    ROW(glt_mutex_trylock),
    ROW(glt_barrier_create),
    ROW(glt_cond_create),
    ROW(glt_timer_create),
    ROW(glt_key_create),
    ROW(glt_future_create),
    ROW(glt_future_wait),
    ROW(glt_thread_enable),
    ROW(glt_thread_disable),
    ROW(glt_thread_disable_id),
    ROW(glt_event_add_callbac),
    ROW(glt_event_del_callback),
    ROW(glt_scheduler_create_basic),
    ROW(glt_scheduler_get_size),
    ROW(glt_scheduler_config_create),
};

// ---- child processes ----------------------------------------------------------------------------

// Runs f() in a child, after glt_init() if `init`. Returns what wait() says; `text` is standard
// error.
static int run_child(void (*f)(void), bool init, char *text, size_t size) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    alarm(60);
    if (init)
      glt_init(0, NULL);
    f();
    _exit(0); // the misuse went unnoticed
  }
  close(ends[1]);
  size_t length = 0;
  ssize_t got;
  while ((got = read(ends[0], text + length, size - 1 - length)) > 0)
    length += (size_t)got;
  text[length] = 0;
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

static void expect(void (*f)(void), bool init, const char *call, const char *what,
                   const char *remedy) {
  static char text[4096];
  char prefix[100];
  const int status = run_child(f, init, text, sizeof text);
  snprintf(prefix, sizeof prefix, "weft: %s: ", call);
  const char *line = strstr(text, prefix);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !line || !strstr(line, what) ||
      !strstr(line, remedy))
    fprintf(stderr, "of %s '%s' '%s' came, with status %d: %s\n", call, what, remedy, status, text);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(line && strstr(line, what) && strstr(line, remedy));
  CHECK(text[strlen(text) - 1] == '\n');
}

#ifndef TEST_SANITIZER
// ---- waits without an end ------------------------------------------------------------------------

static GLT_ult g_joined[2];
static void join_the_other(void *p) {
  while (!g_joined[0] || !g_joined[1])
    glt_yield();
  glt_ult_join(p);
}
static void ults_join_each_other(void) {
  GLT_ult copies[2];
  glt_ult_create(join_the_other, &copies[1], &g_joined[0]);
  glt_ult_create(join_the_other, &copies[0], &g_joined[1]);
  copies[0] = g_joined[0];
  copies[1] = g_joined[1];
  for (;;)
    glt_future_wait(g_future, NULL);
}
static void nothing_sets_the_future(void) {
  glt_future_create(0, &g_future);
  glt_future_wait(g_future, NULL);
}
static void nothing_unlocks_the_mutex(void) {
  g_mutex = new_mutex();
  glt_mutex_lock(g_mutex);
  in_ult(lock, &g_mutex);
}
static void ults_wait_for_each_other(void) {
  glt_future_create(0, &g_future);
  ults_join_each_other();
}

// Weft reports what waits for what, and aborts.
static void expect_report(void (*f)(void), const char *first, const char *second) {
  static char text[16384];
  const int status = run_child(f, true, text, sizeof text);
  if (!strstr(text, "nothing goes on") || !strstr(text, first) || !strstr(text, second))
    fprintf(stderr, "'%s' and '%s' are not in: %s\n", first, second, text);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(text, "nothing goes on") && strstr(text, first) && strstr(text, second));
}

#endif // TEST_SANITIZER

static void wrong_number(void) {
  setenv("GLT_NUM_THREADS", "several", 1);
  glt_init(0, NULL);
}

int main(void) {
  setenv("GLT_NUM_THREADS", "2", 1);
  for (size_t i = 0; i < ELEMENTS(k_misuses); ++i)
    expect(k_misuses[i].run, true, k_misuses[i].call, k_misuses[i].what, k_misuses[i].remedy);
  for (size_t i = 0; i < ELEMENTS(k_early); ++i)
    expect(k_early[i].run, false, k_early[i].call, "not initialised", "glt_init()");
#ifndef TEST_SANITIZER // with sanitizers no report came from a process that was forked
  setenv("WEFT_WATCH_HANG", "abort", 1);
  setenv("WEFT_WATCH_PATIENCE", "10ms", 1);
  expect_report(nothing_sets_the_future, "thread 'main'", "is blocked");
  expect_report(nothing_unlocks_the_mutex, "task 'ult' waits for mutex", "is held");
  expect_report(ults_wait_for_each_other, "task 'ult' waits for the end of task 'ult'",
                "these wait for each other");
#endif
  expect(wrong_number, false, "glt_init", "GLT_NUM_THREADS=several", "from 1 on");
  return end_of_checks();
}
