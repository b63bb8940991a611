// SPDX-License-Identifier: Apache-2.0
// What a rank of an application does, stage by stage, found by a version that runs nothing.
#pragma once

#include "../apps/options.hpp"
#include "../apps/uses.hpp"
#include "loggp.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace net_bench::loggp {

/// Is a version (apps/run.hpp) that counts. A kernel is late if it uses what comes at the end of the stage before, or
/// what a late kernel has written.
class recorder {
 public:
  recorder(int rank, int ranks) : m_rank(rank), m_ranks(ranks), m_stages(1) {}
  [[nodiscard]] int rank() const noexcept { return m_rank; }
  [[nodiscard]] int ranks() const noexcept { return m_ranks; }
  [[nodiscard]] const std::vector<stage> &stages() const noexcept { return m_stages; }

  void start(const layout &what) { m_bytes = static_cast<double>(what.bytes); }
  template <class F>
  void run(std::size_t, const uses &used, int, const F &) {
    bool is_late = false;
    for (const uses::one &u : used)
      is_late = is_late || (u.mode != how::out && m_late.count(u.what) != 0);
    for (const uses::one &u : used)
      if (u.mode != how::in && is_late)
        m_late.insert(u.what);
    stage &now = m_stages.back();
    double &counted = now.sends > 0 ? (is_late ? now.late_behind : now.free_behind)
                                    : (is_late ? now.late_before : now.free_before);
    counted += 1;
  }
  void send(int, int, int, const double *, const token &) {
    m_stages.back().sends += 1;
    m_stages.back().bytes = m_bytes;
  }
  void receive(int, const std::vector<arrival> &coming) {
    stage &now = m_stages.back();
    now.receives = static_cast<double>(coming.size());
    now.bytes = m_bytes;
    m_late.clear();
    for (const arrival &a : coming)
      m_late.insert(a.written);
    m_stages.emplace_back();
  }

 private:
  int m_rank, m_ranks;
  double m_bytes = 0;
  std::vector<stage> m_stages;
  std::set<const token *> m_late;
};

/// Returns the stages of a rank of an application.
template <class App>
[[nodiscard]] std::vector<stage> stages_of(const options &o, int rank, int ranks) {
  App app(o, rank, ranks);
  recorder counts(rank, ranks);
  counts.start(app.exchanged());
  app.spawn(counts);
  return counts.stages();
}

} // namespace net_bench::loggp
