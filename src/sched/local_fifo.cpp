// SPDX-License-Identifier: Apache-2.0
// Policy `local-fifo`: the priority local-FIFO scheduler of HPX (Grubel 2016, section 2.3.1).
//
// Each worker has two FIFO queues: staged (created, not yet started) and pending (to be run next,
// and resumed). A worker looks for work in this order:
// - the high-priority queues
// - its own pending queue
// - its own staged queue, from which batches move to pending
// - other workers' staged queues, then their pending queues, those of its NUMA node first
// - the low-priority queue
#include "sched/policies.hpp"
#include "sched/shared_queue.hpp"

#include <atomic>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr int k_batch = 8; // staged tasks that become pending at once

struct alignas(k_apart) local_queues {
  shared_queue staged;
  shared_queue pending;
  int node = 0;
  counter_block *counts = nullptr;
};

class local_fifo final : public policy {
 public:
  local_fifo(const settings &chosen, const machine &host, unsigned slots)
      : m_machine(host), m_locals(slots),
        m_high(static_cast<std::size_t>(chosen.sched_high_queues > 0 ? chosen.sched_high_queues
                                                                     : 1)) {}
  ~local_fifo() override {
    for (auto &l : m_locals)
      delete l.load(std::memory_order_relaxed);
  }

  void attach(unsigned id, counter_block &counts) override {
    if (m_locals[id].load(std::memory_order_relaxed))
      return;
    auto *l = new local_queues;
    l->node = node_of(m_machine, id);
    l->counts = &counts;
    m_locals[id].store(l, std::memory_order_release); // O1: pairs with the acquire in search
    if (m_used.load(std::memory_order_relaxed) <= id)
      m_used.store(id + 1, std::memory_order_release); // O1
  }

  void add(runnable *item, unsigned id, origin from) override {
    if (item->priority > 0)
      return m_high[(id == k_outside ? 0 : id) % m_high.size()].add(item, id);
    if (item->priority < 0)
      return m_low.add(item);
    local_queues &l = *m_locals[id == k_outside ? 0 : id].load(std::memory_order_acquire); // O1
    from == origin::fresh ? l.staged.add(item, id) : l.pending.add(item);
  }

  runnable *get(unsigned id) override {
    local_queues &mine = *m_locals[id].load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < m_high.size(); ++i)
      if (runnable *r = m_high[(id + i) % m_high.size()].get())
        return r;
    if (runnable *r = mine.pending.get())
      return r;
    if (runnable *r = stage(mine, id))
      return r;
    for (bool same_node : {true, false})
      if (runnable *r = search(mine, id, same_node))
        return r;
    return m_low.get();
  }

  runnable *take_newest(unsigned id, const lineage &waited_for) override {
    for (std::size_t i = 0; i < m_high.size(); ++i)
      if (shared_queue &high = m_high[(id + i) % m_high.size()]; !high.empty())
        return high.take_newest(id, waited_for);
    local_queues &mine = *m_locals[id].load(std::memory_order_relaxed);
    if (runnable *r = mine.staged.take_newest(id, waited_for))
      return r;
    return mine.pending.take_newest(id, waited_for);
  }

  bool has_work() const override {
    for (auto &l : m_locals)
      if (local_queues *p = l.load(std::memory_order_acquire);
          p && !(p->staged.empty() && p->pending.empty())) // O1
        return true;
    for (const shared_queue &q : m_high)
      if (!q.empty())
        return true;
    return !m_low.empty();
  }

  bool outranks(std::int16_t priority) const override {
    for (const shared_queue &q : m_high)
      if (q.top() > priority)
        return true;
    return false;
  }

  std::size_t length(unsigned id) const override {
    if (id != k_outside) {
      const local_queues *l = m_locals[id].load(std::memory_order_acquire); // O1
      return l ? length(l->staged) + length(l->pending) : 0;
    }
    std::size_t n = length(m_low);
    for (const shared_queue &q : m_high)
      n += length(q);
    return n;
  }

 private:
  static std::size_t length(const shared_queue &queue) noexcept {
    return queue.size().load(std::memory_order_relaxed);
  }

  /// Moves a batch from staged to pending, and returns its first item.
  static runnable *stage(local_queues &queues, unsigned id) {
    return queues.staged.move_to(queues.pending, k_batch - 1, id);
  }

  runnable *search(local_queues &mine, unsigned id, bool same_node) {
    const unsigned used = m_used.load(std::memory_order_acquire); // O1: pairs with attach
    for (shared_queue local_queues::*queue : {&local_queues::staged, &local_queues::pending}) {
      for (unsigned i = 1; i < used; ++i) {
        local_queues *other = m_locals[(id + i) % used].load(std::memory_order_acquire); // O1
        if (!other || other == &mine || (other->node == mine.node) != same_node)
          continue;
        if (runnable *r = (other->*queue).get()) {
          count(mine.counts->stolen);
          return r;
        }
      }
    }
    return nullptr;
  }

  const machine &m_machine;
  std::vector<std::atomic<local_queues *>> m_locals;
  std::atomic<unsigned> m_used{0};
  std::vector<shared_queue> m_high;
  shared_queue m_low;
};

} // namespace

std::unique_ptr<policy> make_local_fifo(const settings &chosen, const machine &host,
                                        unsigned slots) {
  return std::make_unique<local_fifo>(chosen, host, slots);
}

} // namespace rt
} // namespace weft::inline v0
