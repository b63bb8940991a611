// SPDX-License-Identifier: Apache-2.0
// Where external threads beyond the first sleep, and what they may run while they wait.
//
// Only the thread itself can continue its own stack. If it runs a task meanwhile, and the task
// sleeps in the kernel until this very thread goes on, the program hangs. So such a thread keeps to
// its own: while it waits in Weft, it runs its own stack, the tasks below its root, and the
// lightweight threads that it has made ready. Everything else is the workers', or the spares' where
// workers sleep. The thread helps with all work only if no spare can be had, since otherwise no
// thread might be left to run the work.
//
// Roles       External thread: chooses where it sleeps, sleeps there. Waker of its own stack:
//             notifies the thread in both places. Watcher: lets the threads help. Any thread reads.
// Words       m_place: null until the first such thread is adopted. m_all_help: set once, at the
//             start if the runtime has no spares.
// Invariants  I1  No notifier chooses a thread that keeps to its own for work that it may not run:
//                 notify_one and choose_any of the workers' eventcount do not see it.
//             I2  A thread that is asleep here when all are let help wakes up, and sleeps among the
//                 workers from then on.
// Orders      O1  m_place store release, load acquire: the eventcount is complete.
//             m_all_help is relaxed: notify_all follows the store with its barrier, and the thread
//                 looks at it again after prepare with its barrier (O1 of eventcount.hpp): it sees
//                 the flag, or is woken.
// Progress    As the eventcount's.
// Reclamation The eventcount lives as long as the runtime.
// Checked by  tests/model/apart_models.cpp; tests/unit/worker/keeps_to_own_test.cpp
#pragma once

#include "base/mutant.hpp"
#include "park/eventcount.hpp"

#include <atomic>
#include <memory>

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class basic_sleep_apart {
 public:
  /// `all_help`: there are no spares.
  explicit basic_sleep_apart(bool all_help) noexcept : m_all_help(all_help) {}

  /// Makes the place, for ids 0..limit-1. One thread at a time calls it.
  void open(std::size_t limit) {
    if (m_place.load(std::memory_order_relaxed))
      return;
    m_owner = std::make_unique<eventcount<P>>(limit);
    m_place.store(m_owner.get(), std::memory_order_release); // O1
  }

  /// Returns whether the threads help with all work.
  [[nodiscard]] bool all_help() const noexcept {
    return m_all_help.load(std::memory_order_relaxed);
  }

  /// Lets the threads help with all work from now on.
  void let_help() noexcept {
    if (m_all_help.load(std::memory_order_relaxed))
      return;
    m_all_help.store(true, std::memory_order_relaxed);
    unless(bug::apart_helps_silently, [&] { wake_all(); });
  }

  void wake_all() noexcept {
    if (eventcount<P> *const e = place())
      e->notify_all();
  }
  /// Wakes thread `id` if it sleeps here. Returns whether it did.
  bool wake(std::size_t id) noexcept {
    eventcount<P> *const e = place();
    return unless(bug::apart_wakes_nobody, [&] { return e && e->notify_worker(id); });
  }
  [[nodiscard]] bool announced(std::size_t id) const noexcept {
    const eventcount<P> *const e = place();
    return e && e->announced(id);
  }
  /// Counts the threads that keep to their own: one comes, or one ends.
  void comes() noexcept { m_threads.fetch_add(1, std::memory_order_relaxed); }
  void ends() noexcept { m_threads.fetch_sub(1, std::memory_order_relaxed); }
  /// Guesses whether there are threads that keep to their own.
  [[nodiscard]] bool any() const noexcept {
    return m_threads.load(std::memory_order_relaxed) != 0 && !all_help();
  }
  /// Returns where the threads sleep. open() has been called.
  [[nodiscard]] eventcount<P> &bed() const noexcept { return *place(); }

 private:
  [[nodiscard]] eventcount<P> *place() const noexcept {
    return m_place.load(std::memory_order_acquire); // O1
  }

  std::unique_ptr<eventcount<P>> m_owner;
  typename P::template atomic<eventcount<P> *> m_place{nullptr};
  typename P::template atomic<bool> m_all_help;
  typename P::template atomic<unsigned> m_threads{0}; // a count, and orders nothing
};

using sleep_apart = basic_sleep_apart<>;

} // namespace rt
} // namespace weft::inline v0
