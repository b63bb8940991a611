// SPDX-License-Identifier: Apache-2.0
// Unstable: tasks of a layer's own, for another layer that lets tasks wait for what is no task. Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <cstdint>

namespace weft::inline v0 {
namespace layer {

/// What a layer offers that runs tasks by itself. A task is an address, aligned to 16 at least, that holds until the task is complete.
class task_source {
 public:
  /// The layer's task that runs here; null: none does, and what runs is Weft's to tell of. Never starts anything.
  virtual void *running() noexcept = 0;
  /// Calls `f(argument)` so that it may use Weft, whatever of the layer's runs here.
  virtual void call_in_weft(void (*f)(void *), void *argument) = 0;

  /// Of the running task: with `pinned` it keeps its kernel thread until it waits; without, it has waited in Weft.
  virtual void pin(void *task, bool pinned) noexcept = 0;

  /// Of the running task: waits until unblock(), which may have come before.
  virtual void block(void *task) noexcept = 0;
  /// Any thread. False: an earlier one still waits for its block.
  virtual bool unblock(void *task) noexcept = 0;
  /// Of the running task: it is not complete before as many are decreased. False: too many.
  virtual bool increase_events(void *task, std::uint64_t n) noexcept = 0;
  /// Any thread. False: the task has fewer, and none was taken.
  virtual bool decrease_events(void *task, std::uint64_t n) noexcept = 0;
  /// Of the running task. "No" is exact.
  virtual bool has_events(void *task) noexcept = 0;

 protected:
  ~task_source() = default;
};

/// There is one such layer at most; the last call counts. For as long as the process lives.
WEFT_API void offer_tasks(task_source &source) noexcept;
/// Null: there is none.
[[nodiscard]] WEFT_API task_source *offered_tasks() noexcept;

} // namespace layer
} // namespace weft::inline v0
