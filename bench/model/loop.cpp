// SPDX-License-Identifier: Apache-2.0
#include "loop.hpp"

#include "api/cpp/loop_times.hpp"

#include <weft/detail/chunk_range.hpp>
#include <weft/detail/loop_blocks.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <stdexcept>
#include <utility>

namespace loop_model {

namespace {

namespace rule = weft::detail;
using chunk_range = rule::basic_chunk_range<>;

constexpr unsigned k_parts_in_place = 16; // of src/api/cpp/run_loop.cpp: more are not asked for later

/// Is a participant's view of its last block, as in src/api/cpp/run_loop.cpp.
struct member {
  std::uint64_t last = 0; // iterations of the last block; 0: none
  double ns = 0;          // of an iteration
  bool known = false;     // `ns` is what the call site remembers
  double own_ns = 0;      // by the clock
  std::uint64_t own_iterations = 0;
  double began = 0;       // by the clock
};

/// Is one call of the loop.
class call {
 public:
  call(const parameters &p, const std::vector<double> &costs, std::uint64_t grain, const clock &shows,
       std::mt19937_64 &random, bool may_be_late)
      : m_p(p), m_costs(costs), m_grain(grain), m_shows(shows), m_random(random), m_n(costs.size()),
        m_may_be_late(may_be_late) {
    m_out.runs.assign(m_n, 0);
  }

  outcome operator()(double &site_ns, double &wake_ns) {
    m_wake = wake_ns;
    m_caller.ns = site_ns;
    m_caller.known = site_ns > 0;
    m_remembered = site_ns;
    if (m_grain != 0)
      share_by_grain(static_cast<unsigned>(std::min<std::uint64_t>((m_n - 1) / m_grain + 1, m_p.workers)));
    else
      run_alone();
    if (m_parts.empty())
      m_out.time_ns = m_now;
    else
      run_shared();
    if (m_caller.own_iterations != 0)
      site_ns = rule::blend_calls(
          site_ns, std::max(m_caller.own_ns / static_cast<double>(m_caller.own_iterations), 1e-6));
    wake_ns = m_wake;
    return std::move(m_out);
  }

 private:
  [[nodiscard]] double clock_at(double ns) const { return m_shows ? m_shows(ns) : ns; }

  /// Runs a block from `now` on. Returns when it has ended.
  double run(double now, std::uint64_t first, std::uint64_t count) {
    double work = 0;
    for (std::uint64_t i = first; i < first + count; ++i) {
      work += m_costs[i];
      ++m_out.runs[i];
    }
    if (m_p.noise > 0)
      work *= std::exp(std::normal_distribution<double>(0, m_p.noise)(m_random));
    if (m_p.preempted > 0 && std::uniform_real_distribution<double>(0, 1)(m_random) < m_p.preempted)
      work += m_p.slice_ns;
    ++m_out.blocks;
    m_out.work_ns += work;
    return now + work;
  }

  static void measure(member &m, double now) {
    if (m.last != 0) {
      const double took = std::max(now - m.began, 0.0);
      m.own_iterations += m.last;
      m.own_ns += took;
      m.ns = rule::blend(m.known ? 0 : m.ns, took / static_cast<double>(m.last));
      m.known = false;
    }
    m.began = now;
  }

  bool publishes(std::uint64_t done) {
    const std::uint64_t rest = m_n - done;
    const double rest_ns = m_caller.ns * static_cast<double>(rest);
    if (rest < 2 || m_p.workers < 2)
      return false;
    if (rule::stays_serial(rest_ns, m_wake)) {
      if (!std::exchange(m_was_refused, true) && rule::is_left_for_wake(rest_ns, m_wake))
        m_wake = rule::forget_wake(m_wake);
      return false;
    }
    const unsigned n = rule::participants_for(rest_ns, m_wake, m_p.workers);
    if (n < 2)
      return false;
    share(done, n, std::max(n, std::min(m_p.workers, k_parts_in_place)));
    return true;
  }

  void run_alone() {
    member &m = m_caller;
    for (std::uint64_t done = 0; done < m_n;) {
      const std::uint64_t left = m_n - done;
      const bool is_first = m.last == 0, was_known = m.known;
      measure(m, clock_at(m_now));
      std::uint64_t want = 1;
      if (is_first) {
        if (m.known) {
          if (publishes(done))
            return;
          want = std::clamp<std::uint64_t>(rule::next_serial_block(UINT64_MAX, m.ns, left) / 8, 1, left);
        }
      } else if (m.own_ns < rule::k_prefix_ns && !was_known) {
        want = std::min(left, 2 * m.last);
      } else {
        if (publishes(done))
          return;
        const bool as_known = m_remembered > 0 && m.ns <= 2 * m_remembered;
        want = rule::next_serial_block(was_known || as_known ? UINT64_MAX : m.last, m.ns, left,
                                       rule::lone_block(as_known, m_p.workers == 1));
      }
      m_now = run(m_now + m_p.take_ns, done, want);
      m.last = want;
      done += want;
    }
    measure(m, clock_at(m_now));
  }

