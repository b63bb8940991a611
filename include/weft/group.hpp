// SPDX-License-Identifier: Apache-2.0
// Task groups: tasks that are waited for, cancelled and fail together.
#pragma once

#include <weft/task.hpp>

#include <stop_token>

namespace weft::inline v0 {

/// What happens when a task of a group throws.
enum class exception_policy : std::uint8_t {
  first_cancels, ///< the first exception is kept and cancels the group; wait() rethrows it
  collect_all,   ///< all tasks run; wait() throws exception_list
  terminate,     ///< the program ends with a message that names the task
  by_setting,    ///< what setting group.exceptions says (first_cancels by default)
};

/// Thrown by wait() under collect_all when tasks have thrown: all of their exceptions, in no order. Copies share them.
class WEFT_API exception_list : public std::exception {
 public:
  explicit exception_list(std::exception_ptr *first, std::size_t count); ///< copies `count` pointers
  exception_list(const exception_list &other) noexcept;                  ///< shares them
  exception_list &operator=(const exception_list &) = delete;
  ~exception_list() override;
  const char *what() const noexcept override; ///< one sentence, the same for all
  [[nodiscard]] std::size_t size() const noexcept; ///< how many there are
  [[nodiscard]] const std::exception_ptr &operator[](std::size_t i) const noexcept; ///< number `i`, below size()
  [[nodiscard]] const std::exception_ptr *begin() const noexcept; ///< the first
  [[nodiscard]] const std::exception_ptr *end() const noexcept;   ///< behind the last

 private:
  struct shared;
  shared *m_shared;
};

/// Tasks that are waited for together. Spawn from any task; wait() and the destructor belong to the task
/// that made the group. wait() waits for deep completion: the tasks and all of their descendants.
/// The destructor waits too; an exception that wait() did not deliver is reported on standard error by it.
/// Cost of spawn: as weft::spawn; a spawn by the maker of the group touches no atomic counter. 128 bytes, no allocation; cancel(),
/// cancelled() and stop_token() from any thread.
class WEFT_API task_group {
 public:
  /// An empty group of the calling task. Starts Weft. Throws weft::error: bad_setting, out_of_resources, shut_down.
  explicit task_group(exception_policy policy = exception_policy::by_setting);
  task_group(const task_group &) = delete;
  task_group &operator=(const task_group &) = delete;
  ~task_group();

  /// As weft::spawn(), into this group.
  template <class F, class... Clauses>
  decltype(auto) spawn(F &&f, const Clauses &...clauses) {
    return detail::spawn_in(this, static_cast<F &&>(f), clauses...);
  }

  /// Waits, then rethrows what the policy kept; the group can be used again afterwards (a cancelled one too). Throws
  /// weft::error: invalid_argument when another task calls it, no_block in a service or an onready function, shut_down.
  void wait();
  /// Tasks of the group that have not started are skipped from now on (their accesses are released as if they had
  /// run); running ones see stop_token() and this_task::cancelled(). Any thread.
  void cancel() noexcept;
  [[nodiscard]] bool cancelled() const noexcept; ///< whether cancel() was called since the last wait()
  /// A token that is signalled by cancel(). The first call allocates.
  [[nodiscard]] std::stop_token stop_token();

  struct state; // of the library
  [[nodiscard]] state &internals() noexcept { return *reinterpret_cast<state *>(m_state); } ///< for the library

 private:
  alignas(64) unsigned char m_state[128];
};

} // namespace weft::inline v0
