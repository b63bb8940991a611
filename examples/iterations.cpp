// SPDX-License-Identifier: Apache-2.0
// Gauss-Seidel sweeps over blocks: the graph of a sweep is built once.
#include <weft/weft.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

/// Relaxes the block [begin, end) and returns the largest change.
static double relax(std::vector<double> &u, int begin, int end) {
  double change = 0;
  for (int i = begin; i < end; ++i) {
    const double next = (u[i - 1] + u[i + 1]) / 2;
    change = std::fmax(change, std::fabs(next - u[i]));
    u[i] = next;
  }
  return change;
}

int main() {
  const int blocks = 8, size = 16, n = blocks * size;
  std::vector<double> u(n + 2), change(blocks + 2);
  u[n + 1] = 1;

  // 100 sweeps. A block of the next sweep starts when its neighbours allow it, wherever the others are.
  weft::taskiter(100, [&] {
    for (int b = 1; b <= blocks; ++b)
      weft::spawn([&, b] { change[b] = relax(u, 1 + (b - 1) * size, 1 + b * size); }, weft::in(change[b - 1]),
                  weft::inout(change[b]), weft::in(change[b + 1]), weft::label("relax"));
  });

  // As long as something changes.
  double largest = 1;
  int sweeps = 0;
  weft::taskiter([&] { return largest > 1e-7; }, [&] {
    for (int b = 1; b <= blocks; ++b)
      weft::spawn([&, b] { change[b] = relax(u, 1 + (b - 1) * size, 1 + b * size); }, weft::in(change[b - 1]),
                  weft::inout(change[b]), weft::in(change[b + 1]));
    std::vector<weft::access> all;
    for (double &c : change)
      all.push_back(weft::in(c));
    weft::spawn(
        [&] {
          largest = 0;
          for (double c : change)
            largest = std::fmax(largest, c);
          ++sweeps;
        },
        weft::accesses(all), weft::out(largest));
  });

  double error = 0;
  for (int i = 0; i <= n + 1; ++i)
    error = std::fmax(error, std::fabs(u[i] - static_cast<double>(i) / (n + 1)));
  std::printf("%d more sweeps, error %.4f\n", sweeps, error);
  return error < 0.01 ? 0 : 1;
}
