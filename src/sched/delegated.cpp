// SPDX-License-Identifier: Apache-2.0
// Policy `delegated`: a delegated_queue with one inbox per worker (or as many as the setting says)
// and one for other threads. Its ablation is sched.lock = ticket: the same queues, but every worker
// takes the lock itself.
#include "sched/delegated_queue.hpp"
#include "sched/policies.hpp"
#include "sched/ready_queue.hpp"

#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

struct wish {
  bool newest = false;
  lineage of;
};

struct served_queue : ready_queue {
  runnable *serve(unsigned id, const wish &wanted) {
    return wanted.newest ? take_newest(id, wanted.of) : get();
  }
};

class delegated final : public policy {
 public:
  delegated(const settings &chosen, unsigned workers, unsigned slots)
      : m_counts(slots),
        m_queue((chosen.sched_spsc_queues ? static_cast<std::size_t>(chosen.sched_spsc_queues)
                                          : workers) +
                    1,
                static_cast<std::size_t>(chosen.sched_spsc_capacity), workers,
                chosen.sched_lock == lock_kind::delegation) {}

  void attach(unsigned id, counter_block &counts) override { m_counts[id] = &counts; }

  void add(runnable *item, unsigned id, origin from) override {
    const std::size_t last = m_queue.inboxes() - 1;
    m_queue.add(item, id == k_outside ? last : id % last, from == origin::fresh ? id : k_outside);
  }

  runnable *get(unsigned id) override { return ask(id, {}); }
  runnable *take_newest(unsigned id, const lineage &waited_for) override {
    return ask(id, {true, waited_for});
  }
  bool has_work() const override { return !m_queue.nothing(); }
  bool outranks(std::int16_t priority) const override { return m_queue.may_outrank(priority); }
  std::size_t length(unsigned id) const override { return id == k_outside ? m_queue.length() : 0; }

 private:
  using queue = delegated_queue<runnable *, served_queue, wish>;

  runnable *ask(unsigned id, const wish &wanted) {
    const queue::answer got = m_queue.ask_and_tell(id, wanted);
    counter_block &counts = *m_counts[id];
    if (got.how == queue::outcome::owned)
      count(counts.lock_owned);
    else if (got.how == queue::outcome::answered)
      count(counts.lock_answered);
    if (got.slept) [[unlikely]]
      count(counts.lock_parked);
    return got.item;
  }

  std::vector<counter_block *> m_counts; // by id; each is attached before its first look
  queue m_queue;
};

} // namespace

std::unique_ptr<policy> make_delegated(const settings &chosen, unsigned workers, unsigned slots) {
  return std::make_unique<delegated>(chosen, workers, slots);
}

} // namespace rt
} // namespace weft::inline v0
