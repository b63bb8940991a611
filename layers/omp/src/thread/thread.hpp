// SPDX-License-Identifier: Apache-2.0
// An OpenMP thread: a thread of the program, or a lightweight thread, which this layer or another
// door has started. <weft_threads/thread/thread_record.hpp> has what all doors know of a thread.
//
// User code, and this layer outside in_core(), run with the OpenMP thread's block; t_self is in it.
#pragma once

#include "config/icv.hpp"
#include "config/message.hpp"
#include "sync/spin.hpp"
#include "thread/task_pool.hpp"
#include "workshare/static_steal.hpp"

#include <weft/layer/thread.hpp>
#include <weft_threads/thread/thread_record.hpp>

#include <cstdint>

namespace weft_omp {

struct omp_team;
struct omp_task;
struct workshare;
struct thread;

/// A thread's own part of its worksharing regions.
struct workshare_state {
  workshare *current = nullptr;
  std::uint64_t entered = 0; // regions so far
  std::uint64_t singles = 0; // single regions so far
  std::uint64_t trip = 0; // static chunks so far
  std::uint64_t first = 0, end = 0; // iterations of the chunk that runs
  chunk_range *range = nullptr; // of a static_steal loop, once the member has asked for a chunk
  workshare *nest =
      nullptr; // of LLVM's doacross loops; nest_shape: first value, last, step of each dimension
  std::int64_t *nest_shape = nullptr;
  bool has_chunk = false;
  bool ordered = false; // of LLVM's loops
};

/// Where a thread runs: its place, the partition over which its regions spread, and the cpus to
/// which it is bound.
struct thread_placement {
  int place = -1; // number, from 0
  unsigned first = 0, count = 0; // places; none: all
  relaxed_value<const std::vector<int> *>
      cpus; // null: any. A late reader may see those of the next region
};

/// The placement that a thread displayed last.
struct displayed_placement {
  unsigned level = 0, threads = 0;
  int place = -1;
  bool operator==(const displayed_placement &) const = default;
};

/// What clauses ask of LLVM's next region.
struct asked_region {
  unsigned threads = 0, bind = 0, teams = 0, limit = 0;
  const level_list *levels = nullptr;
  bool strict = false,
       strict_is_fatal = false; // num_threads(strict: n): checked when the region begins
  const char *strict_message = nullptr;
};

/// What each member of a region runs: a function of the program, called as its compiler has it.
struct region_body {
  void (*call)(const region_body &) = nullptr;
  void (*f)() = nullptr;
  void *arguments = nullptr;
  unsigned count = 0; // of LLVM's

  region_body() = default;
  region_body(void (*how)(const region_body &), void (*what)(), void *with, unsigned n) noexcept
      : call(how), f(what), arguments(with), count(n) {}
  /// Makes a body as GCC compiles it.
  region_body(void (*what)(void *), void *data) noexcept
      : call(&call_with_data), f(reinterpret_cast<void (*)()>(what)), arguments(data) {}
  void operator()() const { call(*this); }

 private:
  static void call_with_data(const region_body &body) {
    reinterpret_cast<void (*)(void *)>(body.f)(body.arguments);
  }
};

/// The data that each thread begins with anew, also when a thread that has ended left it the rest.
struct thread_state {
  omp_team *team = nullptr;
  omp_task *task = nullptr;
  unsigned number = 0;
  workshare_state workshare;
  chunk_pace pace; // in the current static_steal loop
  thread_placement placement;
  displayed_placement displayed;
  unsigned teams = 1, teams_number = 0; // of a teams region
  omp_team *hot = nullptr; // of regions that this thread, as a member, begins
  omp_team *serves = nullptr; // of a member: the team for which it was started
  std::uint64_t regions = 0; // of a member: what it knows of the team's mailbox
  void (*life)(thread &) = nullptr; // of a lightweight thread of this layer
  asked_region asked;
  const omp_task *hosted = nullptr; // stands for a task of Weft's own, of a thread that hosts it
  std::uint64_t number_of_hosted = 0; // which no other task of Weft's has
};

/// What this layer keeps of a thread beside its record.
struct thread_part : thread_state {
  std::uint32_t gtid = 0; // LLVM's global thread id
  thread *next_free = nullptr;
  void *watched = nullptr; // what tool/ keeps of the thread
  record_pool pool;
  relaxed_value<const void *> idle; // the team at whose barrier it sleeps: barrier_words.hpp
};

/// An OpenMP thread: a record with this layer's part behind it. It is never freed: a thread that
/// ends leaves it to a later thread (team.hpp).
/// A lightweight thread's record may be older than its part (adopt() in thread.cpp).
struct thread : thread_record, thread_part {
  using thread_part::next_free;
};
static_assert(sizeof(thread) <= k_record_bytes);

inline thread *self_or_null() noexcept {
  thread *const t = static_cast<thread *>(t_self);
  return t && stack_pointer() - t->stack_low < t->stack_bytes ? t : nullptr;
}
[[gnu::cold]] thread &find_self() noexcept;
inline thread &self() noexcept {
  thread *const t = self_or_null();
  return t ? *t : find_self();
}
/// Returns the thread that runs here, but makes none. Null: OpenMP has not been used here.
[[nodiscard]] thread *self_if_any() noexcept;
/// Returns the data of the process, after the environment has been read. For callers that need
/// nothing of their own thread.
inline globals &of_process() noexcept {
  (void)self();
  return g_globals;
}

/// Starts a lightweight thread, as a member of a team or not. `gtid`: 0 for the next number.
/// Returns null if it cannot; a warning has given the reason.
thread *start_light_thread(thread &me, void (*life)(thread &), std::uint32_t gtid = 0,
                           omp_team *team = nullptr, unsigned number = 0) noexcept;

/// Begins a thread that stands for a task of Weft's own, which runs on the stack.
thread &begin_host(const weft::layer::stack_range &stack) noexcept;
/// Ends it, when the task's body is over, and leaves its data to a later task.
void end_host(thread &host) noexcept;

/// Returns how often a thread of this team looks before it parks.
int spins_for(const omp_team &team) noexcept;
[[nodiscard]] std::size_t known_threads() noexcept;

} // namespace weft_omp
