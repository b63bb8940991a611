// SPDX-License-Identifier: Apache-2.0
// Counters that the program defines. They live as long as the process, also across a fork and a store.
#pragma once

#include "observe/store.hpp"

#include <atomic>

namespace weft::inline v0 {
namespace rt {

struct user_counter {
  std::string name, unit, help;
  counter_kind kind = counter_kind::count;
  unsigned index = 0;
  std::atomic<std::uint64_t> outside{0}; // counted by threads that are no workers
  double (*level)(void *) = nullptr; // guarded by the lock of definitions
  void *context = nullptr;
  const void *entered_in = nullptr; // the store that has it; guarded by the same lock
};

/// Enters a counter into the store; the caller holds the lock of definitions.
void enter_user_counter(user_counter &c) noexcept;
/// Enters all counters into a store that has just been opened.
void enter_user_counters();

} // namespace rt
} // namespace weft::inline v0
