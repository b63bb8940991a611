// SPDX-License-Identifier: Apache-2.0
// What ends with an operation: a task's event, a promise, or nothing.
#pragma once

#include <weft/block.hpp>
#include <weft/future.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <variant>

namespace weft_net {

/// Holds an event of a task. The word is written before the event is taken back.
struct event_of_task {
  weft::task_ref task;
  void *word = nullptr; // 8 bytes for the value, or null
};

class completion {
 public:
  /// Holds nothing: a failure is nowhere seen.
  completion() = default;
  /// Takes over one event of the running task. `what` is the call, for the message.
  ///
  /// Errors. not_a_task.
  static completion of_running_task(const char *what, void *word = nullptr);
  template <class T>
  explicit completion(weft::promise<T> &&promised) : m_ends(std::move(promised)) {}

  /// Names what waits for it, for outside_waits; null: nothing.
  [[nodiscard]] const void *waiter() const noexcept;
  /// Returns the name of the task whose event it holds, which is alive; empty: there is none. Throws std::bad_alloc.
  [[nodiscard]] std::string name_of_waiter() const;
  /// Ends it. Each is called once, or neither; by any thread.
  void succeed(std::uint64_t value) noexcept;
  void fail(std::exception_ptr error) noexcept;
  /// Takes the event back of an operation that was not started.
  void cancel() noexcept;

 private:
  std::variant<std::monostate, event_of_task, weft::promise<void>, weft::promise<std::uint64_t>>
      m_ends;
};

/// Returns the name of the running task; empty where no task runs, or no memory is left. For people.
[[nodiscard]] std::string name_of_caller() noexcept;

} // namespace weft_net
