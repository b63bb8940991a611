// SPDX-License-Identifier: Apache-2.0
// What each of the 22 extended functions does.
#include <weft/glt.h>

#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

// ---- futures ------------------------------------------------------------------------------------

struct promise {
  GLT_future future;
  atomic_int seen;
};
static void await(void *p) {
  struct promise *promise = p;
  void *value = NULL;
  glt_future_wait(promise->future, &value);
  CHECK(value != NULL && strcmp(value, "woven") == 0);
  atomic_fetch_add(&promise->seen, 1);
}
static void set_later(void *p) {
  struct promise *promise = p;
  char text[] = "woven";
  glt_yield();
  glt_future_set(promise->future, text, sizeof text);
  memset(text, 0, sizeof text); // the future has a copy
}
static void futures_have_values(void) {
  struct promise promise = {.seen = 0};
  GLT_ult ults[10], setter;
  glt_future_create(16, &promise.future);
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_create(await, &promise, &ults[i]);
  glt_ult_create(set_later, &promise, &setter);
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_join(&ults[i]);
  glt_ult_join(&setter);
  await(&promise); // it remains ready
  glt_future_wait(promise.future, NULL);
  CHECK(promise.seen == (int)ELEMENTS(ults) + 1);
  glt_future_free(&promise.future);
  CHECK(promise.future == GLT_NULL);

  GLT_future empty;
  void *value = &empty;
  glt_future_create(0, &empty);
  glt_future_set(empty, NULL, 0);
  glt_future_wait(empty, &value);
  CHECK(value == NULL);
  glt_future_free(&empty);
}

// ---- malleability and events --------------------------------------------------------------------

static void note_thread(void *p) { *(int *)p = glt_get_thread_num(); }
static int thread_of_next_to(int dest) {
  int thread = -1;
  GLT_ult ult;
  if (dest < 0)
    glt_ult_create(note_thread, &thread, &ult);
  else
    glt_ult_create_to(note_thread, &thread, &ult, dest);
  glt_ult_join(&ult);
  return thread;
}
static void disabled_threads_get_no_new_ults(void) {
  const int threads = glt_get_num_threads(), last = threads - 1;
  glt_thread_disable_id(last);
  if (threads == 1) { // the last enabled one remains
    CHECK(thread_of_next_to(last) == last);
    return;
  }
  for (int i = 0; i < 50; ++i) {
    CHECK(thread_of_next_to(-1) != last);
    CHECK(thread_of_next_to(last) != last);
    CHECK(thread_of_next_to(0) == 0);
  }
  glt_thread_disable_id(last); // it is disabled: nothing happens
  glt_thread_enable_id(last);
  glt_thread_enable_id(last);
  CHECK(thread_of_next_to(last) == last);
  for (int id = 0; id < threads; ++id)
    glt_thread_disable_id(id); // the last one remains
  for (int i = 0; i < 20; ++i)
    CHECK(thread_of_next_to(i % threads) == last && thread_of_next_to(-1) == last);
  for (int id = 0; id < threads; ++id)
    glt_thread_enable_id(id);
  CHECK(thread_of_next_to(0) == 0);
}

static void disable_and_enable_own(void *p) {
  const int own = glt_get_thread_num();
  glt_thread_disable();
  *(bool *)p = thread_of_next_to(own) != own;
  glt_ult_migrate_self_to(own); // disabled: it goes on elsewhere
  CHECK(glt_get_num_threads() == 1 || glt_get_thread_num() != own);
  glt_thread_enable_id(own);
}
static void a_ult_disables_its_own_thread(void) {
  bool elsewhere = false;
  GLT_ult ult;
  glt_ult_create_to(disable_and_enable_own, &elsewhere, &ult, glt_get_num_threads() - 1);
  glt_ult_join(&ult);
  CHECK(elsewhere == (glt_get_num_threads() > 1));
  glt_thread_disable(); // of thread 0, which calls
  CHECK(glt_get_num_threads() == 1 || thread_of_next_to(0) != 0);
  glt_thread_enable();
  CHECK(thread_of_next_to(0) == 0);
}

