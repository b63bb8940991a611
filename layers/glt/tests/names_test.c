// SPDX-License-Identifier: Apache-2.0
// The 77 functions of GLT: their names, which the library exports, and their types.
#include <glt.h>

#include "check.h"

#include <dlfcn.h>
#include <string.h>

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

typedef void (*body)(void *);

// FUNCTION(result, name, parameters)
#define CORE_FUNCTIONS                                                                             \
  FUNCTION(void, glt_start, (void))                                                                \
  FUNCTION(void, glt_end, (void))                                                                  \
  FUNCTION(void, glt_init, (int, char *[]))                                                        \
  FUNCTION(void, glt_finalize, (void))                                                             \
  FUNCTION(glt_team_t *, glt_get_team, (void))                                                     \
  FUNCTION(GLT_ult *, glt_ult_malloc, (int))                                                       \
  FUNCTION(GLT_tasklet *, glt_tasklet_malloc, (int))                                               \
  FUNCTION(void, glt_ult_create, (body, void *, GLT_ult *))                                        \
  FUNCTION(void, glt_ult_create_to, (body, void *, GLT_ult *, int))                                \
  FUNCTION(void, glt_tasklet_create, (body, void *, GLT_tasklet *))                                \
  FUNCTION(void, glt_tasklet_create_to, (body, void *, GLT_tasklet *, int))                        \
  FUNCTION(void, glt_yield, (void))                                                                \
  FUNCTION(void, glt_yield_to, (GLT_ult))                                                          \
  FUNCTION(void, glt_ult_join, (GLT_ult *))                                                        \
  FUNCTION(void, glt_tasklet_join, (GLT_tasklet *))                                                \
  FUNCTION(void, glt_ult_free, (GLT_ult *))                                                        \
  FUNCTION(void, glt_tasklet_free, (GLT_tasklet *))                                                \
  FUNCTION(void, glt_ult_get_id, (GLT_ult_id *, GLT_ult))                                          \
  FUNCTION(void, glt_workunit_get_thread_id, (GLT_thread_id *))                                    \
  FUNCTION(void, glt_ult_migrate_self_to, (GLT_thread_id))                                         \
  FUNCTION(void, glt_ult_self, (GLT_ult *))                                                        \
  FUNCTION(void, glt_tasklet_self, (GLT_tasklet *))                                                \
  FUNCTION(void, glt_ult_cancel, (GLT_ult))                                                        \
  FUNCTION(void, glt_tasklet_cancel, (GLT_tasklet))                                                \
  FUNCTION(void, glt_ult_exit, (void))                                                             \
  FUNCTION(void, glt_mutex_create, (GLT_mutex *))                                                  \
  FUNCTION(void, glt_mutex_lock, (GLT_mutex))                                                      \
  FUNCTION(void, glt_mutex_unlock, (GLT_mutex))                                                    \
  FUNCTION(void, glt_mutex_free, (GLT_mutex *))                                                    \
  FUNCTION(int, glt_mutex_trylock, (GLT_mutex))                                                    \
  FUNCTION(void, glt_mutex_spinlock, (GLT_mutex))                                                  \
  FUNCTION(void, glt_barrier_create, (int, GLT_barrier *))                                         \
  FUNCTION(void, glt_barrier_free, (GLT_barrier *))                                                \
  FUNCTION(void, glt_barrier_wait, (GLT_barrier *))                                                \
  FUNCTION(void, glt_cond_create, (GLT_cond *))                                                    \
  FUNCTION(void, glt_cond_free, (GLT_cond *))                                                      \
  FUNCTION(void, glt_cond_signal, (GLT_cond))                                                      \
  FUNCTION(void, glt_cond_wait, (GLT_cond, GLT_mutex))                                             \
  FUNCTION(void, glt_cond_broadcast, (GLT_cond))                                                   \
  FUNCTION(double, glt_get_wtime, (void))                                                          \
  FUNCTION(void, glt_timer_create, (GLT_timer *))                                                  \
  FUNCTION(void, glt_timer_free, (GLT_timer *))                                                    \
  FUNCTION(void, glt_timer_start, (GLT_timer))                                                     \
  FUNCTION(void, glt_timer_stop, (GLT_timer))                                                      \
  FUNCTION(void, glt_timer_get_secs, (GLT_timer, double *))                                        \
  FUNCTION(int, glt_get_thread_num, (void))                                                        \
  FUNCTION(int, glt_get_num_threads, (void))                                                       \
  FUNCTION(void, glt_key_create, (body, GLT_key *))                                                \
  FUNCTION(void, glt_key_free, (GLT_key *))                                                        \
  FUNCTION(void, glt_key_set, (GLT_key, void *))                                                   \
  FUNCTION(void, glt_key_get, (GLT_key, void **))                                                  \
  FUNCTION(int, glt_can_event_functions, (void))                                                   \
  FUNCTION(int, glt_can_future_functions, (void))                                                  \
  FUNCTION(int, glt_can_manage_scheduler, (void))                                                  \
  FUNCTION(int, glt_can_malleability, (void))