  auto range_of() {
    return [this](unsigned i) -> chunk_range & { return m_parts[i]; };
  }

  void share_by_grain(unsigned members) { share(0, members, members); }
  /// Splits what is left into units, iterations or blocks of a fixed grain, for so many participants;
  /// more may be asked for later, as many as there are slots.
  void share(std::uint64_t done, unsigned members, unsigned slots) {
    m_base = done;
    m_unit = std::max<std::uint64_t>(m_grain, 1);
    m_parts = std::vector<chunk_range>(slots);
    m_members.assign(slots, member{0, m_caller.ns, false, 0, 0, 0});
    m_members[0].known = m_caller.known;
    m_out.participants = members;
    rule::split_chunks((m_n - done - 1) / m_unit + 1, members, range_of());
  }

  /// Asks for more participants where iterations have become longer.
  void ask_for_more(const member &m, const chunk_range &own) {
    const unsigned now = m_out.participants;
    const double left = static_cast<double>(own.left()) * static_cast<double>(m_unit) * now;
    m_out.participants =
        std::max(now, rule::participants_for(m.ns * left, m_wake, static_cast<unsigned>(m_parts.size())));
  }

  /// Each participant calls the next one when it begins, or later if more are asked for since.
  void run_shared() {
    using event = std::pair<double, unsigned>; // when a participant looks for a block
    std::priority_queue<event, std::vector<event>, std::greater<>> events;
    const double published = m_now;
    events.emplace(m_now, 0);
    unsigned begun = 1;
    while (!events.empty()) {
      const auto [now, me] = events.top();
      events.pop();
      member &m = m_members[me];
      if (begun == me + 1 && begun < m_out.participants && has_work()) {
        events.emplace(now + m_p.wake_ns + (is_late() ? m_p.late_ns : 0), begun);
        ++begun;
      }
      if (me == 1 && m.last == 0 && m_grain == 0) // the worker that the caller has woken
        m_wake = rule::wake_after(m_wake, clock_at(now) - clock_at(published));
      double at = now;
      std::uint32_t chunk = 0;
      const std::uint32_t chunks = next(m, me, at, chunk);
      if (chunks == 0) {
        m_out.time_ns = std::max(m_out.time_ns, at);
        if (me == 0) {
          m_caller.own_ns += m.own_ns;
          m_caller.own_iterations += m.own_iterations;
        }
        continue;
      }
      const std::uint64_t first = m_base + chunk * m_unit, n = std::min(chunks * m_unit, m_n - first);
      m.last = n;
      events.emplace(run(at, first, n), me);
    }
  }
  [[nodiscard]] bool is_late() {
    return m_may_be_late && m_p.late > 0 && std::uniform_real_distribution<double>(0, 1)(m_random) < m_p.late;
  }
  [[nodiscard]] bool has_work() const {
    return std::any_of(m_parts.begin(), m_parts.end(), [](const chunk_range &r) { return r.left() != 0; });
  }

  [[nodiscard]] std::uint32_t wanted(const member &m, std::uint64_t left) const {
    if (m_grain != 0)
      return 1;
    std::uint64_t want = 1;
    if (m.last != 0 || m.ns > 0)
      want = rule::next_block(m.last != 0 ? m.last : left, m.ns, left,
                              rule::shared_block(m.ns * static_cast<double>(m_n), m_out.participants));
    if (m.last != 0)
      want = std::max(want, std::min(rule::least_block(m.ns, left), 2 * m.last));
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(want, 1, chunk_range::k_most));
  }

  std::uint32_t next(member &m, unsigned me, double &at, std::uint32_t &chunk) {
    const bool was_known = m.known;
    measure(m, clock_at(at));
    at += m_p.take_ns;
    chunk_range &own = m_parts[me];
    if (m_grain == 0 && (was_known || m.own_ns >= rule::k_prefix_ns))
      ask_for_more(m, own);
    std::uint32_t chunks = own.take(wanted(m, own.left()), chunk);
    if (chunks == 0 && rule::steal_half(static_cast<unsigned>(m_parts.size()), me, range_of(), chunk)) {
      at += m_p.steal_ns;
      ++m_out.steals;
      chunks = 1;
      std::uint32_t behind = 0;
      if (const std::uint32_t want = wanted(m, 1 + own.left()); want > 1)
        chunks += own.take(want - 1, behind);
    }
    m.began = clock_at(at);
    return chunks;
  }

