// SPDX-License-Identifier: Apache-2.0
#include "heat.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <utility>

namespace stencil {

std::uint64_t fingerprint(const double *points, std::size_t count, std::size_t first) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += std::rotl(std::bit_cast<std::uint64_t>(points[i]), 23) * (2 * (first + i) + 1);
  return sum;
}

std::vector<double> serial(std::size_t points, int steps) {
  std::vector<double> now(points), next(points);
  for (std::size_t i = 0; i < points; ++i)
    now[i] = first_heat(i);
  for (int step = 0; step < steps; ++step) {
    heat_part(now.back(), now.data(), now.front(), next.data(), points);
    now.swap(next);
  }
  return now;
}

in_tasks::in_tasks(std::size_t points, std::size_t partition)
    : m_partition(partition), m_count(points / partition), m_now(points), m_next(points),
      m_now_cells(m_count), m_next_cells(m_count) {
  for (std::size_t i = 0; i < points; ++i)
    m_now[i] = first_heat(i);
}

void in_tasks::run(int steps) {
  for (int step = 0; step < steps; ++step) {
    const double *now = m_now.data();
    double *next = m_next.data();
    for (std::size_t i = 0; i < m_count; ++i) {
      const std::size_t before = (i + m_count - 1) % m_count, after = (i + 1) % m_count;
      weft::spawn(
          [now, next, before, i, after, size = m_partition] {
            heat_part(now[before * size + size - 1], now + i * size, now[after * size],
                      next + i * size, size);
          },
          weft::in(m_now_cells[before]), weft::in(m_now_cells[i]), weft::in(m_now_cells[after]),
          weft::out(m_next_cells[i]));
    }
    m_now.swap(m_next);
    m_now_cells.swap(m_next_cells);
  }
  weft::taskwait();
}

void in_tasks::repartition(std::size_t partition) {
  m_partition = partition;
  m_count = m_now.size() / partition;
  m_now_cells.assign(m_count, 0);
  m_next_cells.assign(m_count, 0);
}

std::uint64_t in_tasks::sum() const { return fingerprint(m_now.data(), m_now.size(), 0); }

std::uint64_t in_futures(std::size_t points, std::size_t partition, int steps, double &elapsed_ns) {
  using array = std::shared_ptr<double[]>;
  using part = weft::shared_future<array>;
  const std::size_t count = points / partition;
  std::vector<part> now, next(count);
  for (std::size_t i = 0; i < count; ++i) {
    array first(new double[partition]);
    for (std::size_t k = 0; k < partition; ++k)
      first[k] = first_heat(i * partition + k);
    now.push_back(weft::make_ready_future(std::move(first)).share());
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < count; ++i)
      next[i] = weft::dataflow(
                    [partition](const part &left, const part &middle, const part &right) {
                      array made(new double[partition]);
                      heat_part(left.get()[partition - 1], middle.get().get(), right.get()[0],
                                made.get(), partition);
                      return made;
                    },
                    now[(i + count - 1) % count], now[i], now[(i + 1) % count])
                    .share();
    now.swap(next);
  }
  for (const part &one : now)
    one.wait();
  elapsed_ns =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += fingerprint(now[i].get().get(), partition, i * partition);
  return sum;
}

} // namespace stencil
