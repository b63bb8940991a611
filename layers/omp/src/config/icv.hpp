// SPDX-License-Identifier: Apache-2.0
// Internal control variables: what OMP_* variables and omp_set_*() say.
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

/// num_threads(a, b, ...): of regions at level `first` and below; the last number holds for all that follow. Kept for ever.
struct level_list {
  unsigned first = 0;
  std::vector<int> threads;
};

/// Each task has its own: shared with the task that made it until one of them is changed.
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

/// Of the process.
struct globals {
  icvs initial;
  std::vector<int> threads_by_level; // OMP_NUM_THREADS, further levels
  std::vector<int> bind_by_level;
  std::vector<place> places;
  std::string places_kind; // what OMP_PLACES says, where that is an abstract name
  bool resets_binding = false; // KMP_AFFINITY=reset: behind a region the initial thread goes where it was
  std::size_t stack_bytes = std::size_t{8} << 20;
  std::size_t stack_bytes_set = 0; // OMP_STACKSIZE; 0: none
  int cpus = 1; // asked for once, when the library is loaded: a barrier must leave errno alone
  int spins = 2000;
  unsigned long long spin_count = 300000; // GOMP_SPINCOUNT, as said
  int block_time = 200;                   // KMP_BLOCKTIME, as said, in ms
  int wait_policy = -1;                   // 1: active
  int most_levels = INT_MAX;
  int max_task_priority = 0;
  relaxed_value<std::size_t> most_tasks{1024}; // that are ready with a thread: beyond, it runs one for each that it makes
  unsigned helper_numbers = 0; // from 1 on, kept for LLVM's hidden helpers; 0: there are none
  int helper_bind = k_bind_false; // KMP_HIDDEN_HELPER_AFFINITY: close or spread over their places
  std::vector<place> helper_places;
  int helper_levels = -1; // ... verbose: inner levels of the machine that they may move over; -1: they tell nothing
  int teams = 0;
  unsigned teams_thread_limit = 0;
  int teams_bind = k_bind_spread; // KMP_TEAMS_PROC_BIND
  bool cancellation = false;
  bool display_affinity = false;
  int target_offload = 0; // 0 default, 1 mandatory, 2 disabled
  int display = 0;        // OMP_DISPLAY_ENV: 1 true, 2 verbose
  int debug = 0;          // GOMP_DEBUG
  std::string affinity_format = "level %L thread %i affinity %A";
};
extern globals g_globals;

/// Cpus that OpenMP may use.
[[nodiscard]] inline int effective_cpus() noexcept { return g_globals.cpus; }

/// The ICVs of the calling thread's task; to be changed: its own copy.
[[nodiscard]] const icvs &my_icvs() noexcept;
[[nodiscard]] icvs &own_icvs() noexcept;

/// Reads it where that has not been done.
void load_environment() noexcept;
/// The same for the setting omp.cutoff, when the first task is made: Weft's settings may be said by the program. With the kernel thread's block.
void know_cutoff() noexcept;
void print_environment(bool verbose) noexcept;
/// KMP_SETTINGS: what the user said, and what holds.
void print_settings() noexcept;
/// OMP_PLACES. False: it cannot be read. `missing`: a cpu that is named and the machine has not; unchanged: none.
bool parse_places(const char *text, std::vector<place> &into, int *missing = nullptr);
/// The abstract name that a text begins with; null: none.
[[nodiscard]] const char *places_kind(const char *text) noexcept;

} // namespace weft_omp
