// SPDX-License-Identifier: Apache-2.0
// weft-stencil-1d serial POINTS STEPS
// weft-stencil-1d tasks|futures POINTS STEPS PARTITION RUNS [SUM]
// weft-stencil-1d session POINTS STEPS TRIALS OBJECTIVE
//
// Prints a line per run: "run" with what the counters say. Each result is compared with the serial
// program's SUM, which it computes where none is given. A session changes the partition size between
// trials by weft::tune::session (with WEFT_TUNE=on) and prints where it ended; its points
// are those of the trial before.
#include "heat.hpp"

#include <weft/counters.hpp>
#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::uint64_t number(const char *text) {
  char *end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (*text == '\0' || *end != '\0')
    throw std::runtime_error("'" + std::string(text) + "' is not a number");
  return value;
}

std::size_t positive(const char *text) {
  const std::uint64_t value = number(text);
  if (value == 0)
    throw std::runtime_error("'" + std::string(text) + "' is not a number of at least 1");
  return value;
}

double ns_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

std::uint64_t serial_sum(std::size_t points, int steps) {
  const std::vector<double> ring = stencil::serial(points, steps);
  return stencil::fingerprint(ring.data(), ring.size(), 0);
}

void refuse_partition(std::size_t points, std::size_t partition) {
  if (points % partition != 0)
    throw std::runtime_error("partitions of " + std::to_string(partition) +
                             " points do not make up " + std::to_string(points));
}

void print_run(double ns, const weft::counters::snapshot &spent) {
  std::printf("run ns %.0f", ns);
  static constexpr const char *k_counters[][2] = {{"tasks", "/threads/count/cumulative"},
                                                  {"exec", "/threads/time/cumulative"},
                                                  {"overhead", "/threads/time/cumulative-overhead"},
                                                  {"management", "/threads/time/management"},
                                                  {"idle", "/threads/time/idle"},
                                                  {"overall", "/threads/time/overall"},
                                                  {"phases", "/threads/count/cumulative-phases"},
                                                  {"accesses", "/threads/count/pending-accesses"},
                                                  {"misses", "/threads/count/pending-misses"}};
  for (const auto &[name, counter] : k_counters)
    std::printf(" %s %.0f", name, spent.value(counter));
  std::printf("\n");
  std::fflush(stdout);
}

bool is_right(std::uint64_t sum, std::uint64_t expected) {
  if (sum == expected)
    return true;
  std::printf("wrong: the sum of the points is %" PRIu64 ", that of the serial program %" PRIu64
              "\n",
              sum, expected);
  return false;
}

int run_sizes(const std::string &model, int argc, char **argv) {
  const std::size_t points = positive(argv[2]), partition = positive(argv[4]),
                    runs = positive(argv[5]);
  const int steps = static_cast<int>(positive(argv[3]));
  refuse_partition(points, partition);
  const std::uint64_t expected = argc > 6 ? number(argv[6]) : serial_sum(points, steps);
  weft::start();
  for (std::size_t i = 0; i < runs; ++i) {
    std::uint64_t sum = 0;
    double ns = 0;
    if (model == "tasks") {
      stencil::in_tasks ring(points, partition);
      const weft::counters::reader since;
      const auto begin = std::chrono::steady_clock::now();
      ring.run(steps);
      ns = ns_since(begin);
      print_run(ns, since.evaluate());
      sum = ring.sum();
    } else {
      const weft::counters::reader since;
      sum = stencil::in_futures(points, partition, steps, ns);
      print_run(ns, since.evaluate());
    }
    if (!is_right(sum, expected))
      return 1;
  }
  return 0;
}

std::vector<std::int64_t> sizes_of(std::size_t points, std::size_t least, std::size_t most) {
  std::vector<std::int64_t> sizes;
  for (std::size_t size = least; size <= most; ++size)
    if (points % size == 0)
      sizes.push_back(static_cast<std::int64_t>(size));
  return sizes;
}

int run_session(char **argv) {
  const std::size_t points = positive(argv[2]), trials = positive(argv[4]);
  const int steps = static_cast<int>(positive(argv[3]));
  weft::start();
  const std::vector<std::int64_t> sizes = sizes_of(points, 1000, points / 4);
  if (sizes.empty())
    throw std::runtime_error("no partition size of 1000 points or more makes four partitions");
  const std::string objective = argv[5];
  weft::tune::knob partition("stencil.partition", sizes[sizes.size() / 2], sizes);
  stencil::in_tasks ring(points, static_cast<std::size_t>(partition.value()));
  int calls = 0;
  const auto begin = std::chrono::steady_clock::now();
  {
    weft::tune::session tuned(partition, {objective == "time" ? "" : objective, "", 1.0});
    for (; calls < static_cast<int>(trials) && !tuned.settled(); ++calls) {
      weft::tune::trial one(tuned, static_cast<double>(points) * steps);
      ring.repartition(static_cast<std::size_t>(partition.value()));
      ring.run(steps);
    }
    std::printf("session trials %zu calls %d size %lld settled %d ns %.0f\n%s\n", tuned.trials(),
                calls, static_cast<long long>(partition.value()), tuned.settled() ? 1 : 0,
                ns_since(begin), tuned.decision().c_str());
  }
  return is_right(ring.sum(), serial_sum(points, steps * calls)) ? 0 : 1;
}

int run(int argc, char **argv) {
  const std::string model = argc > 1 ? argv[1] : "";
  if (model == "serial" && argc == 4) {
    const std::size_t points = positive(argv[2]);
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t sum = serial_sum(points, static_cast<int>(positive(argv[3])));
    std::printf("serial ns %.0f sum %" PRIu64 "\n", ns_since(begin), sum);
    return 0;
  }
  if ((model == "tasks" || model == "futures") && (argc == 6 || argc == 7))
    return run_sizes(model, argc, argv);
  if (model == "session" && argc == 6)
    return run_session(argv);
  throw std::runtime_error(
      "needs: serial POINTS STEPS, or tasks|futures POINTS STEPS PARTITION RUNS "
      "[SUM], or session POINTS STEPS TRIALS OBJECTIVE");
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-stencil-1d: %s\n", e.what());
    return 2;
  }
}
