// SPDX-License-Identifier: Apache-2.0
#include "batches.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace batch_model {
namespace {

constexpr std::string_view k_names[] = {"single", "thief", "creator"};
constexpr std::uint64_t k_overlap = 8; // lines that a processor fetches side by side

struct worker {
  std::deque<std::uint64_t> deque; // how many tasks each item is, the oldest first
  double free_at = 0;              // when the next thief gets the words of the deque
  std::uint64_t in_hand = 0;       // tasks that it has taken
};

class program {
 public:
  program(const parameters &p, way how)
      : m_p(p), m_how(how), m_random(p.seed), m_workers(p.workers) {}

  outcome run() {
    for (unsigned w = 0; w < m_p.workers; ++w)
      m_events.push({0, w});
    while (m_out.ran != m_p.tasks) {
      m_now = m_events.top().at;
      const unsigned who = m_events.top().who;
      m_events.pop();
      m_events.push({m_now + step(who), who});
    }
    return m_out;
  }

 private:
  struct event {
    double at;
    unsigned who;
    friend bool operator<(const event &a, const event &b) noexcept { // the queue gives the greatest
      return a.at > b.at || (a.at == b.at && a.who > b.who);
    }
  };

  /// Does what a worker does next, and returns how long that takes.
  double step(unsigned w) {
    worker &own = m_workers[w];
    if (own.in_hand != 0)
      return run_one(own, w == 0);
    if (w == 0 && (m_made != m_p.tasks || m_is_making))
      return create(own);
    if (!own.deque.empty()) {
      own.in_hand = own.deque.back();
      own.deque.pop_back();
      return m_p.pop_ns;
    }
    return steal(own);
  }

  double create(worker &own) {
    if (!std::exchange(m_is_making, !m_is_making))
      return m_p.create_ns;
    ++m_made;
    ++m_gathered;
    if (m_how == way::creator && m_gathered != m_p.batch && m_made != m_p.tasks)
      return 0;
    own.deque.push_back(std::exchange(m_gathered, 0));
    return m_p.push_ns;
  }

  double run_one(worker &own, bool is_creator) {
    --own.in_hand;
    ++m_out.ran;
    m_out.by_creator += is_creator;
    double ns = m_p.run_ns + m_p.body_ns;
    m_out.time_ns = std::max(m_out.time_ns, m_now + ns);
    if (m_p.suspends > 0 && std::uniform_real_distribution<double>(0, 1)(m_random) < m_p.suspends &&
        own.in_hand != 0) { // what is left of the group must not wait for it
      ++m_out.bursts;
      ns += m_p.push_ns * static_cast<double>(own.in_hand);
      own.deque.insert(own.deque.end(), std::exchange(own.in_hand, 0), 1);
    }
    return ns;
  }

  double steal(worker &own) {
    const auto from = static_cast<unsigned>(m_random() % m_p.workers);
    for (unsigned i = 0; i < m_p.workers; ++i) {
      worker &victim = m_workers[(from + i) % m_p.workers];
      if (!victim.deque.empty())
        return take(own, victim);
    }
    return m_p.look_ns;
  }
  /// Takes from a victim: two lines, one after the other, of which the words of the deque serve one thief
  /// at a time; then the lines of the tasks.
  double take(worker &own, worker &victim) {
    ++m_out.steals;
    const double begin = std::max(m_now, victim.free_at);
    victim.free_at = begin + m_p.line_ns;
    std::uint64_t items = 1;
    if (m_how == way::thief && victim.deque.size() >= 2 * m_p.batch)
      items = m_p.batch;
    own.in_hand = victim.deque.front();
    const std::uint64_t lines = own.in_hand + items - 1;
    own.deque.insert(own.deque.end(), items - 1, 1);
    victim.deque.erase(victim.deque.begin(), victim.deque.begin() + static_cast<std::ptrdiff_t>(items));
    return begin - m_now + m_p.line_ns * static_cast<double>(2 + (lines + k_overlap - 1) / k_overlap) +
           m_p.push_ns * static_cast<double>(items - 1);
  }

  const parameters &m_p;
  const way m_how;
  std::mt19937_64 m_random;
  std::vector<worker> m_workers;
  std::priority_queue<event> m_events;
  double m_now = 0;
  std::uint64_t m_made = 0, m_gathered = 0;
  bool m_is_making = false;
  outcome m_out;
};

} // namespace

std::string_view name_of(way how) noexcept { return k_names[static_cast<std::size_t>(how)]; }

outcome simulate(const parameters &p, way how) {
  if (p.workers == 0 || p.workers > 4096 || p.tasks == 0 || p.batch == 0 || !(p.create_ns > 0) || !(p.push_ns >= 0) ||
      !(p.pop_ns >= 0) || !(p.run_ns > 0) || !(p.body_ns >= 0) || !(p.line_ns >= 0) || !(p.look_ns > 0) ||
      !(p.suspends >= 0 && p.suspends <= 1))
    throw std::invalid_argument("the model of batches needs 1 to 4096 workers, a task, a batch, and no negative times");
  return program(p, how).run();
}

} // namespace batch_model
