// SPDX-License-Identifier: Apache-2.0
// Unstable: a layer's own tasks, offered to another layer that lets tasks wait for something that
// is not a task. Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <cstdint>

namespace weft::inline v0 {
namespace layer {

/// Offers the tasks of a layer that runs tasks by itself. A task is an address, aligned to 16 at
/// least, that is valid until the task is complete.
class task_source {
 public:
  /// Returns the layer's task that runs here. Null: no task of the layer runs here, and Weft knows
  /// what does. Never starts anything.
  virtual void *running() noexcept = 0;
  /// Calls `f(argument)` so that it may use Weft, whatever of the layer runs here.
  virtual void call_in_weft(void (*f)(void *), void *argument) = 0;

  /// Keeps the running task on its kernel thread until it waits, with `pinned`. Without: the task has
  /// waited in Weft, and may move again.
  virtual void pin(void *task, bool pinned) noexcept = 0;

  /// Suspends the running task until unblock(), which may have come before.
  virtual void block(void *task) noexcept = 0;
  /// Lets a blocked task go on. Returns false if an earlier unblock still waits for its block.
  ///
  /// Threads. Any.
  virtual bool unblock(void *task) noexcept = 0;
  /// Keeps the running task from completing before `n` events are decreased. Returns false if they
  /// are too many.
  virtual bool increase_events(void *task, std::uint64_t n) noexcept = 0;
  /// Takes back `n` events of a task. Returns false if the task has fewer; then none was taken.
  ///
  /// Threads. Any.
  virtual bool decrease_events(void *task, std::uint64_t n) noexcept = 0;
  /// Returns whether the running task has events; "no" is exact.
  virtual bool has_events(void *task) noexcept = 0;

 protected:
  ~task_source() = default;
};

/// Registers the layer whose tasks are offered, for as long as the process lives. There is at most
/// one such layer; the last call counts.
WEFT_API void offer_tasks(task_source &source) noexcept;
/// Returns the layer whose tasks are offered. Null: there is none.
[[nodiscard]] WEFT_API task_source *offered_tasks() noexcept;

} // namespace layer
} // namespace weft::inline v0