struct log {
  int asked, acted, last;
  GLT_bool agree;
};
static GLT_bool ask(void *p, void *thread) {
  struct log *l = p;
  ++l->asked;
  l->last = *(int *)thread;
  return l->agree;
}
static GLT_bool act(void *p, void *thread) {
  struct log *l = p;
  CHECK(l->asked > 0 || !l->agree);
  ++l->acted;
  l->last = *(int *)thread;
  return GLT_FALSE; // is ignored
}
static void events_ask_and_report(void) {
  const int last = glt_get_num_threads() - 1;
  if (last == 0)
    return;
  struct log stop = {.agree = GLT_TRUE}, add = {.agree = GLT_TRUE}, only_act = {.agree = GLT_FALSE};
  int ids[4];
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, ask, &stop, act, &stop, &ids[0]);
  glt_event_add_callback(GLT_EVENT_ADD_THREAD, ask, &add, act, &add, &ids[1]);
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, NULL, NULL, act, &only_act, &ids[2]);
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, NULL, NULL, NULL, NULL, &ids[3]);
  CHECK(ids[0] != ids[1] && ids[1] != ids[2] && ids[2] != ids[3] && ids[0] != ids[2]);
  glt_thread_disable_id(last);
  CHECK(stop.asked == 1 && stop.acted == 1 && stop.last == last && add.asked == 0);
  CHECK(only_act.acted == 1 && only_act.last == last);
  glt_thread_disable_id(last); // it is disabled: no event takes place
  CHECK(stop.asked == 1 && stop.acted == 1 && only_act.acted == 1);
  glt_thread_enable_id(last);
  CHECK(add.asked == 1 && add.acted == 1 && add.last == last && stop.asked == 1);

  stop.agree = GLT_FALSE; // it refuses
  glt_thread_disable_id(last);
  CHECK(stop.asked == 2 && stop.acted == 1 && only_act.acted == 1);
  CHECK(thread_of_next_to(last) == last);

  glt_event_del_callback(GLT_EVENT_STOP_THREAD, ids[0]);
  glt_thread_disable_id(last);
  CHECK(stop.asked == 2 && stop.acted == 1 && only_act.acted == 2);
  glt_thread_enable_id(last);
  glt_event_del_callback(GLT_EVENT_ADD_THREAD, ids[1]);
  glt_event_del_callback(GLT_EVENT_STOP_THREAD, ids[2]);
  glt_event_del_callback(GLT_EVENT_STOP_THREAD, ids[3]);
  CHECK(add.asked == 2);
}

static GLT_bool refuse(void *p, void *thread) {
  (void)thread;
  ++*(int *)p;
  return GLT_FALSE;
}
static void a_session_begins_with_all_threads(void) {
  const int last = glt_get_num_threads() - 1;
  if (last == 0)
    return;
  int asked = 0, id;
  glt_thread_disable_id(last);
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, refuse, &asked, NULL, NULL, &id);
  glt_finalize();
  glt_init(0, NULL);
  CHECK(thread_of_next_to(last) == last);
  glt_thread_disable_id(last);
  CHECK(asked == 0 && thread_of_next_to(last) != last);
  glt_thread_enable_id(last);
}

// There are 63 sets of workers. A change that asks for another one is left out, with a note.
static void more_combinations_than_sets(void) {
  const int threads = glt_get_num_threads();
  if (threads < 7)
    return;
  struct log stop = {.agree = GLT_TRUE};
  int id_of_callback, left_out = 0;
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, ask, &stop, act, &stop, &id_of_callback);
  for (int on = 1; on < 1 << 7; ++on) { // each combination of seven threads
    for (int id = 0; id < 7; ++id)
      if (on & 1 << id) {
        glt_thread_enable_id(id);
        left_out += thread_of_next_to(id) != id;
      }
    for (int id = 0; id < 7; ++id)
      if (!(on & 1 << id)) {
        struct log before = stop;
        glt_thread_disable_id(id);
        if (stop.asked > before.asked && stop.acted == before.acted) {
          ++left_out;
          before = stop;
          glt_thread_disable_id(id); // it is enabled still, and so is asked for again
          CHECK(stop.asked == before.asked + 1 && stop.acted == before.acted);
        }
      }
    CHECK(thread_of_next_to(-1) < threads);
  }
  CHECK(left_out > 0);
  for (int id = 0; id < threads; ++id)
    glt_thread_enable_id(id);
  glt_finalize(); // a session begins with all threads, whatever became of the last changes
  glt_init(0, NULL);
  CHECK(thread_of_next_to(0) == 0);
}

