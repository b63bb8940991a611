// SPDX-License-Identifier: Apache-2.0
// Counts over time, and means.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace manager_model {

struct sample {
  double at_ns;
  std::int64_t in_graph, queued, ready;
};

/// Counts tasks in the graph, tasks whose submission or end is queued as a message, and ready
/// tasks. Keeps some hundred samples, evenly in time.
class timeline {
 public:
  void note(double now, const sample &s) {
    m_peak.in_graph = std::max(m_peak.in_graph, s.in_graph);
    m_peak.queued = std::max(m_peak.queued, s.queued);
    m_peak.ready = std::max(m_peak.ready, s.ready);
    if (now < m_next)
      return;
    m_samples.push_back(s);
    if (m_samples.size() >= k_most)
      thin_out();
    m_next = now + m_step;
  }
  void close(const sample &s) { m_samples.push_back(s); }
  [[nodiscard]] const std::vector<sample> &samples() const noexcept { return m_samples; }
  [[nodiscard]] const sample &peak() const noexcept { return m_peak; }

 private:
  static constexpr std::size_t k_most = 1024;
  void thin_out() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_samples.size(); i += 2)
      m_samples[kept++] = m_samples[i];
    m_samples.resize(kept);
    m_step = (m_samples.back().at_ns - m_samples.front().at_ns) / static_cast<double>(kept);
  }
  std::vector<sample> m_samples;
  sample m_peak{0, 0, 0, 0};
  double m_next = 0, m_step = 0;
};

struct mean {
  double sum = 0;
  std::uint64_t n = 0;
  void add(double v) noexcept {
    sum += v;
    ++n;
  }
  [[nodiscard]] double value() const noexcept { return n ? sum / static_cast<double>(n) : 0; }
};

} // namespace manager_model
