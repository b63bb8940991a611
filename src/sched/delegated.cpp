// SPDX-License-Identifier: Apache-2.0
// Policy `delegated`: ready tasks enter through bounded SPSC queues; a delegation ticket lock guards plain code, and its
// owner serves those who wait for it (Alvarez et al., PPoPP 2021, section 3). Its ablation, sched.lock = ticket: the same
// queues, every worker takes the lock itself.
#include "queue/delegation_lock.hpp"
#include "queue/spin_lock.hpp"
#include "queue/spsc_queue.hpp"
#include "sched/policies.hpp"
#include "sched/ready_queue.hpp"

#include <atomic>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

struct arrival {
  runnable *item;
  unsigned adder;
};

/// One insertion queue and the lock of its producers (uncontended with one queue per worker).
struct alignas(k_apart) gate {
  explicit gate(std::size_t capacity) : queue(capacity) {}
  spin_lock<> producers;
  spsc_queue<arrival> queue;
};

/// What a worker that waits for the lock wants of its owner; written before it takes a ticket, read after its ticket is seen.
struct alignas(k_line) wish {
  bool newest = false;
  lineage of;
};

class delegated final : public policy {
public:
  delegated(const settings &s, unsigned workers)
      : m_lock(workers), m_wishes(workers), m_delegates(s.sched_lock == lock_kind::delegation) {
    const auto count = s.sched_spsc_queues ? static_cast<unsigned>(s.sched_spsc_queues) : workers;
    for (unsigned i = 0; i < count + 1; ++i) // the last one is for callers that are no worker
      m_gates.push_back(std::make_unique<gate>(static_cast<std::size_t>(s.sched_spsc_capacity)));
  }

  void attach(unsigned) override {}

  void add(runnable *r, unsigned id, origin from) override {
    gate &g = id == k_outside ? *m_gates.back() : *m_gates[id % (m_gates.size() - 1)];
    const arrival a{r, from == origin::fresh ? id : k_outside};
    for (;;) {
      g.producers.lock();
      const bool added = g.queue.push(a);
      g.producers.unlock();
      if (added)
        return;
      if (m_lock.try_lock()) {
        drain();
        m_lock.unlock();
      } else {
        real_atomics::yield();
      }
    }
  }

  runnable *get(unsigned id) override { return ask(id, {}); }
  runnable *take_newest(unsigned id, const lineage &l) override { return ask(id, {true, l}); }
  bool has_work() const override { return !nothing(); }

private:
  runnable *ask(unsigned id, const wish &w) {
    if (nothing())
      return nullptr;
    runnable *mine = nullptr;
    if (!m_delegates || id >= m_lock.size()) { // threads of the user beyond the workers are not known to the lock
      m_lock.lock();
    } else {
      m_wishes[id] = w;
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

  /// With the lock. Who wants any work and gets none is let in when the lock is left: it may have come with news.
  void serve_waiters() {
    while (!m_lock.empty()) {
      const std::size_t waiter = m_lock.front();
      const wish &w = m_wishes[waiter];
      runnable *r = grant(static_cast<unsigned>(waiter), w);
      if (!r) {
        drain();
        r = grant(static_cast<unsigned>(waiter), w);
      }
      if (!r && !w.newest)
        return;
      m_lock.set_item(waiter, r);
      m_lock.pop_front();
    }
  }

  runnable *grant(unsigned id, const wish &w) {
    runnable *r = w.newest ? m_queue.take_newest(id, w.of) : m_queue.get();
    m_queued.store(m_queue.size(), std::memory_order_release); // O1
    return r;
  }

  /// A hint that spares idle workers the lock; exact for whoever was woken for an item.
  [[nodiscard]] bool nothing() const noexcept {
    for (auto &g : m_gates)
      if (!g->queue.empty())
        return false;
    return m_queued.load(std::memory_order_acquire) == 0; // O1: pairs with the release in drain and grant
  }

  void drain() {
    m_queued.store(m_queue.size() + 1, std::memory_order_release); // O1: before a gate can be seen empty
    for (auto &g : m_gates)
      g->queue.consume_all([this](arrival a) { m_queue.add(a.item, a.adder); });
    m_queued.store(m_queue.size(), std::memory_order_release); // O1
  }

  std::vector<std::unique_ptr<gate>> m_gates;
  delegation_lock<runnable *> m_lock;
  std::vector<wish> m_wishes; // by worker
  ready_queue m_queue;        // guarded by m_lock
  std::atomic<std::size_t> m_queued{0};
  const bool m_delegates;
};

} // namespace

std::unique_ptr<policy> make_delegated(const settings &s, unsigned workers) {
  return std::make_unique<delegated>(s, workers);
}

} // namespace rt
} // namespace weft::inline v0
