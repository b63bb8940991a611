// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host.hpp"
#include "object.hpp"

#include <atomic>

namespace weft_glt {

/// Excludes callers, and knows which task holds it.
struct mutex {
  static constexpr kind_of_object k_kind{"a mutex", "glt_mutex_create()"};

  /// Returns what names the caller: its task, or its thread.
  [[nodiscard]] static const void *caller() { return host::caller(); }
  /// Says whether the caller holds it. Only the caller itself can have made it so, so the answer is
  /// exact.
  [[nodiscard]] bool is_held_by(const void *task) const noexcept {
    return holder.load(std::memory_order_relaxed) == task;
  }
  void take_by(const void *task) {
    lock.lock();
    holder.store(task, std::memory_order_relaxed);
  }
  void give_up() {
    holder.store(nullptr, std::memory_order_relaxed);
    lock.unlock();
  }

  host::exclusion lock;
  std::atomic<const void *> holder{nullptr};
};

} // namespace weft_glt
