// SPDX-License-Identifier: Apache-2.0
// The functions of the header over another library: the cases of core_test.c that ask for no more than
// the libraries have in common, and what differs.
#define main main_of_core_test
#include "core_test.c"
#undef main

static void has_futures_alone(void) {
  CHECK(glt_can_future_functions() == 1);
  CHECK(glt_can_event_functions() == 0);
  CHECK(glt_can_manage_scheduler() == 0);
  CHECK(glt_can_malleability() == 0);
}

struct exchange {
  GLT_future question, answer;
};
static void answer(void *p) {
  struct exchange *e = p;
  void *value = NULL;
  glt_future_wait(e->question, &value);
  int doubled = 2 * *(int *)value;
  glt_future_set(e->answer, &doubled, sizeof doubled);
}
static void futures_have_values(void) {
  struct exchange e;
  glt_future_create(sizeof(int), &e.question);
  glt_future_create(sizeof(int), &e.answer);
  GLT_ult ult;
  glt_ult_create(answer, &e, &ult);
  int n = 21;
  void *value = NULL;
  glt_future_set(e.question, &n, sizeof n);
  glt_future_wait(e.answer, &value);
  CHECK(*(int *)value == 42);
  glt_ult_join(&ult);
  glt_future_free(&e.question);
  glt_future_free(&e.answer);
}

static void callbacks_are_known_and_never_called(void) {
  int first = 0, second = 0;
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, NULL, NULL, NULL, NULL, &first);
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, NULL, NULL, NULL, NULL, &second);
  CHECK(first != second);
  glt_thread_disable_id(glt_get_num_threads() - 1);
  glt_thread_enable_id(glt_get_num_threads() - 1);
  glt_event_del_callback(GLT_EVENT_STOP_THREAD, first);
}

int main(int argc, char *argv[]) {
  glt_start();
  glt_init(argc, argv);
  glt_init(argc, argv); // counts
  has_futures_alone();
  has_a_team();
  creates_and_joins();
  frees_wait_for_the_end();
  without_handles_they_run_as_well();
  exit_ends_a_ult();
  cancel_ends_a_ult();
  ults_create_ults();
  mutexes_exclude();
  trylock_says_whether_it_has();
  barriers_gather();
  conditions_wake();
  timers_measure();
#ifndef TEST_WORKERS_ALONE // another thread asks, too
  keys_have_a_value_per_ult();
#endif
  a_freed_key_destroys_nothing();
  futures_have_values();
  callbacks_are_known_and_never_called();
  glt_finalize();
  atomic_int ran = 0; // the end waits for all that is left, with handles and without
  GLT_ult ults[40];
  for (size_t i = 0; i < ELEMENTS(ults); ++i)
    glt_ult_create(create_more, &ran, i % 2 ? &ults[i] : NULL);
  glt_finalize();
  CHECK(ran == 3 * (int)ELEMENTS(ults));
  glt_end();
  return end_of_checks();
}