#ifndef TEST_SANITIZER // ThreadSanitizer ends such a child
// As a child does that begins anew: returns whether it disables and enables the last thread.
static bool has_its_own_threads(int last) {
  glt_init(0, NULL);
  bool right = thread_of_next_to(last) == last;
  glt_thread_disable_id(last);
  right = right && thread_of_next_to(last) != last && thread_of_next_to(-1) != last;
  glt_thread_enable_id(last);
  right = right && thread_of_next_to(last) == last;
  glt_finalize();
  return right;
}
static void a_forked_child_has_all_threads(void) {
  const int last = glt_get_num_threads() - 1;
  if (last == 0)
    return;
  int asked = 0, id;
  glt_thread_disable_id(last);
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, refuse, &asked, NULL, NULL, &id);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);
    _exit(has_its_own_threads(last) ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(thread_of_next_to(last) != last && asked == 0);
  glt_event_del_callback(GLT_EVENT_STOP_THREAD, id);
  glt_thread_enable_id(last);
}

struct registrations {
  atomic_bool end;
  atomic_int done;
};
static void *register_callbacks(void *p) {
  struct registrations *r = p;
  while (!atomic_load(&r->end)) {
    int ids[20];
    for (size_t i = 0; i < ELEMENTS(ids); ++i)
      glt_event_add_callbac(GLT_EVENT_ADD_THREAD, NULL, NULL, NULL, NULL, &ids[i]);
    for (size_t i = 0; i < ELEMENTS(ids); ++i)
      glt_event_del_callback(GLT_EVENT_ADD_THREAD, ids[i]);
    atomic_fetch_add(&r->done, 1);
  }
  return NULL;
}
// The lock of the callbacks may be held as the process forks.
static void a_forked_child_has_its_own_callbacks(void) {
  struct registrations r = {.done = 0};
  pthread_t thread;
  pthread_create(&thread, NULL, register_callbacks, &r);
  while (atomic_load(&r.done) == 0)
    usleep(100);
  for (int i = 0; i < 60; ++i) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(60);
      glt_init(0, NULL);
      int id;
      glt_event_add_callbac(GLT_EVENT_ADD_THREAD, NULL, NULL, NULL, NULL, &id);
      glt_event_del_callback(GLT_EVENT_ADD_THREAD, id);
      _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  atomic_store(&r.end, true);
  pthread_join(thread, NULL);
}
#else
static void a_forked_child_has_all_threads(void) {}
static void a_forked_child_has_its_own_callbacks(void) {}
#endif

// ---- schedulers ---------------------------------------------------------------------------------

static int never_init(GLT_sched sched, GLT_sched_config config) {
  (void)sched;
  (void)config;
  CHECK(!"Weft calls a function of a scheduler");
  return 0;
}
static void never_run(GLT_sched sched) {
  (void)sched;
  CHECK(!"Weft calls a function of a scheduler");
}
static int never_free(GLT_sched sched) {
  (void)sched;
  CHECK(!"Weft calls a function of a scheduler");
  return 0;
}

static void configurations_keep_what_they_are_given(void) {
  const GLT_sched_config_var i = {0, GLT_SCHED_CONFIG_INT}, d = {1, GLT_SCHED_CONFIG_DOUBLE},
                             p = {63, GLT_SCHED_CONFIG_PTR};
  GLT_sched_config config;
  int integer = 0;
  double real = 0;
  CHECK(glt_scheduler_config_create(&config, d, 2.5, i, 7, p, &config, GLT_sched_config_var_end) ==
        GLT_SUCCESS);
  CHECK(glt_scheduler_config_read(config, 2, &integer, &real) == GLT_SUCCESS);
  CHECK(integer == 7 && real == 2.5);
  CHECK(glt_scheduler_config_read(config, 2, (void *)NULL, &real) == GLT_SUCCESS);
  glt_scheduler_config_free(&config);
  CHECK(config == GLT_NULL);

  CHECK(glt_scheduler_config_create(&config, d, 3.5, GLT_sched_config_var_end) == GLT_SUCCESS);
  integer = -1;
  glt_scheduler_config_read(config, 2, &integer, &real);
  CHECK(integer == -1 && real == 3.5); // not given: as it was
  glt_scheduler_config_free(&config);
  CHECK(glt_scheduler_config_create(&config, GLT_sched_config_var_end) == GLT_SUCCESS);
  glt_scheduler_config_free(&config);

  const GLT_sched_config_var below = {-2, GLT_SCHED_CONFIG_INT}, above = {64, GLT_SCHED_CONFIG_INT},
                             odd = {0, (GLT_sched_config_type)3};
  CHECK(glt_scheduler_config_create(&config, below, 1, GLT_sched_config_var_end) ==
        GLT_ERR_INV_SCHED_CONFIG);
  CHECK(config == GLT_NULL);
  CHECK(glt_scheduler_config_create(&config, above, 1, GLT_sched_config_var_end) ==
        GLT_ERR_INV_SCHED_CONFIG);
  CHECK(glt_scheduler_config_create(&config, odd, 1, GLT_sched_config_var_end) ==
        GLT_ERR_INV_SCHED_CONFIG);
}

