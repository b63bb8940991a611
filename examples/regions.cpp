// SPDX-License-Identifier: Apache-2.0
// Tasks that are ordered by the parts of arrays that they touch: a vector, blocks of a matrix, and both at once.
#include <weft/weft.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr int k_side = 8;

void add_to_block(double *m, int row, int column, int n, double x) {
  for (int i = row; i < row + n; ++i)
    for (int j = column; j < column + n; ++j)
      m[i * k_side + j] += x;
}

double halves_and_their_middle() {
  std::vector<double> v(100, 1.0);
  double sum = 0;
  weft::spawn([&] { v[10] = 2; }, weft::inout(weft::region(v).range(0, 49)));  // v[0:49]
  weft::spawn([&] { v[60] = 3; }, weft::inout(weft::region(v).span(50, 50)));  // v[50;50]: beside the first one
  weft::spawn([&] { v[10] += v[60]; }, weft::inout(weft::region(v).range(5, 60))); // after both
  weft::spawn([&] { sum = std::accumulate(v.begin(), v.end(), 0.0); }, weft::in(weft::region(v)), weft::out(sum));
  weft::taskwait();
  return sum;
}

double blocks_of_a_matrix() {
  std::vector<double> matrix(k_side * k_side, 0.0);
  double *m = matrix.data();
  const weft::region all(m, {k_side, k_side});
  for (int i = 0; i < k_side; i += 4)
    for (int j = 0; j < k_side; j += 4)
      weft::spawn([=] { add_to_block(m, i, j, 4, 1); }, weft::inout(all.span(i, 4).span(j, 4))); // these four run together
  weft::spawn([=] { add_to_block(m, 2, 2, 4, 10); }, weft::inout(all.span(2, 4).span(2, 4)));     // after the four
  double row = 0;
  weft::spawn([=, &row] { row = std::accumulate(m + 3 * k_side, m + 4 * k_side, 0.0); }, weft::in(all.span(3, 1)), weft::out(row));
  weft::taskwait();
  return row;
}

double parts_of_a_part() {
  std::vector<int> v(8, 1);
  std::vector<weft::region_access> pairs;
  for (int i = 0; i < 8; i += 4)
    pairs.push_back(weft::inout(weft::region(v).span(i, 2)));
  weft::spawn([&] {
    for (int i = 0; i < 8; i += 2)
      weft::spawn([&v, i] { v[static_cast<std::size_t>(i)] += i; }, weft::inout(weft::region(v).span(i, 2)));
  }, weft::weak_inout(weft::region(v)));
  weft::spawn([&] { v[0] *= 10, v[4] *= 10; }, weft::regions(pairs)); // waits for the first and the third child above
  weft::taskwait(weft::in(weft::region(v).range(0, 5)));
  const double sum = v[0] + v[4];
  weft::taskwait(); // the last child may still write, and v ends here
  return sum;
}

} // namespace

int main() {
  const double sum = halves_and_their_middle(), row = blocks_of_a_matrix(), parts = parts_of_a_part();
  std::printf("%g %g %g\n", sum, row, parts);
  const bool right = sum == 106 && row == 48 && parts == 60;
  weft::taskwait();
  return right ? 0 : 1;
}
