// SPDX-License-Identifier: Apache-2.0
// Internal control variables (ICVs): the values that OMP_* variables and omp_set_*() set.
#pragma once

#include "sync/atomics.hpp"

#include <weft/layer/environment.hpp>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft_omp {

enum schedule_kind : int {
  k_runtime = 0,
  k_static = 1,
  k_dynamic = 2,
  k_guided = 3,
  k_auto = 4,
  k_trapezoidal = 101
}; // omp_sched_t but for k_runtime
inline constexpr unsigned k_monotonic = 0x80000000u;

enum bind_kind : int { k_bind_false, k_bind_true, k_bind_primary, k_bind_close, k_bind_spread };

/// Holds the numbers of num_threads(a, b, ...), for regions at level `first` and deeper. The last
/// number is for all deeper levels.
/// A list is never freed.
struct level_list {
  unsigned first = 0;
  std::vector<int> threads;
};

/// Holds the ICVs of a task. A task shares them with its creator until one of the two changes them.
struct icvs {
  int threads = 1;
  unsigned thread_limit = UINT_MAX;
  int active_levels = 1;
  int schedule = k_dynamic;
  unsigned schedule_modifier = 0; // k_monotonic
  long chunk = 1;
  int bind = k_bind_false;
  int device = 0;
  std::uintptr_t allocator = 1;
  bool dynamic = false;
  const level_list *levels = nullptr; // of a num_threads clause; else OMP_NUM_THREADS holds
};

using place = std::vector<int>; // cpus

/// Holds the settings of the process.
struct globals {
  icvs initial;
  std::vector<int> threads_by_level; // OMP_NUM_THREADS, further levels
  std::vector<int> bind_by_level;
  std::vector<place> places;
  std::string places_kind; // OMP_PLACES, if it is an abstract name
  bool resets_binding =
      false; // KMP_AFFINITY=reset: after a region the initial thread returns to its former cpus
  std::size_t stack_bytes = std::size_t{8} << 20;
  std::size_t stack_bytes_set = 0; // OMP_STACKSIZE; 0: none
  int cpus = 1; // read once, when the library is loaded, because a barrier must leave errno alone
  int spins = 2000;
  unsigned long long spin_count = 300000; // GOMP_SPINCOUNT, as the user wrote it
  int block_time = 200; // KMP_BLOCKTIME, as the user wrote it, in ms
  int wait_policy = -1; // 1: active
  int most_levels = INT_MAX;
  int max_task_priority = 0;
  relaxed_value<std::size_t> most_tasks{
      1024}; // the cut-off: with more ready tasks, a thread runs one for each that it makes
  unsigned helper_numbers =
      0; // thread numbers from 1 on that are reserved for LLVM's hidden helpers; 0: there are none
  int helper_bind = k_bind_false; // KMP_HIDDEN_HELPER_AFFINITY: close or spread over their places
  std::vector<place> helper_places;
  int helper_levels =
      -1; // ... verbose: inner levels of the machine that helpers may move over; -1: they print nothing
  int teams = 0;
  unsigned teams_thread_limit = 0;
  int teams_bind = k_bind_spread; // KMP_TEAMS_PROC_BIND
  bool cancellation = false;
  bool display_affinity = false;
  int target_offload = 0; // 0 default, 1 mandatory, 2 disabled
  int display = 0; // OMP_DISPLAY_ENV: 1 true, 2 verbose
  int debug = 0; // GOMP_DEBUG
  std::string affinity_format = "level %L thread %i affinity %A";
};
/// Holds them without ever destroying them: members of teams may run, and destructors of other libraries may ask, while the
/// process ends.
union lasting_globals {
  globals all;
  lasting_globals() : all() {}
  ~lasting_globals() {}
};
extern lasting_globals g_lasting_globals;
inline constexpr globals &g_globals = g_lasting_globals.all;

/// Returns the number of cpus that OpenMP may use.
[[nodiscard]] inline int effective_cpus() noexcept { return g_globals.cpus; }

/// Reads the environment at the first call.
void load_environment() noexcept;
/// Reads the setting omp.cutoff when the first task is made, because the program may set Weft's
/// settings until then.
/// Called with the kernel thread's block.
void know_cutoff() noexcept;

} // namespace weft_omp
