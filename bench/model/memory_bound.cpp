// SPDX-License-Identifier: Apache-2.0
#include "memory_bound.hpp"

#include "observe/power.hpp"
#include "tune/watts_band.hpp"
#include "tune/worker_cap.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <stdexcept>
#include <vector>

namespace memory_model {

namespace {

namespace rt = weft::rt;

constexpr std::string_view k_names[] = {"all", "work", "energy", "watts"};

/// Asks the rule of a goal, as the thread of policies does.
class policy {
 public:
  policy(const parameters &p, goal aim)
      : m_aim(aim), m_all(p.workers),
        m_cap(p.workers, aim == goal::energy ? rt::cap_goal::energy : rt::cap_goal::work),
        m_band(p.workers, {p.low, p.high}) {}

  [[nodiscard]] unsigned now() const noexcept {
    return m_aim == goal::all ? m_all : m_aim == goal::watts ? m_band.now() : m_cap.now();
  }
  [[nodiscard]] unsigned kept() const noexcept {
    return m_aim == goal::all ? m_all : m_aim == goal::watts ? m_band.now() : m_cap.kept();
  }
  [[nodiscard]] std::uint64_t window_ns() const noexcept {
    return m_aim == goal::watts ? rt::watts_band::k_window_ns : m_cap.window_ns();
  }
  bool take(double work, std::uint64_t ns, double energy) noexcept {
    return m_aim == goal::watts ? m_band.take(energy, ns)
                                : m_aim != goal::all && m_cap.take(work, ns, energy);
  }

 private:
  goal m_aim;
  unsigned m_all;
  rt::worker_cap m_cap;
  rt::watts_band m_band;
};

/// Is one run. Tasks that run at once progress equally fast, each at the part of its own speed that
/// the memory allows. So the clock `m_progress` counts what a task has done that runs all the time,
/// and a task ends when that clock shows the end that it had at its begin.
class run {
 public:
  run(const parameters &p, goal aim, const meter &read)
      : m_p(p), m_read(read), m_policy(p, aim), m_random(p.seed), m_left(p.tasks) {}

  outcome operator()() {
    m_window_end = static_cast<double>(m_policy.window_ns());
    for (unsigned i = 0; i < m_p.workers; ++i)
      begin_task();
    while (!m_ends.empty() || !m_wakes.empty())
      step();
    m_out.time_ns = m_now;
    m_out.energy_uj = energy();
    m_out.kept = m_policy.kept();
    return m_out;
  }

 private:
  [[nodiscard]] double speed() const noexcept {
    const double asked = static_cast<double>(m_ends.size()) * m_p.bytes / m_p.compute_ns;
    return asked > m_p.bandwidth ? m_p.bandwidth / asked : 1;
  }
  [[nodiscard]] double energy() const noexcept {
    return rt::estimated_energy(m_out.busy_ns, m_now, m_p.workers, m_p.busy, m_p.idle);
  }

  void begin_task() {
    if (m_left < 1)
      return;
    --m_left;
    std::uniform_real_distribution<double> some(1 - m_p.jitter, 1 + m_p.jitter);
    m_ends.push(m_progress + m_p.compute_ns * some(m_random));
  }

  /// Goes to the next event: the end of a task, of a wake-up, of a window.
  void step() {
    constexpr double k_never = 1e300;
    const double end = m_ends.empty() ? k_never : m_now + (m_ends.top() - m_progress) / speed();
    const double wake = m_wakes.empty() ? k_never : m_wakes.front();
    const double next = std::min({end, wake, m_window_end});
    m_progress += (next - m_now) * speed();
    m_out.busy_ns += (next - m_now) * static_cast<double>(m_ends.size());
    m_now = next;
    if (next == end) {
      m_progress = m_ends.top(); // without what was rounded
      m_ends.pop();
      ++m_ended;
      if (m_ends.size() + m_wakes.size() < m_policy.now())
        begin_task(); // else its worker parks
    } else if (next == wake) {
      m_wakes.erase(m_wakes.begin());
      begin_task();
    } else {
      end_window();
    }
  }

  void end_window() {
    const double all = energy(), spent = m_read ? m_read(all) : all - m_energy_before;
    m_energy_before = all;
    m_out.changes += m_policy.take(m_ended, static_cast<std::uint64_t>(m_now - m_window_begin), spent);
    m_ended = 0;
    m_window_begin = m_now;
    m_window_end = m_now + static_cast<double>(m_policy.window_ns());
    while (m_left >= 1 && m_ends.size() + m_wakes.size() < m_policy.now())
      m_wakes.push_back(m_now + m_p.wake_ns);
  }

  const parameters &m_p;
  const meter &m_read;
  policy m_policy;
  std::mt19937_64 m_random;
  double m_left; // tasks that have not begun
  std::priority_queue<double, std::vector<double>, std::greater<>> m_ends; // on the clock of progress
  std::vector<double> m_wakes; // when workers that were parked begin, the next one first
  double m_now = 0, m_progress = 0, m_ended = 0;
  double m_window_begin = 0, m_window_end = 0, m_energy_before = 0;
  outcome m_out;
};

} // namespace

std::string_view name_of(goal aim) noexcept { return k_names[static_cast<std::size_t>(aim)]; }

outcome simulate(const parameters &p, goal aim, const meter &read) {
  if (p.workers == 0 || p.workers > 4096 || !(p.tasks >= 1) || !(p.compute_ns > 0) || !(p.bytes >= 0) ||
      !(p.bandwidth > 0) || !(p.jitter >= 0 && p.jitter < 1) || !(p.wake_ns >= 0) || !(p.busy >= 0) ||
      !(p.idle >= 0) || !(p.low < p.high))
    throw std::invalid_argument("the model of the memory needs 1 to 4096 workers, a task, positive times "
                                "and a bandwidth, jitter below 1 and a band of two numbers");
  return run(p, aim, read)();
}

} // namespace memory_model
