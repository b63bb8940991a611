// SPDX-License-Identifier: Apache-2.0
// Heat on a ring of points, in steps: each point becomes the mean of its neighbours. The serial
// program, and the same in tasks over partitions of the ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stencil {

/// Returns a point at the next step.
[[nodiscard]] inline double heat(double left, double middle, double right) {
  return middle + 0.5 * (left - 2 * middle + right);
}

/// Computes `count` points, whose outer neighbours are `left` and `right`.
inline void heat_part(double left, const double *now, double right, double *next,
                      std::size_t count) {
  if (count == 1) {
    next[0] = heat(left, now[0], right);
    return;
  }
  next[0] = heat(left, now[0], now[1]);
  for (std::size_t i = 1; i + 1 < count; ++i)
    next[i] = heat(now[i - 1], now[i], now[i + 1]);
  next[count - 1] = heat(now[count - 2], now[count - 1], right);
}

/// Returns a point at the start.
[[nodiscard]] inline double first_heat(std::size_t index) {
  return static_cast<double>(index * 2654435761U % 1009) / 8;
}

/// Sums up points by place and bits, so that two rings differ where one bit of a point does, or two
/// points are exchanged. Sums of parts add up.
[[nodiscard]] std::uint64_t fingerprint(const double *points, std::size_t count, std::size_t first);

/// Returns the ring after some steps of the serial program, point after point.
[[nodiscard]] std::vector<double> serial(std::size_t points, int steps);

/// Computes the steps in a task per partition and step, which reads three partitions, on the same two
/// arrays. `partition` divides `points`.
class in_tasks {
 public:
  in_tasks(std::size_t points, std::size_t partition);
  void run(int steps);
  /// Keeps the points, and cuts them into partitions of another size.
  void repartition(std::size_t partition);
  [[nodiscard]] std::uint64_t sum() const;

 private:
  std::size_t m_partition, m_count;
  std::vector<double> m_now, m_next;
  std::vector<char> m_now_cells, m_next_cells; // what the accesses name: one per partition
};

/// Computes the same with a future per partition and step, whose array is new, as the thesis does.
[[nodiscard]] std::uint64_t in_futures(std::size_t points, std::size_t partition, int steps,
                                       double &elapsed_ns);

} // namespace stencil
