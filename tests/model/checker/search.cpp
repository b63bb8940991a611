// SPDX-License-Identifier: Apache-2.0
// Chooses the next execution: depth first, at random, or by priorities; and repeats one from its
// replay string.
#include "engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace weft_model {

namespace {
constexpr std::size_t k_trace_lines = 80; // of the end of a failed execution
constexpr char k_digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
} // namespace

computing_clock::time_point computing_clock::now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

bool engine::uses_sleep_sets() const {
  return m_limits.preemptions < 0 && m_limits.how == search::exhaustive &&
         m_limits.reduce != reduction::none;
}

std::uint64_t engine::draw(std::uint64_t below) {
  m_random ^= m_random << 13;
  m_random ^= m_random >> 7;
  m_random ^= m_random << 17;
  return (m_random >> 20) % below;
}

/// Returns the choice at this point of the trail; `taken` where the trail ends.
int engine::take(int taken, int count) {
  if (m_position == m_trail.size())
    m_trail.push_back({static_cast<std::uint8_t>(taken), static_cast<std::uint8_t>(count)});
  choice &c = m_trail[m_position++];
  if (c.count == 0) // from a replay string
    c.count = static_cast<std::uint8_t>(count);
  if (c.count != count || c.taken >= count)
    fail("the model does not repeat itself: choice " + std::to_string(m_position) +
         " differs from the last execution");
  return c.taken;
}

/// Chooses among the outcomes of one step.
int engine::choose(int count) {
  if (count == 1)
    return 0;
  const bool draws = m_position == m_trail.size() && !m_replaying &&
                     m_limits.how != search::exhaustive && !m_newest_only;
  return take(draws ? static_cast<int>(draw(static_cast<std::uint64_t>(count))) : 0, count);
}

/// Chooses among threads: returns an index into `order`.
int engine::choose_thread(const int *order, int count) {
  if (m_limits.how != search::pct || m_replaying) {
    if (count == 1)
      return 0;
    const bool draws =
        m_limits.how == search::random && !m_replaying && m_position == m_trail.size();
    return take(draws ? static_cast<int>(draw(static_cast<std::uint64_t>(count))) : 0, count);
  }
  for (int change : m_changes)
    if (change == m_steps && m_current != 0)
      fall_behind();
  if (count == 1)
    return 0;
  const int *best = std::max_element(order, order + count, [this](int a, int b) {
    return m_priority[static_cast<std::size_t>(a)] < m_priority[static_cast<std::size_t>(b)];
  });
  return take(static_cast<int>(best - order), count);
}

/// Draws, before an execution of pct, a random order of the threads, and depth - 1 steps at which
/// the running thread falls behind all others. Draws also whether loads may read outdated stores:
/// half of the executions need only look for orders of steps.
void engine::plan_priorities() {
  for (int t = 1; t < k_max_threads; ++t)
    m_priority[static_cast<std::size_t>(t)] = t;
  for (int t = k_max_threads - 1; t > 1; --t)
    std::swap(m_priority[static_cast<std::size_t>(t)],
              m_priority[1 + draw(static_cast<std::uint64_t>(t))]);
  m_changes.clear();
  for (int i = 1; i < m_limits.depth && m_longest > 0; ++i)
    m_changes.push_back(1 + static_cast<int>(draw(static_cast<std::uint64_t>(m_longest))));
  m_newest_only = draw(2) == 0;
  m_lowest = 0;
}

void engine::fall_behind() { m_priority[static_cast<std::size_t>(m_current)] = --m_lowest; }

bool engine::next_trail() {
  while (!m_trail.empty() && m_trail.back().taken + 1 >= m_trail.back().count)
    m_trail.pop_back();
  if (m_trail.empty())
    return false;
  ++m_trail.back().taken;
  return true;
}

outcome engine::explore(const program &p, const limits &l) {
  m_limits = l;
  m_outcome = {};
  m_trail.clear();
  m_seen.clear();
  m_digests = uses_sleep_sets() && l.reduce == reduction::states;
  m_random = l.seed * 0x9e3779b97f4a7c15u + 1;
  m_longest = 0;
  m_newest_only = false;
  for (;;) {
    if (l.how == search::pct)
      plan_priorities();
    const ending how = run_once(p);
    m_longest = std::max(m_longest, m_steps);
    m_outcome.steps += static_cast<std::uint64_t>(m_steps);
    ++(how == ending::pruned ? m_outcome.pruned : m_outcome.executions);
    if (how == ending::failed) {
      m_outcome.failed = true;
      m_outcome.replay = std::string(p.name) + ":" + trail_text();
      return m_outcome;
    }
    if (l.how != search::exhaustive)
      m_trail.clear();
    else if (!next_trail()) {
      m_outcome.exhausted = true;
      return m_outcome;
    }
    const std::uint64_t runs = m_outcome.executions + m_outcome.pruned;
    if (runs >= l.executions || (runs % 64 == 0 && computing_clock::now() >= l.until))
      return m_outcome;
  }
}

/// Returns how the candidates of a choice came about (s: sleep sets, b and a number: bounded, a:
/// all), then one character per choice. Zeros at the end are left out.
std::string engine::trail_text() const {
  std::string text = uses_sleep_sets()           ? "s-"
                     : m_limits.preemptions >= 0 ? "b" + std::to_string(m_limits.preemptions) + "-"
                                                 : "a-";
  for (std::size_t i = 0; i < m_position; ++i) {
    const int taken = m_trail[i].taken;
    text += taken < 36 ? std::string(1, k_digits[taken]) : "(" + std::to_string(taken) + ")";
  }
  return text.substr(0, text.find_last_not_of('0') + 1);
}

outcome engine::replay(const program &p, const std::string &text) {
  m_limits = {};
  m_digests = false;
  m_outcome = {};
  m_trail.clear();
  m_newest_only = false;
  const std::string trail = text.substr(text.rfind(':') + 1);
  m_limits.reduce = trail[0] == 's' ? reduction::sleep_sets : reduction::none;
  if (trail[0] == 'b')
    m_limits.preemptions = std::atoi(trail.c_str() + 1);
  const std::string digits = k_digits;
  for (std::size_t i = trail.find('-') + 1; i != 0 && i < trail.size(); ++i) {
    int taken = static_cast<int>(digits.find(trail[i]));
    if (trail[i] == '(') {
      taken = std::atoi(trail.c_str() + i + 1);
      i = std::min(trail.find(')', i), trail.size());
    }
    m_trail.push_back({static_cast<std::uint8_t>(taken), 0});
  }
  m_tracing = m_replaying = true;
  const ending how = run_once(p);
  m_tracing = m_replaying = false;
  m_outcome.executions = 1;
  m_outcome.failed = how == ending::failed;
  m_outcome.replay = text;
  const std::size_t skipped = m_trace.size() > k_trace_lines ? m_trace.size() - k_trace_lines : 0;
  if (skipped)
    m_outcome.trace = "    ... " + std::to_string(skipped) + " steps\n";
  for (std::size_t i = skipped; i < m_trace.size(); ++i)
    m_outcome.trace += m_trace[i] + "\n";
  return m_outcome;
}

} // namespace weft_model
