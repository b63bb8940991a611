// SPDX-License-Identifier: Apache-2.0
// fork(): what the child may use, and what it must forget.
#include "worker/fork.hpp"
#include "base/error.hpp"
#include "base/leak.hpp"
#include "base/log.hpp"
#include "config/process.hpp"
#include "deps/check.hpp"
#include "deps/sharing/cohort.hpp"
#include "diagnose/external.hpp"
#include "diagnose/outside.hpp"
#include "mem/overflow.hpp"
#include "observe/hardware.hpp"
#include "observe/store.hpp"
#include "observe/user_counter.hpp"
#include "os/program_mask.hpp"
#include "publish/publish.hpp"
#include "publish/reporting.hpp"
#include "services/dispatcher.hpp"
#include "sync/lock_table.hpp"
#include "task/parent_process.hpp"
#include "task/pending.hpp"
#include "task/spawn_site.hpp"
#include "task/groups/thread_groups.hpp"
#include "task/tracing.hpp"
#include "task/wait/listed_states.hpp"
#include "trace/session.hpp"
#include "tune/knobs.hpp"
#include "tune/policies.hpp"
#include "worker/functions.hpp"
#include "worker/last_thread.hpp"
#include "worker/phase.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace weft::inline v0 {
namespace rt {
namespace {

const layer::carrier_calls *g_held_in_fork = nullptr; // of the start lock, which guards it

void before_fork() {
  g_held_in_fork = take_start_lock();
  services_before_fork();
  policies_before_fork();
  knobs_before_fork();
  lock_settings();
  store_before_fork();
  sync_before_fork();
  states_before_fork();
  groups_before_fork();
}

void after_fork_in_parent() {
  groups_after_fork();
  states_after_fork();
  sync_after_fork();
  store_after_fork();
  unlock_settings();
  knobs_after_fork_in_parent();
  policies_after_fork_in_parent();
  services_after_fork_in_parent();
  give_back_start_lock(g_held_in_fork);
}

char g_forking_task[64]; // in a process that was forked inside of a task: the label of the task

} // namespace

void refuse_forked_task() noexcept {
  fatal(
      "Weft is used in a process that was forked inside of task '%s'; there it may only exec or _exit. Fork outside of tasks to "
      "use Weft in the child",
      g_forking_task);
}

namespace {

/// Forbids all use of Weft in the child of a task. It has the task's stack, but no caller to return
/// to. Whatever it does with Weft ends in a fault of this range.
void forbid_all_use(const thread_context &e) {
  const char *label = e.current ? label_of(*e.current) : "service";
  std::strncpy(g_forking_task, label, sizeof g_forking_task - 1);
  g_phase.store(phase::forked_in_task, std::memory_order_relaxed);
  constexpr std::size_t k_bytes =
      (std::max(sizeof(worker), sizeof(runtime)) + 4095) & ~std::size_t{4095};
  void *nowhere =
      mmap(nullptr, k_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (nowhere == MAP_FAILED)
    refuse_forked_task();
  set_forbidden_range(nowhere, k_bytes, &refuse_forked_task);
  set_this_thread_context(static_cast<thread_context *>(nowhere));
  g_runtime = static_cast<runtime *>(nowhere);
}

/// Labels the tasks of the parent process. A thread that waits for one of them, or would continue
/// one, recognizes it by the label.
void disown_tasks(const runtime &rt) noexcept {
  const unsigned used = rt.used_slots.load(std::memory_order_relaxed); // alone
  for (unsigned id = 0; id < used; ++id)
    if (worker *w = rt.slots[id].load(std::memory_order_relaxed))
      w->root.label = k_parent_process;
}

/// Forgets the external threads in the child. All but perhaps one have ended; its layer knows
/// which.
void forget_external_threads_in_child() {
  suspended_external_threads().store(0, std::memory_order_relaxed); // a hint
  known_external_threads().visit(
      [](layer::external_thread &g) { g.tid.store(0, std::memory_order_relaxed); });
  const int own = this_thread_id(); // the layer may have entered it
  known_pool_threads().visit([own](layer::pool_thread &other) {
    if (other.tid.load(std::memory_order_relaxed) != own)
      other.tid.store(0, std::memory_order_relaxed);
  });
}

void forget_parent() {
  give_back_start_lock(g_held_in_fork); // the thread that forked holds it
  forget_groups_in_child();
  forget_states_in_child();
  sync_after_fork();
  store_after_fork();
  forget_store_in_child();
  forget_trace_in_child();
  forget_publisher_in_child();
  forget_reporting_in_child();
  forget_hardware_in_child();
  forget_external_threads_in_child();
  forget_layer_threads_in_child();
  forget_external_reports_in_child();
  forget_outside_waits_in_child();
  unlock_settings();
  knobs_after_fork_in_child();
  policies_after_fork_in_child();
  services_after_fork_in_child();
  forget_functions_after_fork();
  worker *w = this_worker_or_null();
  const bool again = g_phase.load(std::memory_order_relaxed) == phase::forked_in_task;
  forget_heaps_in_child();
  forget_stacks_in_child();
  forget_pending_in_child();
  forget_spawn_sites_in_child();
  forget_objects_in_child();
  forget_turns_in_child();
  if (again)
    return;
  if (g_runtime)
    disown_tasks(*g_runtime);
  ignore_leak(g_runtime);
  g_runtime = nullptr; // the threads are gone; what they held is not freed
  if (w && (w->pool_stack || w->current != &w->root || !w->joins.empty()))
    return forbid_all_use(*w);
  if (g_phase.load(std::memory_order_relaxed) == phase::running)
    g_phase.store(phase::not_started, std::memory_order_relaxed);
  set_this_thread_context(nullptr);
}

void after_fork_in_child() {
  forget_parent();
  take_program_mask_in_child(); // from here on a handler of the program may run
}

// When the library is loaded: handlers that are registered while another thread forks may not be
// called in that child.
[[maybe_unused]] const int g_fork_is_handled =
    pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);

} // namespace

} // namespace rt
} // namespace weft::inline v0
