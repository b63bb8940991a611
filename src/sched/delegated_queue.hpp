// SPDX-License-Identifier: Apache-2.0
// The scheduler of Alvarez et al., section 3. Ready work enters through bounded SPSC queues. A
// delegation ticket lock guards a plain ready queue, and the owner of the lock serves the workers
// that wait for it.
//
// Roles       Any thread: add, through an inbox that it shares with some others; nothing,
//             may_outrank, length and size, which look without the lock. A worker, with its own id:
//             ask, which looks first, and returns if nothing. A worker with an id that the lock
//             does not know waits for the lock, and never for a result; with `delegates` false
//             every worker does, and the owner serves only itself.
//             Owner: a worker in ask, or a producer that finds its inbox full, while it has the
//             lock. In ask it drains the inboxes into m_ready, then serves the waiters, run by run,
//             then itself. It serves no further run when it has to wake a waiter.
// Word        Inboxes: an spsc_queue each, and a spin_lock of its producers. The lock. m_ready:
//             plain. m_wishes, by id: which item the worker wants; plain. m_queued: the number of
//             items in m_ready, or more: one while the owner drains the inboxes, the items of the
//             run while it serves one. m_top: the largest
//             priority in m_ready, or 0; a hint.
// Invariants  I1  An item is in one inbox, or in m_ready, or was returned by one ask.
//             I2  m_ready and the consumer's side of the inboxes belong to the owner of the lock.
//             I3  A worker writes its wish before it knows its ticket. The owner reads the wish
//                 while the worker waits.
//             I4  A worker that asks gets an item if it knows that an item was added, and that item
//                 is left for it: the owner announces a drained item in m_queued before a worker
//                 can see the item's inbox empty (O1). So a worker that was woken for an item, or
//                 that looks again before it sleeps, does not miss the item. A waiter that gets
//                 nothing has missed none: the owner drains the inboxes after it has seen the
//                 waiter, which sees all that the waiter knew of.
// Orders      O1  The inboxes' heads carry m_queued: the owner announces before consume_all stores
//                 a head with release, and a worker loads all heads with acquire in
//                 spsc_queue::empty before it loads m_queued. The operations on m_queued are
//                 relaxed. So are those on m_top, which no head carries.
//             The locks and the inboxes order the rest: O3 of delegation_lock.hpp the wishes.
// Progress    Blocking. A producer that finds its inbox full drains all inboxes if the lock is
//             free, or else yields and tries again: the owner will drain them.
// Source      Listing 5 of the paper. There the owner serves one waiter after the other, and lets the
//             next worker in when it has nothing. Here it serves a run of waiters together. When it
//             has nothing it looks into the inboxes again; a worker for which there is still nothing
//             gets null, because to hand the lock to a worker that sleeps holds up all others.
// Checked by  tests/model/composed_models.cpp: delegated_*
#pragma once

#include "base/mutant.hpp"
#include "queue/delegation_lock.hpp"
#include "queue/spin_lock.hpp"
#include "queue/spsc_queue.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Hands out ready work through a delegation lock. Ready is plain code: add(item, adder), size(),
/// and serve(id, wish), which returns an item or its null. Wish is small and plain.
template <class Item, class Ready, class Wish, class P = real_atomics>
class delegated_queue {
  using lock_type = delegation_lock<Item, P>;

 public:
  delegated_queue(std::size_t inboxes, std::size_t capacity, std::size_t workers, bool delegates)
      : m_lock(workers), m_wishes(std::make_unique<wish_slot[]>(m_lock.size())),
        m_delegates(delegates) {
    for (std::size_t i = 0; i < inboxes; ++i)
      m_inboxes.push_back(std::make_unique<inbox>(capacity));
  }

  [[nodiscard]] std::size_t inboxes() const noexcept { return m_inboxes.size(); }

  void add(Item item, std::size_t inbox_index, unsigned adder) {
    inbox &g = *m_inboxes[inbox_index];
    for (;;) {
      g.producers.lock();
      const bool added = g.queue.push({item, adder});
      g.producers.unlock();
      if (added)
        return;
      if (unless(
              bug::delegated_drains_unlocked, [&] { return m_lock.try_lock(); },
              [&] {
                drain();
                return false;
              })) {
        drain();
        m_lock.unlock();
      } else {
        P::yield();
      }
    }
  }

  /// Says how a worker that asked came to its answer.
  enum class outcome { looked, owned, answered };
  struct answer {
    Item item{};
    outcome how = outcome::looked;
    bool slept = false; ///< in the kernel, for the lock
  };

