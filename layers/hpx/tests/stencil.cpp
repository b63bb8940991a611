// SPDX-License-Identifier: Apache-2.0
// Heat on a ring, by partitions that are futures: a partition of the next time step waits for three of this one. Written
// from the description in P. Grubel, Dynamic Adaptation in HPX (2016), chapter 5.1.1. The result is compared with that of a
// loop without partitions.
#include "check.hpp"

#include <hpx/algorithm.hpp>
#include <hpx/chrono.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/performance_counters.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace {

double g_k = 0.5, g_dt = 1, g_dx = 1;

double heat(double left, double middle, double right) {
  return middle + g_k * g_dt / (g_dx * g_dx) * (left - 2 * middle + right);
}

class points {
 public:
  explicit points(std::size_t size) : m_data(new double[size]), m_size(size) {}
  points(std::size_t size, std::size_t first) : points(size) {
    for (std::size_t i = 0; i != size; ++i)
      m_data[i] = static_cast<double>(first + i);
  }
  points(points &&) = default;
  HPX_NON_COPYABLE(points);
  double &operator[](std::size_t i) { return m_data[i]; }
  double operator[](std::size_t i) const { return m_data[i]; }
  std::size_t size() const { return m_size; }

 private:
  std::unique_ptr<double[]> m_data;
  std::size_t m_size;
};

using partition = hpx::shared_future<points>;
using ring = std::vector<partition>;

points next_of(const points &left, const points &middle, const points &right) {
  const std::size_t n = middle.size();
  points next(n);
  for (std::size_t i = 0; i != n; ++i)
    next[i] = heat(i == 0 ? left[left.size() - 1] : middle[i - 1], middle[i],
                   i == n - 1 ? right[0] : middle[i + 1]);
  return next;
}

hpx::future<ring> simulate(std::size_t partitions, std::size_t size, std::size_t steps) {
  ring rings[2] = {ring(partitions), ring(partitions)};
  std::vector<std::size_t> numbers(partitions);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  hpx::for_each(hpx::execution::par, numbers.begin(), numbers.end(), [&](std::size_t i) {
    rings[0][i] = hpx::make_ready_future(points(size, i * size));
  });
  const auto step = hpx::unwrapping(&next_of);
  for (std::size_t t = 0; t != steps; ++t) {
    const ring &now = rings[t % 2];
    ring &next = rings[(t + 1) % 2];
    for (std::size_t i = 0; i != partitions; ++i)
      next[i] = hpx::dataflow(hpx::launch::async, step, now[(i + partitions - 1) % partitions],
                              now[i], now[(i + 1) % partitions]);
  }
  return hpx::when_all(rings[steps % 2]);
}

std::vector<double> simulate_in_order(std::size_t size, std::size_t steps) {
  std::vector<double> now(size), next(size);
  std::iota(now.begin(), now.end(), 0.0);
  for (std::size_t t = 0; t != steps; ++t, now.swap(next))
    for (std::size_t i = 0; i != size; ++i)
      next[i] = heat(now[(i + size - 1) % size], now[i], now[(i + 1) % size]);
  return now;
}

} // namespace

int hpx_main(hpx::program_options::variables_map &options) {
  const auto partitions = options["np"].as<std::uint64_t>(),
             size = options["nx"].as<std::uint64_t>(), steps = options["nt"].as<std::uint64_t>();
  hpx::performance_counters::performance_counter tasks(
      "/threads{locality#0/total}/count/cumulative");
  tasks.reset(hpx::launch::sync);
  const hpx::chrono::high_resolution_timer timer;
  ring result = simulate(partitions, size, steps).get();
  hpx::wait_all(result);
  const double elapsed = timer.elapsed();
  const std::vector<double> expected = simulate_in_order(partitions * size, steps);
  for (std::size_t i = 0; i != partitions; ++i)
    for (std::size_t j = 0; j != size; ++j)
      CHECK(std::abs(result[i].get()[j] - expected[i * size + j]) < 1e-9);
  CHECK(tasks.get_value<std::uint64_t>(hpx::launch::sync) >= partitions * steps);
  if (!options.count("no-header"))
    std::cout << "OS_Threads,Execution_Time_sec,Points_per_Partition,Partitions,Time_Steps\n";
  std::cout << hpx::get_os_thread_count() << ',' << elapsed << ',' << size << ',' << partitions
            << ',' << steps << '\n';
  return hpx::finalize();
}

int main(int argc, char *argv[]) {
  using namespace hpx::program_options;
  options_description options("Usage: " HPX_APPLICATION_STRING " [options]");
  options.add_options()("nx", value<std::uint64_t>()->default_value(100), "points of a partition")(
      "nt", value<std::uint64_t>()->default_value(45),
      "time steps")("np", value<std::uint64_t>()->default_value(10), "partitions")(
      "k", value<double>(&g_k)->default_value(0.5), "heat transfer coefficient")(
      "dt", value<double>(&g_dt)->default_value(1.0), "length of a time step")(
      "dx", value<double>(&g_dx)->default_value(1.0),
      "distance of points")("no-header", "do not print what the columns are");
  hpx::init_params params;
  params.desc_cmdline = options;
  return hpx::init(argc, argv, params);
}
