// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include "named_numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <deque>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace scheduler_model {
namespace {

constexpr std::string_view k_names[] = {"plain", "delegation", "combining", "per-node"};

constexpr parameter_info k_parameters[] = {
#define SCHEDULER_COST(field, value, text) {#field, &parameters::field, 0, 1e9, text},
#define SCHEDULER_KNOB(field, value, least, most, text)                                            \
  {#field, &parameters::field, least, most, text},
#include "scheduler.def"
};

using worker = unsigned;

/// Is one queue with its lock, and the workers that use it.
class queue_of_workers {
 public:
  queue_of_workers(const parameters &p, unsigned workers, unsigned nodes, std::uint64_t items,
                   std::uint64_t seed)
      : m_p(p), m_nodes(nodes), m_left(items), m_random(seed), m_ended(workers, 0) {
    for (worker w = 0; w < workers; ++w)
      m_looks.push({0, w});
  }

  outcome run() {
    while (m_left != 0) { // each worker looks, waits or computes until its next look
      if (m_waiting.empty())
        m_now = std::max(m_now, m_looks.top().at);
      admit();
      const look owner = m_waiting.front();
      m_waiting.pop_front();
      own(owner);
    }
    m_out.time_ns = *std::max_element(m_ended.begin(), m_ended.end());
    m_out.wait_ns = m_answers ? m_waited / static_cast<double>(m_answers) : 0;
    return m_out;
  }

 private:
  struct look {
    double at;
    worker who;
    friend bool operator<(const look &a, const look &b) noexcept { // the queue gives the greatest
      return a.at > b.at || (a.at == b.at && a.who > b.who);
    }
  };

  [[nodiscard]] double line(worker from, worker to) const noexcept {
    return from == to ? 0 : from % m_nodes == to % m_nodes ? m_p.line : m_p.far;
  }
  /// Lets those wait that have looked by now.
  void admit() {
    for (; !m_looks.empty() && m_looks.top().at <= m_now; m_looks.pop())
      m_waiting.push_back(m_looks.top());
  }
  /// Gives an item to a worker, which has it at `at`.
  void give(const look &to, double at) {
    --m_left;
    ++m_answers;
    m_waited += at - to.at;
    std::uniform_real_distribution<double> some(1 - m_p.jitter, 1 + m_p.jitter);
    m_ended[to.who] = at + m_p.body * some(m_random);
    m_looks.push({m_ended[to.who] + m_p.ticket, to.who});
  }

  /// Is the time of an owner with the lock, from the moment in which its turn is given.
  void own(const look &owner) {
    // Its turn, which the last owner took from it where it polls; then what that owner wrote.
    m_now += ((owner.at < m_given ? 2 : 1) + m_p.state) * line(m_last, owner.who);
    m_last = owner.who;
    if (m_p.mode == lock_mode::delegation)
      for (admit(); !m_waiting.empty() && m_left > 1; admit())
        serve(owner.who, 1);
    else if (m_p.mode != lock_mode::plain)
      for (admit(); !m_waiting.empty() && m_left > 1; admit())
        serve(owner.who, std::min({static_cast<std::uint64_t>(m_waiting.size()),
                                   static_cast<std::uint64_t>(m_p.run), m_left - 1}));
    m_now += m_p.take + m_p.publish;
    give(owner, m_now + m_p.turn);
    m_now += m_p.turn;
    m_given = m_now;
    admit();
    m_out.hand_overs += !m_waiting.empty() && m_left != 0;
  }

  /// Serves the first waiters. Their entries and wishes, and then their results, are fetched side by
  /// side; turns are given one after the other, because an exchange waits for its line.
  void serve(worker owner, std::uint64_t count) {
    double of_lines = 0;
    for (std::uint64_t i = 0; i < count; i += static_cast<std::uint64_t>(m_p.overlap)) {
      double longest = 0;
      const std::uint64_t end = std::min(count, i + static_cast<std::uint64_t>(m_p.overlap));
      for (std::uint64_t k = i; k < end; ++k)
        longest = std::max(longest, line(m_waiting[k].who, owner));
      of_lines += longest;
    }
    m_now += 2 * of_lines + static_cast<double>(count) * m_p.take + m_p.publish + of_lines;
    for (std::uint64_t i = 0; i < count; ++i) {
      const look to = m_waiting.front();
      m_waiting.pop_front();
      m_now += line(to.who, owner) + m_p.turn;
      give(to, m_now + 2 * line(owner, to.who)); // its turn and its result
    }
    ++m_out.runs;
    m_out.served += count;
  }

  const parameters &m_p;
  const unsigned m_nodes;
  std::uint64_t m_left, m_answers = 0;
  std::mt19937_64 m_random;
  std::vector<double> m_ended; // by worker: when its last body ended
  std::priority_queue<look> m_looks;
  std::deque<look> m_waiting;
  double m_now = 0, m_given = 0, m_waited = 0; // m_given: when the last owner left
  worker m_last = 0;
  outcome m_out;
};

} // namespace

std::string_view name_of(lock_mode mode) noexcept { return k_names[static_cast<std::size_t>(mode)]; }

std::span<const parameter_info> all_parameters() noexcept { return k_parameters; }

void set(parameters &p, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = named_numbers::trimmed(assignment.substr(0, equals));
  const auto *const found = std::find_if(std::begin(k_parameters), std::end(k_parameters),
                                         [name](const parameter_info &i) { return i.name == name; });
  if (equals == std::string_view::npos || found == std::end(k_parameters))
    throw std::invalid_argument("'" + std::string(assignment) +
                                "' sets no parameter; write name=number, --list shows the names");
  const std::string_view text = named_numbers::trimmed(assignment.substr(equals + 1));
  double value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || stop != text.data() + text.size() || !(value >= found->least) ||
      !(value <= found->most))
    throw std::invalid_argument(std::string(name) + " '" + std::string(text) +
                                "' is not a number from " + std::to_string(found->least) + " to " +
                                std::to_string(found->most));
  p.*found->field = value;
}

void read(parameters &p, std::istream &from, std::string_view origin) {
  named_numbers::read(from, origin, [&p](std::string_view line) { set(p, line); });
}

outcome simulate(const parameters &p) {
  if (p.workers == 0 || p.nodes == 0 || p.workers % p.nodes != 0)
    throw std::invalid_argument(std::to_string(p.workers) + " workers cannot be spread evenly over " +
                                std::to_string(p.nodes) + " nodes");
  const auto items = static_cast<std::uint64_t>(p.items);
  const auto seed = static_cast<std::uint64_t>(p.seed);
  if (p.mode != lock_mode::per_node)
    return queue_of_workers(p, p.workers, p.nodes, items, seed).run();
  outcome all;
  for (unsigned node = 0; node < p.nodes; ++node) {
    const std::uint64_t own = items / p.nodes + (node < items % p.nodes);
    const outcome one = queue_of_workers(p, p.workers / p.nodes, 1, own, seed + node).run();
    all.time_ns = std::max(all.time_ns, one.time_ns);
    all.wait_ns += one.wait_ns * static_cast<double>(own) / static_cast<double>(items);
    all.hand_overs += one.hand_overs;
    all.runs += one.runs;
    all.served += one.served;
  }
  return all;
}

} // namespace scheduler_model