  Item ask(unsigned id, const Wish &wish) { return ask_and_tell(id, wish).item; }

  answer ask_and_tell(unsigned id, const Wish &wish) {
    answer mine;
    if (nothing())
      return mine;
    mine.how = outcome::owned;
    if (!m_delegates || id >= m_lock.size()) {
      mine.slept = m_lock.lock();
    } else {
      m_wishes[id].wish.set(wish);
      if (m_lock.lock_or_delegate(id, mine.item, mine.slept) == delegation::delegated) {
        mine.how = outcome::answered;
        return mine;
      }
    }
    drain();
    typename lock_type::run waiters;
    if (m_delegates)
      serve_run_by_run(waiters);
    bool drained = !m_delegates; // since a waiter was served
    mine.item = serve(id, wish, drained);
    publish();
    m_lock.unlock(waiters);
    return mine;
  }

  /// Returns whether there is nothing to get, without the lock; see I4.
  [[nodiscard]] bool nothing() const noexcept {
    return !has_arrivals() && m_queued.load(std::memory_order_relaxed) == 0;
  } // O1
  /// Returns whether an item of a larger priority than this may be queued, or be in an inbox that
  /// was not drained yet.
  [[nodiscard]] bool may_outrank(std::int32_t priority) const noexcept {
    return has_arrivals() || m_top.load(std::memory_order_relaxed) > priority; // O1
  }

  /// Returns the number of items, as a hint. Any thread.
  [[nodiscard]] std::size_t length() const noexcept {
    std::size_t n = m_queued.load(std::memory_order_relaxed); // O1
    for (auto &g : m_inboxes)
      n += g->queue.length();
    return n;
  }

  /// Guesses the number of items.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t n = m_queued.load(std::memory_order_relaxed);
    for (auto &g : m_inboxes)
      n += g->queue.size();
    return n;
  }

 private:
  [[nodiscard]] bool has_arrivals() const noexcept {
    for (auto &g : m_inboxes)
      if (!g->queue.empty())
        return true;
    return false;
  }

  struct arrival {
    Item item;
    unsigned adder;
  };
  struct alignas(k_apart) inbox {
    explicit inbox(std::size_t capacity) : queue(capacity) {}
    spin_lock<P> producers;
    spsc_queue<arrival, P> queue;
  };
  struct alignas(k_line) wish_slot {
    typename P::template var<Wish> wish{};
  };

  /// Serves the waiting workers, until there are none or one of them sleeps.
  void serve_run_by_run(typename lock_type::run &waiters) {
    while (m_lock.take_waiters(waiters)) {
      bool drained = false; // since these were seen
      for (std::size_t i = 0; i != waiters.size(); ++i) {
        const auto id = static_cast<unsigned>(waiters.id(i));
        m_lock.set_item(waiters, i, serve(id, m_wishes[id].wish.get(), drained));
      }
      publish();
      m_lock.dismiss(waiters);
    }
  }

  /// Returns an item for a worker. Where there is none it looks into the inboxes, unless it has.
  Item serve(unsigned id, const Wish &wish, bool &drained) {
    Item item = m_ready.serve(id, wish);
    if (item || std::exchange(drained, true))
      return item;
    unless(bug::delegated_refuses_undrained, [this] { drain(); }); // I4
    return m_ready.serve(id, wish);
  }

  void publish() noexcept {
    publish_top();
    m_queued.store(m_ready.size(), std::memory_order_relaxed); // O1
  }
  void publish_top() noexcept {
    if constexpr (requires { m_ready.top(); })
      m_top.store(m_ready.top(), std::memory_order_relaxed); // O1: a hint
  }

  void drain() {
    unless(bug::delegated_drain_unannounced,
           [&] { m_queued.store(m_ready.size() + 1, std::memory_order_relaxed); }); // O1
    for (auto &g : m_inboxes)
      g->queue.consume_all([this](arrival a) { m_ready.add(a.item, a.adder); });
    publish();
  }

  std::vector<std::unique_ptr<inbox>> m_inboxes;
  lock_type m_lock;
  const std::unique_ptr<wish_slot[]> m_wishes; // by worker
  Ready m_ready;
  typename P::template atomic<std::size_t> m_queued{0};
  typename P::template atomic<std::int32_t> m_top{0}; // the largest priority in m_ready, or 0
  const bool m_delegates;
};

} // namespace rt
} // namespace weft::inline v0
