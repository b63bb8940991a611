// SPDX-License-Identifier: Apache-2.0
// Values by key: those of a task's task_local variables. A tree finds them, a list keeps the order
// in which they were made.
//
// Roles       Users: the task's body and, inside join(), its branches on other workers; they find
//             and add.
//             Ender: the thread that ends the body; it takes the values, newest first.
// Words       root and below: a binary tree. The lowest bit of a key chooses the branch at the
//             root, the next bit the branch below it, and so on; a value is where its path ends.
//             Keys are numbered one after the other, so the tree is even.
//             newest: the head of the list; a value names the next older one.
// Invariants  I1  A value leaves neither tree nor list before the body has ended.
//             I2  A key is in the tree once: users that add the same key compare-exchange the same
//                 word.
//             I3  A value that was taken has no key, so no user finds it. It stays in the tree as a
//                 step to other values until all are taken: the ender frees values afterwards.
// Orders      O1  root and below compare-exchange release, with O2: a user writes a value before
//                 other users find it.
//             O2  root and below load acquire, and the failing compare-exchange, with O1.
// Progress    Finding is wait-free, adding lock-free.
// Reclamation By the ender, after the last value was taken.
// Checked by  tests/model/local_models.cpp, tests/unit/api/task_local_test.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Links a value into the tree and the list. It is the value's first member.
template <class P = real_atomics>
struct local_link {
  typename P::template atomic<local_link *> below[2]{};
  typename P::template var<local_link *> older{};
  typename P::template var<std::uint64_t> key{}; ///< 0: was taken
};

template <class P = real_atomics>
class local_list {
 public:
  using link = local_link<P>;

  /// Returns the value of `key`, or null.
  [[nodiscard]] link *find(std::uint64_t key) const noexcept {
    link *at = m_root.load(std::memory_order_acquire); // O2
    for (std::uint64_t path = key; at && at->key.get() != key; path >>= 1)
      at = at->below[path & 1].load(std::memory_order_acquire); // O2
    return at;
  }
  /// Adds `fresh` and returns it. If another branch of a join was faster, returns that branch's
  /// value of the key, and the caller keeps `fresh`.
  [[nodiscard]] link &add(link &fresh) noexcept {
    const std::uint64_t key = fresh.key.get();
    word *place = &m_root;
    for (std::uint64_t path = key;; path >>= 1) {
      link *at = place->load(std::memory_order_acquire); // O2
      if (!at &&
          place->compare_exchange_strong(
              at, &fresh, order_unless(bug::local_added_relaxed, std::memory_order_release), // O1
              std::memory_order_acquire)) // O2
        break;
      if (unless(bug::local_made_twice, at->key.get() == key))
        return *at;
      place = &at->below[path & 1];
    }
    link *newest = m_newest.load(
        std::memory_order_relaxed); // the ender reads the list, after the branches have joined
    do
      fresh.older.set(newest);
    while (!m_newest.compare_exchange_weak(newest, &fresh, std::memory_order_relaxed,
                                           std::memory_order_relaxed));
    return fresh;
  }
  /// Takes the newest value; returns null when none is left. Only the ender calls it. Destructors
  /// of taken values may add new ones meanwhile.
  [[nodiscard]] link *take() noexcept {
    link *newest = m_newest.load(std::memory_order_relaxed); // alone
    if (newest) {
      m_newest.store(newest->older.get(), std::memory_order_relaxed);
      newest->key.set(0); // I3
    } else {
      m_root.store(nullptr, std::memory_order_relaxed);
    }
    return newest;
  }

 private:
  using word = typename P::template atomic<link *>;
  word m_root{nullptr};
  word m_newest{nullptr};
};

} // namespace rt
} // namespace weft::inline v0