  const parameters &m_p;
  const std::vector<double> &m_costs;
  const std::uint64_t m_grain;
  const clock &m_shows;
  std::mt19937_64 &m_random;
  const std::uint64_t m_n;
  double m_now = 0, m_wake = 0;
  bool m_was_refused = false;
  double m_remembered = 0; // by the call site, of an iteration; 0: unknown
  const bool m_may_be_late;
  member m_caller;
  std::uint64_t m_base = 0, m_unit = 1;
  std::vector<chunk_range> m_parts;
  std::vector<member> m_members;
  outcome m_out;
};

} // namespace

outcome simulate(const parameters &p, const std::vector<double> &costs, std::uint64_t grain,
                 const clock &shows) {
  if (p.workers == 0 || p.workers > 4096 || p.calls == 0 || costs.empty() || !(p.wake_ns >= 0) ||
      !(p.take_ns >= 0) || !(p.steal_ns >= 0) || !(p.noise >= 0) || !(p.preempted >= 0 && p.preempted <= 1) ||
      !(p.slice_ns >= 0) || !(p.late >= 0 && p.late <= 1) || !(p.late_ns >= 0) || std::any_of(costs.begin(), costs.end(), [](double ns) { return !(ns >= 0); }))
    throw std::invalid_argument("the model of a loop needs an iteration, 1 to 4096 workers, a call, and no "
                                "negative times");
  std::mt19937_64 random(p.seed);
  double site_ns = 0, wake_ns = std::clamp(p.wake_ns, rule::k_least_wake_ns, rule::k_most_wake_ns);
  outcome last;
  for (unsigned i = 0; i < p.calls; ++i)
    last = call(p, costs, grain, shows, random, i < p.late_calls)(site_ns, wake_ns);
  return last;
}

double best_fixed(const parameters &p, const std::vector<double> &costs) {
  const double serial = std::accumulate(costs.begin(), costs.end(), 0.0);
  double best = std::min(serial, simulate(p, costs, (costs.size() - 1) / p.workers + 1).time_ns);
  for (std::uint64_t grain = 1; grain < costs.size(); grain *= 4)
    best = std::min(best, simulate(p, costs, grain).time_ns);
  return best;
}

namespace {

double mandelbrot_row(std::size_t row, std::size_t rows) {
  constexpr int k_columns = 64, k_most = 256;
  double steps = 0;
  const double y = -1.25 + 2.5 * static_cast<double>(row) / static_cast<double>(rows);
  for (int column = 0; column < k_columns; ++column) {
    const double x = -2 + 2.5 * column / k_columns;
    double a = 0, b = 0;
    int n = 0;
    for (; n < k_most && a * a + b * b < 4; ++n) {
      const double next = a * a - b * b + x;
      b = 2 * a * b + y;
      a = next;
    }
    steps += n;
  }
  return steps;
}

} // namespace

std::vector<double> costs_of(std::string_view loop, std::size_t iterations, double step_ns) {
  std::vector<double> costs(iterations, step_ns);
  std::mt19937_64 random(7);
  const auto fill = [&](auto steps) {
    for (std::size_t i = 0; i < iterations; ++i)
      costs[i] = step_ns * steps(i);
    return costs;
  };
  if (loop == "uniform")
    return costs;
  if (loop == "triangle")
    return fill([](std::size_t i) { return static_cast<double>(i); });
  if (loop == "power") // a power of two by chance: half of the iterations take twice as long, and so on
    return fill([&](std::size_t) { return std::ldexp(1.0, std::countr_zero(random() | 1u << 12)); });
  if (loop == "half")
    return fill([&](std::size_t i) { return i == 0 ? static_cast<double>(iterations) : 1.0; });
  if (loop == "mandelbrot")
    return fill([&](std::size_t i) { return mandelbrot_row(i, iterations); });
  if (loop == "spmv") // rows of a matrix with a power law of lengths
    return fill([&](std::size_t) {
      const double u = static_cast<double>(random() >> 11) / 9007199254740992.0;
      return std::min(2 / std::sqrt(1 - u), 2000.0);
    });
  throw std::invalid_argument("there is no loop of that name");
}

} // namespace loop_model
