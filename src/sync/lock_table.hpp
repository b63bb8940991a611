// SPDX-License-Identifier: Apache-2.0
// The locks of synchronization objects: a table of the process, so that a lock exists longer than its objects.
#pragma once

#include "queue/spin_lock.hpp"

namespace weft::inline v0 {
namespace rt {

/// Holds the lock of an object. It may be that of other objects, too: so a holder takes no second
/// one, and calls nothing but src/sync.
class sync_guard {
 public:
  explicit sync_guard(const void *object) noexcept;
  ~sync_guard() { m_lock.unlock(); }
  sync_guard(const sync_guard &) = delete;
  sync_guard &operator=(const sync_guard &) = delete;

 private:
  spin_lock<> &m_lock;
};

/// Keeps the locks of all objects over a fork(), so that the child finds each list whole.
void sync_before_fork() noexcept;
void sync_after_fork() noexcept;

} // namespace rt
} // namespace weft::inline v0
