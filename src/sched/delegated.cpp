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

/// One insertion queue and the lock of its producers (uncontended with one queue per worker).
struct alignas(k_apart) gate {
  explicit gate(std::size_t capacity) : queue(capacity) {}
  spin_lock<> producers;
  spsc_queue<runnable *> queue;
};

class delegated final : public policy {
public:
  delegated(const settings &s, unsigned workers, unsigned slots)
      : m_lock(slots), m_delegates(s.sched_lock == lock_kind::delegation) {
    const auto count = s.sched_spsc_queues ? static_cast<unsigned>(s.sched_spsc_queues) : workers;
    for (unsigned i = 0; i < count + 1; ++i) // the last one is for callers that are no worker
      m_gates.push_back(std::make_unique<gate>(static_cast<std::size_t>(s.sched_spsc_capacity)));
  }

  void attach(unsigned) override {}

  void add(runnable *r, unsigned id, origin) override {
    gate &g = id == k_outside ? *m_gates.back() : *m_gates[id % (m_gates.size() - 1)];
    for (;;) {
      g.producers.lock();
      const bool added = g.queue.push(r);
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

  runnable *get(unsigned id) override {
    if (nothing())
      return nullptr;
    if (!m_delegates) {
      m_lock.lock();
      drain();
      runnable *r = take();
      m_lock.unlock();
      return r;
    }
    runnable *mine = nullptr;
    if (m_lock.lock_or_delegate(id, mine) == delegation::delegated)
      return mine;
    drain();
    while (!m_lock.empty()) {
      runnable *r = take();
      if (!r) {
        drain();
        r = take();
      }
      if (!r)
        break;
      m_lock.set_item(m_lock.front(), r);
      m_lock.pop_front();
    }
    mine = take();
    m_lock.unlock();
    return mine;
  }

private:
  /// A hint that spares idle workers the lock; exact for whoever was woken for an item.
  [[nodiscard]] bool nothing() const noexcept {
    for (auto &g : m_gates)
      if (!g->queue.empty())
        return false;
    return m_queued.load(std::memory_order_acquire) == 0; // O1: pairs with the release in drain and take
  }

  void drain() {
    m_queued.store(m_queue.size() + 1, std::memory_order_release); // O1: before a gate can be seen empty
    for (auto &g : m_gates)
      g->queue.consume_all([this](runnable *r) { m_queue.add(r); });
    m_queued.store(m_queue.size(), std::memory_order_release); // O1
  }

  runnable *take() {
    runnable *r = m_queue.get();
    m_queued.store(m_queue.size(), std::memory_order_release); // O1
    return r;
  }

  std::vector<std::unique_ptr<gate>> m_gates;
  delegation_lock<runnable *> m_lock;
  ready_queue m_queue; // guarded by m_lock
  std::atomic<std::size_t> m_queued{0};
  const bool m_delegates;
};

} // namespace

std::unique_ptr<policy> make_delegated(const settings &s, unsigned workers, unsigned slots) {
  return std::make_unique<delegated>(s, workers, slots);
}

} // namespace rt
} // namespace weft::inline v0
