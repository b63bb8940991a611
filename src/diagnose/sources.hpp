// SPDX-License-Identifier: Apache-2.0
// What layers have announced to be asked for reports.
#pragma once

#include <atomic>
#include <mutex>
#include <new>

namespace weft::inline v0 {
namespace rt {

/// Holds sources with the functions that ask them. Needs no destructor: threads may end late.
/// Each change of the list is one store, so the child of a fork finds a list that is whole, whatever
/// another thread of its parent was doing.
template <class Function>
class sources {
 public:
  /// Throws std::bad_alloc.
  void add(void *source, Function *ask) {
    auto *const fresh = new entry{source, ask, nullptr};
    const std::lock_guard guard(m_lock);
    std::atomic<entry *> *end = &m_first;
    while (entry *const here = end->load(std::memory_order_relaxed)) // O1
      end = &here->next;
    end->store(fresh, std::memory_order_release); // O1
  }
  /// No call of the function goes on afterwards.
  void remove(const void *source) noexcept {
    const std::lock_guard guard(m_lock);
    for (std::atomic<entry *> *at = &m_first;;) {
      entry *const here = at->load(std::memory_order_relaxed); // O1
      if (!here)
        return;
      if (here->source != source) {
        at = &here->next;
        continue;
      }
      at->store(here->next.load(std::memory_order_relaxed), std::memory_order_release); // O1
      delete here;
    }
  }
  /// Calls f(source, function) until it returns false, which it then returns, too. Returns false,
  /// and calls nothing, also where another thread asks the sources or changes them just now.
  template <class F>
  [[nodiscard]] bool visit(F f) {
    const std::unique_lock guard(m_lock, std::try_to_lock);
    if (!guard)
      return false;
    for (entry *here = m_first.load(std::memory_order_relaxed); here; // O1
         here = here->next.load(std::memory_order_relaxed))
      if (!f(here->source, here->ask))
        return false;
    return true;
  }
  /// The caller is the child of a fork, in which no other thread can have the lock.
  void forget_lock_in_child() noexcept { ::new (&m_lock) std::mutex; }

 private:
  // O1: threads are ordered by the lock. A store publishes an entry to the child of a fork, which has
  // the memory of that moment.
  struct entry {
    void *source;
    Function *ask;
    std::atomic<entry *> next;
  };

  std::mutex m_lock;
  std::atomic<entry *> m_first{nullptr};
};

} // namespace rt
} // namespace weft::inline v0