static void schedulers_have_data_alone(void) {
  GLT_sched_def def = {GLT_SCHED_TYPE_ULT, never_init, never_run, never_free, NULL};
  GLT_sched user, basic;
  int ids[] = {0};
  glt_scheduler_create(&def, 1, ids, GLT_NULL, &user);
  glt_scheduler_create_basic(GLT_SCHED_PRIO, 0, NULL, GLT_NULL, &basic);
  CHECK(user != basic);
  void *data = &def;
  glt_scheduler_get_data(user, &data);
  CHECK(data == NULL);
  glt_scheduler_set_data(user, &user);
  glt_scheduler_set_data(basic, &basic);
  glt_scheduler_get_data(user, &data);
  CHECK(data == &user);
  GLT_bool stop = 7;
  size_t size = 7;
  glt_scheduler_has_to_stop(user, &stop);
  CHECK(stop == GLT_FALSE);
  glt_scheduler_finish(user);
  glt_scheduler_has_to_stop(user, &stop);
  CHECK(stop == GLT_TRUE);
  glt_scheduler_has_to_stop(basic, &stop);
  CHECK(stop == GLT_FALSE);
  glt_scheduler_exit(basic);
  glt_scheduler_has_to_stop(basic, &stop);
  CHECK(stop == GLT_TRUE);
  glt_scheduler_get_size(user, &size);
  CHECK(size == 0);
  size = 7;
  glt_scheduler_get_total_size(user, &size);
  CHECK(size == 0);
  glt_scheduler_free(&user);
  glt_scheduler_free(&basic);
  CHECK(user == GLT_NULL && basic == GLT_NULL);
  glt_schededuler_create_basic(GLT_SCHED_DEFAULT, 1, ids, GLT_NULL, &basic); // as new
  glt_scheduler_get_data(basic, &data);
  glt_scheduler_has_to_stop(basic, &stop);
  CHECK(data == NULL && stop == GLT_FALSE);
  glt_scheduler_free(&basic);
}

// ---- errors -------------------------------------------------------------------------------------

static void codes_have_names(void) {
  const struct {
    int code;
    const char *name;
  } known[] = {{GLT_SUCCESS, "GLT_SUCCESS"},
               {GLT_ERR_MUTEX_LOCKED, "GLT_ERR_MUTEX_LOCKED"},
               {GLT_ERR_INV_SCHED_CONFIG, "GLT_ERR_INV_SCHED_CONFIG"},
               {-1, "unknown"},
               {3, "unknown"}};
  for (size_t i = 0; i < ELEMENTS(known); ++i) {
    char text[64];
    size_t length = 0;
    glt_get_error_str(known[i].code, NULL, &length);
    CHECK(length == strlen(known[i].name));
    memset(text, '?', sizeof text);
    glt_get_error_str(known[i].code, text, NULL);
    CHECK(strcmp(text, known[i].name) == 0);
  }
}

int main(int argc, char *argv[]) {
  codes_have_names();
  glt_init(argc, argv);
  futures_have_values();
  disabled_threads_get_no_new_ults();
  a_ult_disables_its_own_thread();
  events_ask_and_report();
  a_session_begins_with_all_threads();
  a_forked_child_has_all_threads();
  a_forked_child_has_its_own_callbacks();
  configurations_keep_what_they_are_given();
  schedulers_have_data_alone();
  more_combinations_than_sets(); // the last: no further set is left
  glt_finalize();
  return end_of_checks();
}
