// SPDX-License-Identifier: Apache-2.0
// A loop, or a tree of branches, in all ways in turn, for `weft-bench adapt`: serial, with sizes that
// choose themselves, with each fixed grain. Prints the least time of each way, in ns.
#include <weft/join.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr int k_fixed_width = 400; // of a picture
constexpr std::uint64_t k_hopeless = 20; // times the best: such a way is measured once

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// Computes so many steps, each of which waits for the one before.
std::uint64_t steps(std::uint64_t seed, std::uint64_t count) {
  std::uint64_t x = seed;
  for (std::uint64_t i = 0; i < count; ++i)
    x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

std::uint64_t mandelbrot_row(std::uint64_t row, std::uint64_t rows) {
  std::uint64_t sum = 0;
  const double y0 = 2.0 * static_cast<double>(row) / static_cast<double>(rows) - 1;
  for (int column = 0; column < k_fixed_width; ++column) {
    const double x0 = 3.0 * column / k_fixed_width - 2;
    double x = 0, y = 0;
    for (int i = 0; i < 256 && x * x + y * y < 4; ++i, ++sum) {
      const double next = x * x - y * y + x0;
      y = 2 * x * y + y0;
      x = next;
    }
  }
  return sum;
}

constexpr const char *k_names[] = {"uniform", "triangle", "power", "half", "mandelbrot", "tree"};
enum class kind { uniform, triangle, power, half, mandelbrot, tree };

struct loop {
  kind what;
  std::uint64_t n, cost;

  [[nodiscard]] std::uint64_t iteration(std::uint64_t i) const {
    switch (what) {
    case kind::triangle:
      return steps(i, 2 * cost * i / n);
    case kind::power: // a cost of 2^k for one iteration of 2^(k+1)
      return steps(i, cost << std::min(std::countr_zero(mixed(i + 1)), 16));
    case kind::half: // one costs as much as all others
      return steps(i, i == n / 2 ? cost * (n - 1) : cost);
    case kind::mandelbrot:
      return mandelbrot_row(i, n);
    default:
      return steps(i, cost);
    }
  }
  [[nodiscard]] std::uint64_t part(std::uint64_t first, std::uint64_t end) const {
    std::uint64_t sum = 0;
    if (what == kind::uniform) // no question per iteration
      for (std::uint64_t i = first; i < end; ++i)
        sum += steps(i, cost);
    else
      for (std::uint64_t i = first; i < end; ++i)
        sum += iteration(i);
    return sum;
  }
};

struct way {
  std::string name;
  std::function<std::uint64_t()> run;
  std::uint64_t ns = std::numeric_limits<std::uint64_t>::max();
};

std::uint64_t tree(int depth, std::uint64_t node) {
  if (depth == 0)
    return mixed(node);
  return tree(depth - 1, 2 * node) + tree(depth - 1, 2 * node + 1);
}
std::uint64_t joined_tree(int depth, std::uint64_t node) {
  if (depth == 0)
    return mixed(node);
  std::uint64_t left = 0, right = 0;
  weft::join([&] { left = joined_tree(depth - 1, 2 * node); },
             [&] { right = joined_tree(depth - 1, 2 * node + 1); });
  return left + right;
}

template <class... Grain>
std::uint64_t shared_loop(const loop &of, Grain... grain) {
  std::atomic<std::uint64_t> sum{0};
  weft::taskfor(
      weft::range<std::uint64_t>(of.n),
      [&](const weft::range<std::uint64_t> &part) {
        sum.fetch_add(of.part(part.first(), part.limit()), std::memory_order_relaxed);
      },
      grain...);
  return sum;
}

std::vector<way> ways_of(const loop &of) {
  if (of.what == kind::tree) {
    const int depth = static_cast<int>(of.n);
    return {{"serial", [depth] { return tree(depth, 1); }},
            {"self", [depth] { return joined_tree(depth, 1); }}};
  }
  std::vector<way> all{{"serial", [of] { return of.part(0, of.n); }},
                       {"self", [of] { return shared_loop(of); }}};
  for (std::uint64_t grain = 1; grain < of.n; grain *= 4)
    all.push_back({std::to_string(grain),
                   [of, grain] { return shared_loop(of, weft::grain_size(grain)); }});
  return all;
}

std::uint64_t number(const char *text, const char *what, std::uint64_t most) {
  char *end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (end == text || *end || value == 0 || value > most) {
    std::fprintf(stderr, "weft-adapt-sample: %s is '%s'; it must be a number from 1 to %llu\n", what,
                 text, static_cast<unsigned long long>(most));
    std::exit(2);
  }
  return value;
}

} // namespace

int main(int argc, char **argv) {
  const auto *const name = argc == 5 ? std::find(std::begin(k_names), std::end(k_names), std::string(argv[1]))
                                     : std::end(k_names);
  if (name == std::end(k_names)) {
    std::fprintf(stderr,
                 "weft-adapt-sample needs: uniform|triangle|power|half|mandelbrot|tree, the number of "
                 "iterations (of a tree, its depth), the steps of an iteration, the number of runs\n");
    return 2;
  }
  const auto what = static_cast<kind>(name - std::begin(k_names));
  const loop of{what, number(argv[2], "the number of iterations", what == kind::tree ? 30 : 100'000'000),
                number(argv[3], "the steps of an iteration", 10'000'000)};
  const std::uint64_t runs = number(argv[4], "the number of runs", 100'000);
  weft::start();
  std::vector<way> all = ways_of(of);
  const std::uint64_t expected = all[0].run();
  std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t r = 0; r < runs; ++r)
    for (way &w : all) {
      if (r != 0 && w.name != "serial" && w.name != "self" && w.ns / k_hopeless > best)
        continue;
      const auto begin = std::chrono::steady_clock::now();
      const std::uint64_t result = w.run();
      const auto ns = static_cast<std::uint64_t>(
          std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
      if (result != expected) {
        std::fprintf(stderr, "wrong: the way '%s' has another result than the serial loop\n",
                     w.name.c_str());
        return 1;
      }
      w.ns = std::min(w.ns, std::max<std::uint64_t>(ns, 1));
      best = std::min(best, w.ns);
    }
  for (const way &w : all)
    std::printf("%s %llu\n", w.name.c_str(), static_cast<unsigned long long>(w.ns));
}
