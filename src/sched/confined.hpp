// SPDX-License-Identifier: Apache-2.0
// Ready work that only some workers may run: a queue per set of workers, beside the queues of the
// policy.
//
// Roles       Any thread makes sets and adds work. A worker gets the work of its sets.
// Word        m_count: sets 1 to m_count exist. A set is never changed or freed.
// Orders      O1  m_count store release, load acquire: a set is written before it is counted.
//             The queues have an order of their own (shared_queue.hpp). A thread that adds work
//             wakes a worker of the set, whichever other workers search.
#pragma once

#include "queue/spin_lock.hpp"
#include "sched/shared_queue.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class confined_work {
 public:
  static constexpr unsigned k_most_sets =
      63; // six bits of a runnable, of which 0 means all workers

  /// Returns the number of the set of these workers, in ascending order, and makes the set if it is
  /// new. Returns 0 if there are too many sets. Throws std::bad_alloc.
  [[nodiscard]] unsigned number_of(const std::vector<unsigned> &ids) {
    const std::lock_guard guard(m_lock);
    const unsigned count = m_count.load(std::memory_order_relaxed); // O1: written under the lock
    for (unsigned n = 1; n <= count; ++n)
      if (at(n).ids == ids)
        return n;
    if (count == k_most_sets)
      return 0;
    m_sets[count] = std::make_unique<set>(ids);
    m_count.store(count + 1, std::memory_order_release); // O1
    return count + 1;
  }

  [[nodiscard]] bool has(unsigned number) const noexcept { return number <= count(); }
  /// Returns whether there is any set.
  [[nodiscard]] bool any() const noexcept { return count() != 0; }
  [[nodiscard]] const std::vector<unsigned> &workers_of(unsigned number) const noexcept {
    return at(number).ids;
  }
  [[nodiscard]] bool serves(unsigned id, unsigned number) const noexcept {
    const auto &ids = at(number).ids;
    return std::binary_search(ids.begin(), ids.end(), id);
  }

  /// Returns whether the worker belongs to a set.
  [[nodiscard]] bool is_in_any(unsigned id) const noexcept {
    for (unsigned n = count(); n != 0; --n)
      if (serves(id, n))
        return true;
    return false;
  }

  void add(runnable &item) { at(item.confinement()).ready.add(&item); }

  /// Returns work for worker `id`, or null. The sets of the worker take turns, beginning behind
  /// `last`.
  [[nodiscard]] runnable *get(unsigned id, unsigned &last) {
    const unsigned sets = count();
    for (unsigned i = 0; i < sets; ++i) {
      const unsigned n = (last + i) % sets + 1;
      if (at(n).ready.empty() || !serves(id, n))
        continue;
      if (runnable *r = at(n).ready.get()) {
        last = n;
        return r;
      }
    }
    return nullptr;
  }

  /// Returns a set of worker `id` that has work, or 0.
  [[nodiscard]] unsigned waiting_for(unsigned id) const noexcept {
    for (unsigned n = count(); n != 0; --n)
      if (!at(n).ready.empty() && serves(id, n))
        return n;
    return 0;
  }

  [[nodiscard]] std::size_t length() const noexcept {
    std::size_t all = 0;
    for (unsigned n = count(); n != 0; --n)
      all += size_of(at(n).ready);
    return all;
  }
  [[nodiscard]] bool has_work() const noexcept { return length() != 0; }

 private:
  struct set {
    explicit set(const std::vector<unsigned> &workers) : ids(workers) {}
    const std::vector<unsigned> ids; // ascending
    shared_queue ready;
  };
  [[nodiscard]] unsigned count() const noexcept {
    return m_count.load(std::memory_order_acquire);
  } // O1
  [[nodiscard]] set &at(unsigned number) const noexcept { return *m_sets[number - 1]; }

  spin_lock<> m_lock;
  std::atomic<unsigned> m_count{0};
  std::unique_ptr<set> m_sets[k_most_sets];
};

} // namespace rt
} // namespace weft::inline v0
