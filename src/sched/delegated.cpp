// SPDX-License-Identifier: Apache-2.0
// Policy `delegated`: a delegated_queue with one inbox per worker (or as many as the setting says)
// and one for other threads. Its ablation is sched.lock = ticket: the same queues, but every worker
// takes the lock itself.
//
// With sched.lock_queues there are several, each behind a lock of its own, as for the NUMA nodes. A
// worker adds to the queue of its node; threads that are no workers add to the first one. A worker
// looks into its own queue, then into the others, one after the other: it has left one lock before
// it asks for the next. So an adder's work is first in, first out; all that a waiter's worker added
// is in one queue; and a worker that looks into all of them before it sleeps misses nothing (I4 of
// delegated_queue.hpp, for each). Priorities hold over all nodes: work of a priority above 0 has a
// queue of its own, which is looked into first, and work of one below 0 has one that is the last.
#include "sched/delegated_queue.hpp"
#include "sched/policies.hpp"
#include "sched/ready_queue.hpp"

#include <algorithm>
#include <memory>
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

// So often a look begins at the queue of another node: tasks there must not starve while work of
// the own node yields all the time.
constexpr unsigned k_look_elsewhere_every = 61;

/// Says to which queue an id belongs, and which inbox of the queue is its own.
struct alignas(k_line) home {
  std::size_t queue = 0, inbox = 0;
  unsigned looks = 0; // written by the worker of the id
};

class delegated final : public policy {
 public:
  delegated(const settings &chosen, const machine &host, unsigned workers, unsigned slots)
      : m_counts(slots), m_homes(slots) {
    std::vector<std::size_t> members; // workers, by queue
    for (unsigned id = 0; id < slots; ++id) {
      home &own = m_homes[id];
      own.queue = queue_of(id % workers, chosen.sched_lock_queues, host, workers);
      members.resize(std::max(members.size(), own.queue + 1));
      own.inbox = id < workers ? members[own.queue]++ : m_homes[id % workers].inbox;
    }
    const auto made = [&](std::size_t inboxes) {
      const auto asked = static_cast<std::size_t>(chosen.sched_spsc_queues);
      return std::make_unique<queue>((asked ? asked : inboxes) + 1,
                                     static_cast<std::size_t>(chosen.sched_spsc_capacity), workers,
                                     chosen.sched_lock == lock_kind::delegation);
    };
    for (const std::size_t n : members)
      m_nodes.push_back(made(n));
    if (m_nodes.size() > 1)
      m_urgent = made(workers), m_patient = made(workers);
  }

  void attach(unsigned id, counter_block &counts) override { m_counts[id] = &counts; }

  void add(runnable *item, unsigned id, origin from) override {
    const std::size_t node = id == k_outside ? 0 : m_homes[id].queue;
    const bool of_a_node = !m_urgent || item->priority == 0;
    queue &to = of_a_node ? *m_nodes[node] : item->priority > 0 ? *m_urgent : *m_patient;
    const std::size_t last = to.inboxes() - 1;
    const std::size_t own = id == k_outside ? last : (of_a_node ? m_homes[id].inbox : id) % last;
    to.add(item, own, from == origin::fresh ? id : k_outside);
  }

  runnable *get(unsigned id) override {
    if (!m_urgent)
      return ask(*m_nodes.front(), id, {});
    if (runnable *r = ask(*m_urgent, id, {}))
      return r;
    const std::size_t n = m_nodes.size(), first = first_queue(m_homes[id]);
    for (std::size_t i = 0; i != n; ++i)
      if (runnable *r = ask(*m_nodes[(first + i) % n], id, {}))
        return r;
    return ask(*m_patient, id, {});
  }
  runnable *take_newest(unsigned id, const lineage &waited_for) override {
    const wish newest{true, waited_for};
    if (m_urgent && !m_urgent->nothing())
      return ask(*m_urgent, id, newest);
    return ask(*m_nodes[m_homes[id].queue], id, newest);
  }
  bool has_work() const override {
    return has(m_urgent) || has(m_patient) || std::any_of(m_nodes.begin(), m_nodes.end(), has);
  }
  bool outranks(std::int16_t priority) const override {
    return (m_urgent ? m_urgent : m_nodes.front())->may_outrank(priority);
  }
  std::size_t length(unsigned id) const override {
    if (id != k_outside)
      return 0;
    std::size_t n = m_urgent ? m_urgent->length() + m_patient->length() : 0;
    for (auto &q : m_nodes)
      n += q->length();
    return n;
  }

 private:
  using queue = delegated_queue<runnable *, served_queue, wish>;

  /// Returns the queue of a worker: that of its node where `asked` is 0, else neighbours share one.
  static std::size_t queue_of(unsigned id, int asked, const machine &host, unsigned workers) {
    if (asked != 0)
      return std::size_t{id} * std::min(static_cast<unsigned>(asked), workers) / workers;
    std::vector<int> nodes; // in the order of their first cpus
    for (const cpu_entry &cpu : host.cpus)
      if (std::find(nodes.begin(), nodes.end(), cpu.node) == nodes.end())
        nodes.push_back(cpu.node);
    const auto own = std::find(nodes.begin(), nodes.end(), node_of(host, id));
    return static_cast<std::size_t>(own - nodes.begin()); // 0 where the machine is not known
  }
  /// Returns with which queue a look begins, not modulo their number: now and then one of the others,
  /// each of them in turn.
  std::size_t first_queue(home &own) const noexcept {
    const unsigned look = ++own.looks;
    if (look % k_look_elsewhere_every != 0)
      return own.queue;
    return own.queue + 1 + look / k_look_elsewhere_every % (m_nodes.size() - 1);
  }
  static bool has(const std::unique_ptr<queue> &one) noexcept { return one && !one->nothing(); }

  runnable *ask(queue &of, unsigned id, const wish &wanted) {
    const queue::answer got = of.ask_and_tell(id, wanted);
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
  std::vector<home> m_homes;             // by id
  std::vector<std::unique_ptr<queue>> m_nodes;
  std::unique_ptr<queue> m_urgent, m_patient; // null where there is one node
};

} // namespace

std::unique_ptr<policy> make_delegated(const settings &chosen, const machine &host, unsigned workers,
                                       unsigned slots) {
  return std::make_unique<delegated>(chosen, host, workers, slots);
}

} // namespace rt
} // namespace weft::inline v0
