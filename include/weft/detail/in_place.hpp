// SPDX-License-Identifier: Apache-2.0
// How join() and spawn() with a cost run small work in place. The protocol: src/api/cpp/in_place.cpp.
#pragma once

#include <weft/detail/core.hpp>
#include <weft/detail/work_estimate.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {

namespace rt {
struct in_place_type;
struct thread_context;
} // namespace rt

namespace detail {

/// Is what is known of the work of one type: a lambda has one of its own, so a call site has.
struct work_site {
  constexpr work_site() noexcept = default;
  explicit constexpr work_site(const char *closure) noexcept : name(closure) {}
  const char *name = nullptr; // as closure_name() gives it; null: a function of C
  work_estimate estimate;
  std::atomic<rt::in_place_type *> type{nullptr}; // for reports
};

/// Returns a site for what has no type of its own: a function of the C interface.
WEFT_API work_site &site_of_body(const void *function) noexcept;

/// Says how a call with a cost goes on.
enum class work_way : std::uint8_t {
  apart, ///< as a call without a cost
  apart_measured, ///< the same, and its whole work is measured
  in_place, ///< plain calls, in work that runs in place already
  in_place_measured, ///< plain calls, which are measured
};

/// Measures work. It lives on the stack of the call.
struct work_timer {
  rt::thread_context *thread = nullptr; // where it began; null: nothing is measured
  work_site *site = nullptr;
  std::uint64_t cost = 0, began = 0;
  std::uint64_t suspended = 0; // frames that had left the thread before
  std::uint32_t calls = 1, look_at = 0; // in place, this one and those below
  std::uint32_t elsewhere = 0; // see thread_context
  std::uint32_t exceptions = 0; // in flight when it began: one more has ended the work
  work_way way = work_way::apart;
  bool too_long = false; // its estimate knows
  const task *outer_task = nullptr; // the work in place that it is a part of: see in_place_scope
  std::uint64_t outer_suspended = 0;
  work_timer *outer = nullptr;

  work_timer() = default;
  work_timer(const work_timer &) = delete;
  work_timer &operator=(const work_timer &) = delete;
  ~work_timer() {
    if (thread)
      end();
  }

 private:
  WEFT_API void end() noexcept;
};

/// Chooses how a join of this cost goes on.
[[nodiscard]] WEFT_API work_way choose_join(work_site &site, std::uint64_t cost) noexcept;
/// Begins to measure what the caller does next, or makes it a part of the work in place that its
/// creator is in.
WEFT_API void begin_timer(work_timer &timer, work_site &site, std::uint64_t cost,
                          work_way way) noexcept;
/// Notes that a part of the work has gone to another worker.
WEFT_API void note_elsewhere() noexcept;

/// Chooses how the spawn of a task that may run in place goes on. It does so only while nothing holds
/// the task back.
[[nodiscard]] WEFT_API work_way choose_spawn(work_site &site, std::uint64_t cost, task_group *group,
                                             const access *first, std::size_t first_count,
                                             const access *second,
                                             std::size_t second_count) noexcept;

/// Holds a task that runs in place and has no block.
struct task_in_place {
  work_site *site;
  std::uint64_t cost;
  task_group *group;
  const char *label;
  void (*invoke)(void *closure); // may throw
  void (*destroy)(void *closure) noexcept; // null: trivial
  void *closure;
};
/// Runs it as choose_spawn() has said, until all below it is complete.
WEFT_API void run_task_in_place(const task_in_place &self, work_way way) noexcept;

} // namespace detail
} // namespace weft::inline v0
