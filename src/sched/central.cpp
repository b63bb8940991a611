// SPDX-License-Identifier: Apache-2.0
// Policy `central`: one queue, one lock. It is the plainest policy, and the one that the others are
// measured against.
#include "sched/policies.hpp"
#include "sched/shared_queue.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

class central final : public policy {
 public:
  void attach(unsigned, counter_block &) override {}
  void add(runnable *item, unsigned id, origin from) override {
    m_queue.add(item, from == origin::fresh ? id : k_outside);
  }
  runnable *get(unsigned) override { return m_queue.get(); }
  runnable *take_newest(unsigned id, const lineage &waited_for) override {
    return m_queue.take_newest(id, waited_for);
  }
  bool has_work() const override { return !m_queue.empty(); }
  bool outranks(std::int16_t priority) const override { return m_queue.top() > priority; }
  std::size_t length(unsigned id) const override {
    return id == k_outside ? m_queue.size().load(std::memory_order_relaxed) : 0;
  }

 private:
  shared_queue m_queue;
};

} // namespace

std::unique_ptr<policy> make_central() { return std::make_unique<central>(); }

} // namespace rt
} // namespace weft::inline v0
