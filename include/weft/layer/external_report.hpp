// SPDX-License-Identifier: Apache-2.0
// Unstable: how a layer that runs tasks on threads of its own has them in reports of hangs, in
// `weft dump` and in `weft why`. Changes with any version.
#pragma once

#include <weft/layer/external_task.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace layer {

/// Holds the tasks of a layer that have not ended, the threads that run them, and the waits of both.
struct external_report {
  struct task {
    const void *id; ///< no other task or thread of the report has it
    external_task *order = nullptr; ///< of the task, until end_external_task(); null: there is none
    const void *former_order = nullptr; ///< the same once that has been called
    std::string name, state; ///< the state in words, if nothing is known of what it waits for: "runs"
    std::string spawned, where; ///< "written at FILE:LINE"; "FUNCTION at FILE:LINE", where it is
    bool is_thread = false; ///< that has created tasks, and is none
  };
  struct wait {
    const void *waiter, *awaited; ///< ids
    const char *reason; ///< "task 'a' REASON task 'b'"
    /// The waiter goes on only when all that it waits for has happened. False: it may go on when
    /// the awaited one does; shown where nothing goes on by itself.
    bool is_certain = true;
  };
  struct thread {
    int tid;
    const void *id; ///< of the task that it runs, or of the thread; null for none
    bool sleeps; ///< in a wait of the report, or without work; else it may run
  };
  std::vector<task> tasks;
  std::vector<wait> waits;
  std::vector<thread> threads; ///< all that run tasks or have created some
  bool goes_on = false; ///< something happens by itself: a deadline, a task that is about to begin
};

/// Is a part of a layer that knows such tasks.
class WEFT_API external_reports {
 public:
  external_reports(const external_reports &) = delete;
  external_reports &operator=(const external_reports &) = delete;

 protected:
  external_reports() = default;
  ~external_reports() = default;
  /// Has list_tasks() called from now on, until withdraw(). Errors. out_of_resources.
  void announce();
  /// Ends it, if it was begun. No thread is in list_tasks() afterwards.
  void withdraw() noexcept;

 private:
  /// Adds the tasks of now. Returns false where that is not possible just now. The watcher calls it
  /// while workers stand still, and some of them amid a call of the layer: it takes no lock but by
  /// try_lock, and wakes no task.
  virtual bool list_tasks(external_report &to) = 0;
};

/// Keeps the watcher from looking at tasks while the caller, perhaps one that is taken to sleep,
/// enters or ends external tasks. Not nested.
///
/// Threads. Any.
class WEFT_API external_change {
 public:
  external_change() noexcept;
  ~external_change();
  external_change(const external_change &) = delete;
  external_change &operator=(const external_change &) = delete;

 private:
  void *m_gate; // null: Weft has not been started
};

/// @{ Notes that the calling thread sleeps, and goes on: meanwhile it makes no call of Weft, and the
/// watcher does not take it for one that computes. Not nested.
///
/// Threads. Any; nothing is noted of a thread that has not used Weft.
WEFT_API void begin_rest() noexcept;
WEFT_API void end_rest() noexcept;
/// @}
/// Returns after how many nanoseconds of such a sleep to call ask_for_examination(); 0 for never.
[[nodiscard]] WEFT_API std::uint64_t rest_patience() noexcept;
/// Has the watcher look whether anything can go on.
WEFT_API void ask_for_examination() noexcept;

} // namespace layer
} // namespace weft::inline v0
