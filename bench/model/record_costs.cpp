// SPDX-License-Identifier: Apache-2.0
// Writes what pieces of real work take on this machine, for the models (recorded_costs.hpp): each piece
// is measured alone, in repetitions that take some microseconds together; the least of many rounds counts.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

volatile double g_sink; // so that no piece is left out

/// Has rows of a picture of Mandelbrot's set.
struct mandelbrot {
  static constexpr const char *k_name = "mandelbrot";
  static constexpr std::size_t k_rows = 512;
  static constexpr int k_columns = 16, k_most = 128;
  [[nodiscard]] std::size_t pieces() const { return k_rows; }
  [[nodiscard]] double operator()(std::size_t row) const {
    int steps = 0;
    const double y = -1.25 + 2.5 * static_cast<double>(row) / k_rows;
    for (int column = 0; column < k_columns; ++column) {
      const double x = -2 + 2.5 * column / k_columns;
      double a = 0, b = 0;
      for (int n = 0; n < k_most && a * a + b * b < 4; ++n, ++steps) {
        const double next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
      }
    }
    return steps;
  }
};

/// Has leaves of a tree of bodies, most of which are near its middle: a leaf computes what all bodies of
/// its neighbours do to its own.
struct bodies {
  static constexpr const char *k_name = "bodies";
  static constexpr std::size_t k_leaves = 512, k_bodies = 6000;
  struct body {
    double x, y;
  };
  std::vector<std::vector<body>> leaves{k_leaves};
  bodies() {
    std::mt19937_64 random(3);
    const auto some = [&] { return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0; };
    for (std::size_t i = 0; i < k_bodies; ++i) {
      const double radius = 1 / std::sqrt(std::pow(some(), -2.0 / 3) - 1); // Plummer's
      const double place = radius / (1 + radius); // 0 to 1
      leaves[std::min(k_leaves - 1, static_cast<std::size_t>(place * k_leaves))].push_back({place, some()});
    }
  }
  [[nodiscard]] std::size_t pieces() const { return k_leaves; }
  [[nodiscard]] double operator()(std::size_t leaf) const {
    double force = 0;
    const std::size_t last = std::min(leaf + 1, k_leaves - 1);
    for (std::size_t near = leaf == 0 ? 0 : leaf - 1; near <= last; ++near)
      for (const body &from : leaves[near])
        for (const body &to : leaves[leaf]) {
          const double x = from.x - to.x, y = from.y - to.y;
          force += 1 / std::sqrt(x * x + y * y + 1e-4);
        }
    return force;
  }
};

/// Has the subtrees of ten queens below the third one.
struct queens {
  static constexpr const char *k_name = "queens";
  static constexpr int k_queens = 10, k_above = 3;
  struct board {
    std::uint32_t columns = 0, left = 0, right = 0;
  };
  std::vector<board> subtrees;
  queens() { place({}, 0, [this](const board &b) { subtrees.push_back(b); }); }
  template <class F>
  static void place(board above, int row, F f) {
    if (row == k_above)
      return f(above);
    for (std::uint32_t open = free_of(above); open; open &= open - 1)
      place(with(above, open & -open), row + 1, f);
  }
  static std::uint32_t free_of(const board &b) { return ~(b.columns | b.left | b.right) & ((1U << k_queens) - 1); }
  static board with(const board &b, std::uint32_t queen) {
    return {b.columns | queen, (b.left | queen) << 1, (b.right | queen) >> 1};
  }
  static int ways(const board &above) {
    if (std::popcount(above.columns) == k_queens)
      return 1;
    int sum = 0;
    for (std::uint32_t open = free_of(above); open; open &= open - 1)
      sum += ways(with(above, open & -open));
    return sum;
  }
  [[nodiscard]] std::size_t pieces() const { return subtrees.size(); }
  [[nodiscard]] double operator()(std::size_t i) const { return ways(subtrees[i]); }
};

template <class Work>
double once_ns(const Work &work, std::size_t piece, int times) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i)
    g_sink = g_sink + work(piece);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count() / times;
}

template <class Work>
void record(const Work &work) {
  constexpr int k_rounds = 51;
  constexpr double k_round_ns = 4000;
  std::printf("%s %zu", Work::k_name, work.pieces());
  for (std::size_t i = 0; i < work.pieces(); ++i) {
    const int times = std::clamp(static_cast<int>(k_round_ns / std::max(once_ns(work, i, 1), 1.0)), 1, 1000);
    double least = once_ns(work, i, times);
    for (int round = 1; round < k_rounds; ++round)
      least = std::min(least, once_ns(work, i, times));
    std::printf("%c%.0f", i % 16 == 0 ? '\n' : ' ', std::max(least, 1.0));
  }
  std::printf("\n");
}

} // namespace

int main() {
  std::printf("# Nanoseconds of pieces of work, each the least of 51 rounds, written by weft-record-costs.\n"
              "# mandelbrot: rows of 16 points; bodies: leaves of a tree of 6000 bodies, with their neighbours;\n"
              "# queens: subtrees of ten queens below the third one.\n");
  record(mandelbrot{});
  record(bodies{});
  record(queens{});
  return 0;
}
