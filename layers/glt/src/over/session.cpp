// SPDX-License-Identifier: Apache-2.0
// glt_init() to glt_finalize() over another library.
#include "../session.hpp"

#include "unit.hpp"

#include <weft/glt.h>
#include <weft/layer/environment.hpp>

#include <algorithm>
#include <cstdlib>

namespace weft_glt {

namespace {

glt_team_t g_team;
std::atomic<int> g_last_callback{0};

int threads_asked_for() {
  const char *const text = weft::layer::environment("GLT_NUM_THREADS");
  if (!text)
    return std::max(1, weft::layer::effective_cpus());
  const int n = std::atoi(text);
  if (n < 1)
    misuse("glt_init", "GLT_NUM_THREADS=%s is not a number of threads; set a number from 1 on",
           text);
  return n;
}

void say_once(const char *call) noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true, std::memory_order_relaxed))
    note(call, "%s enables and disables no threads; ask glt_can_malleability() first",
         library::k_name);
}

} // namespace

std::atomic<int> &sessions() noexcept {
  static std::atomic<int> count{0};
  return count;
}

void refuse_without_session(const char *call) noexcept {
  misuse(call, "GLT is not initialised; call glt_init() first, and glt_finalize() last");
}

int thread_count() noexcept { return g_team.num_workers; }
int thread_number() { return library::thread() % g_team.num_workers; }

void require_thread(const char *call, int number) noexcept {
  if (number < 0 || number >= g_team.num_workers) [[unlikely]]
    misuse(call, "there is no thread %d; pass a number from 0 to %d (glt_get_num_threads() - 1)",
           number, g_team.num_workers - 1);
}

} // namespace weft_glt

using namespace weft_glt;

void glt_start(void) {}
void glt_end(void) {}

void glt_init(int, char *[]) {
  in_weft("glt_init", [] {
    if (sessions().load(std::memory_order_relaxed) == 0) {
      const int asked = threads_asked_for();
      g_team.num_workers = library::begin(asked);
      if (g_team.num_workers < 1)
        misuse("glt_init", "%s cannot start %d threads; set GLT_NUM_THREADS to fewer",
               library::k_name, asked);
      g_team.max_workers = weft::layer::effective_cpus();
      begin_unit_of_program();
    }
    sessions().fetch_add(1, std::memory_order_relaxed);
  });
}

void glt_finalize(void) {
  require_session("glt_finalize");
  if (this_unit() && this_unit()->kind.load(std::memory_order_relaxed) != unit_kind::thread)
    misuse("glt_finalize", "called by a ULT or tasklet, which it would wait for; call it in the "
                           "code that has called glt_init()");
  if (sessions().load(std::memory_order_relaxed) == 1)
    in_weft("glt_finalize", [] {
      wait_for_all_units();
      end_unit_of_program();
      library::end();
    });
  sessions().fetch_sub(1, std::memory_order_relaxed);
}

glt_team_t *glt_get_team(void) {
  require_session("glt_get_team");
  return &g_team;
}

int glt_get_thread_num(void) {
  require_session("glt_get_thread_num");
  return thread_number();
}

int glt_get_num_threads(void) {
  require_session("glt_get_num_threads");
  return thread_count();
}

void glt_workunit_get_thread_id(GLT_thread_id *id) {
  require_session("glt_workunit_get_thread_id");
  require("glt_workunit_get_thread_id", id, "id");
  *id = thread_number();
}

int glt_can_event_functions(void) { return 0; }
int glt_can_future_functions(void) { return 1; }
int glt_can_manage_scheduler(void) { return 0; }
int glt_can_malleability(void) { return 0; }

void glt_thread_enable(void) {
  require_session("glt_thread_enable");
  say_once("glt_thread_enable");
}
void glt_thread_disable(void) {
  require_session("glt_thread_disable");
  say_once("glt_thread_disable");
}
void glt_thread_enable_id(int thread_id) {
  require_session("glt_thread_enable_id");
  require_thread("glt_thread_enable_id", thread_id);
  say_once("glt_thread_enable_id");
}
void glt_thread_disable_id(int thread_id) {
  require_session("glt_thread_disable_id");
  require_thread("glt_thread_disable_id", thread_id);
  say_once("glt_thread_disable_id");
}

// There are no events, so the callbacks are never called.
void glt_event_add_callbac(GLT_event_kind, GLT_event_cb_fn, void *, GLT_event_cb_fn, void *,
                           int *cb_id) {
  require_session("glt_event_add_callbac");
  require("glt_event_add_callbac", cb_id, "cb_id");
  *cb_id = g_last_callback.fetch_add(1, std::memory_order_relaxed) + 1;
}
void glt_event_del_callback(GLT_event_kind event, int cb_id) {
  require_session("glt_event_del_callback");
  if (cb_id < 1 || cb_id > g_last_callback.load(std::memory_order_relaxed))
    misuse("glt_event_del_callback",
           "event %d has no callback %d; pass the number that glt_event_add_callbac() returned",
           static_cast<int>(event), cb_id);
}
