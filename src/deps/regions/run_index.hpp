// SPDX-License-Identifier: Apache-2.0
// Finds those of many runs of bytes that touch one more run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Holds runs of bytes, which may overlap, sorted as a balanced tree: the middle of a part of the
/// list is the root of that part.
template <class Of>
class run_index {
 public:
  struct run {
    std::uintptr_t low, end;
    Of of;
    std::uintptr_t reach = 0; // the last end in the part of the list of which it is the root
  };

  void assign(std::vector<run> &&runs) noexcept {
    m_runs = std::move(runs);
    std::sort(m_runs.begin(), m_runs.end(),
              [](const run &a, const run &b) { return a.low < b.low; });
    static_cast<void>(set_reach(0, m_runs.size()));
  }

  /// Calls f(run) for each run that has a byte in common with [low, end), in the order of their
  /// first bytes.
  template <class F>
  void for_each_touching(std::uintptr_t low, std::uintptr_t end, F &&f) const {
    find(0, m_runs.size(), low, end, f);
  }

 private:
  std::uintptr_t set_reach(std::size_t first, std::size_t last) noexcept {
    if (first == last)
      return 0;
    const std::size_t root = first + (last - first) / 2;
    const std::uintptr_t below = std::max(set_reach(first, root), set_reach(root + 1, last));
    return m_runs[root].reach = std::max(below, m_runs[root].end);
  }
  template <class F>
  void find(std::size_t first, std::size_t last, std::uintptr_t low, std::uintptr_t end,
            F &f) const {
    if (first == last)
      return;
    const std::size_t root = first + (last - first) / 2;
    const run &r = m_runs[root];
    if (r.reach <= low)
      return;
    find(first, root, low, end, f);
    if (r.low >= end)
      return;
    if (r.end > low)
      f(r);
    find(root + 1, last, low, end, f);
  }

  std::vector<run> m_runs;
};

} // namespace rt
} // namespace weft::inline v0