#define EXTENDED_FUNCTIONS                                                                         \
  FUNCTION(void, glt_scheduler_config_free, (GLT_sched_config *))                                  \
  FUNCTION(void, glt_scheduler_create,                                                             \
           (GLT_sched_def *, int, int *, GLT_sched_config, GLT_sched *))                           \
  FUNCTION(void, glt_scheduler_create_basic,                                                       \
           (GLT_sched_predef, int, int *, GLT_sched_config, GLT_sched *))                          \
  FUNCTION(void, glt_scheduler_free, (GLT_sched *))                                                \
  FUNCTION(void, glt_scheduler_finish, (GLT_sched))                                                \
  FUNCTION(void, glt_scheduler_exit, (GLT_sched))                                                  \
  FUNCTION(void, glt_scheduler_has_to_stop, (GLT_sched, GLT_bool *))                               \
  FUNCTION(void, glt_scheduler_set_data, (GLT_sched, void *))                                      \
  FUNCTION(void, glt_scheduler_get_data, (GLT_sched, void **))                                     \
  FUNCTION(void, glt_scheduler_get_size, (GLT_sched, size_t *))                                    \
  FUNCTION(void, glt_scheduler_get_total_size, (GLT_sched, size_t *))                              \
  FUNCTION(void, glt_get_error_str, (int, char *, size_t *))                                       \
  FUNCTION(void, glt_event_add_callbac,                                                            \
           (GLT_event_kind, GLT_event_cb_fn, void *, GLT_event_cb_fn, void *, int *))              \
  FUNCTION(void, glt_event_del_callback, (GLT_event_kind, int))                                    \
  FUNCTION(void, glt_future_create, (int, GLT_future *))                                           \
  FUNCTION(void, glt_future_free, (GLT_future *))                                                  \
  FUNCTION(void, glt_future_wait, (GLT_future, void **))                                           \
  FUNCTION(void, glt_future_set, (GLT_future, void *, int))                                        \
  FUNCTION(void, glt_thread_enable, (void))                                                        \
  FUNCTION(void, glt_thread_disable, (void))                                                       \
  FUNCTION(void, glt_thread_enable_id, (int))                                                      \
  FUNCTION(void, glt_thread_disable_id, (int))

// Each name with its type: the compiler refuses a function of another type.
#define FUNCTION(result, name, parameters) static result(*const typed_##name) parameters = &name;
CORE_FUNCTIONS
EXTENDED_FUNCTIONS
#undef FUNCTION

struct name {
  const char *name;
  void (*function)(void);
};
#define FUNCTION(result, name, parameters) {#name, (void (*)(void))typed_##name},
static const struct name k_core[] = {CORE_FUNCTIONS};
static const struct name k_extended[] = {EXTENDED_FUNCTIONS};
#undef FUNCTION

static void check_all(const struct name *names, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    void *found = dlsym(RTLD_DEFAULT, names[i].name);
    CHECK(found != NULL);
    CHECK(memcmp(&found, &names[i].function, sizeof found) == 0);
    for (size_t j = 0; j < i; ++j)
      CHECK(strcmp(names[i].name, names[j].name) != 0);
  }
}

// With the argument "list" it prints the names, one a line; the test of the symbols reads them.
int main(int argc, char *argv[]) {
  if (argc > 1 && strcmp(argv[1], "list") == 0) {
    for (size_t i = 0; i < ELEMENTS(k_core); ++i)
      puts(k_core[i].name);
    for (size_t i = 0; i < ELEMENTS(k_extended); ++i)
      puts(k_extended[i].name);
    return 0;
  }
  CHECK(ELEMENTS(k_core) == 55);
  CHECK(ELEMENTS(k_extended) == 22);
  check_all(k_core, ELEMENTS(k_core));
  check_all(k_extended, ELEMENTS(k_extended));
  return end_of_checks();
}
