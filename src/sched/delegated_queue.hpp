// SPDX-License-Identifier: Apache-2.0
// The scheduler of Alvarez et al., section 3: ready work enters through bounded SPSC queues; a delegation ticket lock guards a
// plain ready queue, and its owner serves those who wait for it.
//
// Roles       Anyone: add, through an inbox that it shares with some others. A worker, with its own id: ask. Who asks with an id
//             that the lock does not know takes the lock as it is; with `delegates` false everybody does.
// Word        Inboxes (spin_lock of the producers, spsc_queue); the lock; m_ready and m_wishes plain; m_queued: what is in
//             m_ready, or one more while the inboxes are drained.
// Invariants  I1  An item is in one inbox, or in m_ready, or was returned by one ask.
//             I2  m_ready and the consumer's side of the inboxes belong to the owner of the lock.
//             I3  A wish is written before its ticket is known, and read while its writer waits.
//             I4  Who asks, and for whom an item is left that it knows was added, gets one: an item that was drained is
//                 announced in m_queued before its inbox can be seen empty (O1). So a worker that was woken for an item, or
//                 looks again before it sleeps, does not miss it.
// Orders      O1  the inboxes' heads, loaded with acquire in spsc_queue::empty, carry m_queued; its own operations are relaxed.
//             The rest is ordered by the locks and the inboxes.
// Progress    Blocking. A producer that finds its inbox full drains it, or waits for the owner, who will.
// Source      Listing 5 of the paper. There the owner lets the next one in when it has nothing; here it looks into the inboxes
//             again first, and a wish may be refused.
// Checked by  tests/model/composed_models.cpp: delegated_*
#pragma once

#include "base/mutant.hpp"
#include "queue/delegation_lock.hpp"
#include "queue/spin_lock.hpp"
#include "queue/spsc_queue.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Ready is plain code: add(item, adder), size(), and serve(id, wish), which returns an item or its null. Wish is small and plain;
/// one with `may_be_refused` is content when there is nothing.
template <class Item, class Ready, class Wish, class P = real_atomics>
class delegated_queue {
 public:
  delegated_queue(std::size_t inboxes, std::size_t capacity, std::size_t workers, bool delegates)
      : m_lock(workers), m_wishes(std::make_unique<wish_slot[]>(m_lock.size())), m_delegates(delegates) {
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
      if (mutant(bug::delegated_drains_unlocked))
        drain();
      else if (m_lock.try_lock()) {
        drain();
        m_lock.unlock();
      } else {
        P::yield();
      }
    }
  }

  Item ask(unsigned id, const Wish &w) {
    if (nothing())
      return {};
    Item mine{};
    if (!m_delegates || id >= m_lock.size()) {
      m_lock.lock();
    } else {
      m_wishes[id].wish.set(w);
      if (m_lock.lock_or_delegate(id, mine) == delegation::delegated)
        return mine;
    }
    drain();
    if (m_delegates)
      serve_waiters();
    mine = grant(id, w);
    m_lock.unlock();
    return mine;
  }

  /// A look without the lock; see I4.
  [[nodiscard]] bool nothing() const noexcept { return !has_arrivals() && m_queued.load(std::memory_order_relaxed) == 0; } // O1
  /// Of what is queued, or of what nobody has looked at yet, something may be of a larger priority than this.
  [[nodiscard]] bool may_outrank(std::int32_t priority) const noexcept {
    return has_arrivals() || m_top.load(std::memory_order_relaxed) > priority; // O1
  }

  /// A hint, for any thread.
  [[nodiscard]] std::size_t length() const noexcept {
    std::size_t n = m_queued.load(std::memory_order_relaxed); // O1
    for (auto &g : m_inboxes)
      n += g->queue.length();
    return n;
  }

  /// A guess.
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

  /// Who wants any work and gets none is let in when the lock is left: it may have come because of new work.
  void serve_waiters() {
    while (!m_lock.empty()) {
      const std::size_t waiter = m_lock.front();
      const Wish w = m_wishes[waiter].wish.get();
      Item r = grant(static_cast<unsigned>(waiter), w);
      if (!r) {
        drain();
        r = grant(static_cast<unsigned>(waiter), w);
      }
      if (!r && !w.may_be_refused())
        return;
      m_lock.set_item(waiter, r);
      m_lock.pop_front();
    }
  }

  Item grant(unsigned id, const Wish &w) {
    Item r = m_ready.serve(id, w);
    publish_top();
    m_queued.store(m_ready.size(), std::memory_order_relaxed); // O1
    return r;
  }
  void publish_top() noexcept {
    if constexpr (requires { m_ready.top(); })
      m_top.store(m_ready.top(), std::memory_order_relaxed); // O1: a hint
  }

  void drain() {
    if (!mutant(bug::delegated_drain_unannounced))
      m_queued.store(m_ready.size() + 1, std::memory_order_relaxed); // O1
    for (auto &g : m_inboxes)
      g->queue.consume_all([this](arrival a) { m_ready.add(a.item, a.adder); });
    publish_top();
    m_queued.store(m_ready.size(), std::memory_order_relaxed); // O1
  }

  std::vector<std::unique_ptr<inbox>> m_inboxes;
  delegation_lock<Item, P> m_lock;
  const std::unique_ptr<wish_slot[]> m_wishes; // by worker
  Ready m_ready;
  typename P::template atomic<std::size_t> m_queued{0};
  typename P::template atomic<std::int32_t> m_top{0}; // the largest priority in m_ready, or 0
  const bool m_delegates;
};

} // namespace rt
} // namespace weft::inline v0
