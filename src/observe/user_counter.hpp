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

/// Enters all counters into a store that has just been opened.
void enter_user_counters();

/// Defines a counter. Throws weft::error for a bad or a known name, or for more than
/// k_user_counters.
user_counter &define_counter(const char *name, const char *unit, const char *help,
                             counter_kind kind, double (*level)(void *) = nullptr,
                             void *context = nullptr);
/// Ends the calls of a level's function. Counts stay.
void withdraw_level(user_counter &counter) noexcept;
void add_to(user_counter &counter, counter_block *mine, std::uint64_t n) noexcept;
/// Calls the functions of levels; called by the publisher.
void publish_user_counters() noexcept;

void store_before_fork();
void store_after_fork() noexcept;

} // namespace rt
} // namespace weft::inline v0
