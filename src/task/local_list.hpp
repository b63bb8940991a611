// SPDX-License-Identifier: Apache-2.0
// Values by key, newest first: those of a task's task_local variables.
//
// Roles       The task's body and, inside join(), its branches on other workers: find and add. The one who ends the body: take.
// Word        The newest value, or null; a value names the next older one.
// Invariants  I1  A value is never taken from the list before the body has ended.  I2  A key is in the list once.
// Orders      O1  compare-exchange release, with O2: a value is whole before it is found. Older ones are carried on by the
//                 read-modify-writes behind them.
//             O2  load acquire, and the failing compare-exchange, with O1.
// Progress    Looking is wait-free, adding lock-free.
// Reclamation By who takes, alone.
// Checked by  tests/model/local_models.cpp, tests/unit/api/task_local_test.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// What a value has in front.
template <class P = real_atomics>
struct local_link {
  typename P::template var<local_link *> older{};
  typename P::template var<std::uint64_t> key{};
};

template <class P = real_atomics>
class local_list {
 public:
  using link = local_link<P>;

  /// The value of `key`, or null.
  [[nodiscard]] link *find(std::uint64_t key) const noexcept { return find_from(m_newest.load(std::memory_order_acquire), key); } // O2
  /// `fresh`; or, when a branch of a join was faster, its value of that key: then `fresh` stays the caller's.
  [[nodiscard]] link &add(link &fresh) noexcept {
    link *newest = m_newest.load(std::memory_order_acquire); // O2
    do {
      if (link *other = find_from(newest, fresh.key.get()); other && !mutant(bug::local_made_twice))
        return *other;
      fresh.older.set(newest);
    } while (!m_newest.compare_exchange_weak(newest, &fresh, order_unless(bug::local_added_relaxed, std::memory_order_release), // O1
                                             std::memory_order_acquire)); // O2
    return fresh;
  }
  /// The newest, which is in the list no more; or null. What adds meanwhile is the destructor of one that was taken.
  [[nodiscard]] link *take() noexcept {
    link *newest = m_newest.load(std::memory_order_relaxed); // alone
    if (newest)
      m_newest.store(newest->older.get(), std::memory_order_relaxed);
    return newest;
  }

 private:
  static link *find_from(link *newest, std::uint64_t key) noexcept {
    while (newest && newest->key.get() != key)
      newest = newest->older.get();
    return newest;
  }
  typename P::template atomic<link *> m_newest{nullptr};
};

} // namespace rt
} // namespace weft::inline v0
