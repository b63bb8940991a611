// SPDX-License-Identifier: Apache-2.0
// Task groups: sets of tasks that the program waits for and cancels, and whose failures it
// receives, together.
#pragma once

#include <weft/detail/wait_list.hpp>
#include <weft/task.hpp>

#include <chrono>
#include <stop_token>

namespace weft::inline v0 {

/// Says what happens when a task of a group throws.
enum class exception_policy : std::uint8_t {
  first_cancels, ///< the first exception is kept and cancels the group; wait() rethrows it
  collect_all,   ///< all tasks run; wait() throws exception_list
  terminate,     ///< the program ends with a message that names the task
  by_setting,    ///< what setting group.exceptions says (first_cancels by default)
};

/// Holds all exceptions of a group's tasks, in no order; wait() throws it under collect_all. Copies
/// share the exceptions.
class WEFT_API exception_list : public std::exception {
 public:
  explicit exception_list(std::exception_ptr *first,
                          std::size_t count); ///< copies `count` pointers
  exception_list(const exception_list &other) noexcept; ///< shares them
  exception_list &operator=(const exception_list &) = delete;
  ~exception_list() override;
  const char *what() const noexcept override; ///< one sentence, the same for all
  [[nodiscard]] std::size_t size() const noexcept; ///< how many there are
  [[nodiscard]] const std::exception_ptr &
  operator[](std::size_t i) const noexcept; ///< number `i`, below size()
  [[nodiscard]] const std::exception_ptr *begin() const noexcept; ///< the first
  [[nodiscard]] const std::exception_ptr *end() const noexcept; ///< behind the last

 private:
  struct shared;
  shared *m_shared;
};

/// Collects tasks, so that their creator can wait for all of them together. Any task may spawn into
/// the group. Only the task that made the group calls wait() and the destructor.
///
/// wait() waits for deep completion: for the tasks and all of their descendants. The destructor
/// waits, too; it reports an exception that wait() did not deliver on standard error.
///
/// Cost. 128 bytes, no allocation. A spawn costs what weft::spawn() costs; a spawn by the maker of
/// the group touches no atomic counter.
/// Threads. Any for cancel(), cancelled() and stop_token().
class WEFT_API task_group {
 public:
  /// Makes an empty group of the calling task, and starts Weft if it has not started.
  ///
  /// Errors. bad_setting, out_of_resources, shut_down.
  explicit task_group(exception_policy policy = exception_policy::by_setting);
  task_group(const task_group &) = delete;
  task_group &operator=(const task_group &) = delete;
  ~task_group();

  /// Spawns as weft::spawn(), into this group.
  template <class F, class... Clauses>
  decltype(auto) spawn(F &&f, const Clauses &...clauses) {
    return detail::spawn_in(this, static_cast<F &&>(f), clauses...);
  }

  /// Waits for the tasks, then rethrows what the policy kept. The group can be used again
  /// afterwards; a cancelled one, too.
  ///
  /// Blocks. Yes.
  /// Errors. invalid_argument when another task calls it; no_block in a service or an onready
  /// function; shut_down.
  void wait();
  /// @{ Waits as wait(), but gives up when a stop is requested, after `most`, or when Clock::now() has
  /// reached `time`, also when the clock is set meanwhile. Returns whether the tasks are complete.
  /// After false the group is as it was: nothing was thrown, and it can be waited for again.
  ///
  /// Cost. No task runs in place: the caller is suspended unless all tasks are complete.
  /// Blocks. Yes.
  /// Errors. As wait(); out_of_resources.
  [[nodiscard]] bool wait(const std::stop_token &stop) { return wait_within({UINT64_MAX, &stop}); }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period> &most) {
    return wait_within(detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_until_time(
        time, [this](const detail::wait_limit &limit) { return wait_within(limit); });
  }
  /// @}
  /// Cancels the group. From now on tasks of the group that have not started are skipped: their
  /// accesses are released as if they had run. Running tasks see it by stop_token() and
  /// this_task::cancelled().
  ///
  /// Threads. Any.
  void cancel() noexcept;
  [[nodiscard]] bool
  cancelled() const noexcept; ///< whether cancel() was called since the last wait()
  /// Returns a token that cancel() signals.
  ///
  /// Cost. The first call allocates.
  [[nodiscard]] std::stop_token stop_token();

  struct state; // of the library
  [[nodiscard]] state &internals() noexcept {
    return *reinterpret_cast<state *>(m_state);
  } ///< for the library

 private:
  bool wait_within(const detail::wait_limit &limit);
  alignas(64) unsigned char m_state[128];
};

} // namespace weft::inline v0
