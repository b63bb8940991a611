// SPDX-License-Identifier: Apache-2.0
// Tasks that share one object: reductions, with an operation of Weft and one of one's own; tasks that take turns; tasks that
// keep out of each other's way by themselves.
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

constexpr auto longer = [](std::string &into, const std::string &from) {
  if (into.size() < from.size() || (into.size() == from.size() && from < into))
    into = from;
};

int main() {
  std::vector<double> a(1 << 16, 0.5), b(1 << 16, 4.0);
  double dot = 0;
  const std::size_t block = 4096;
  for (std::size_t first = 0; first < a.size(); first += block)
    weft::spawn(
        [&, first] {
          double &mine = weft::reduction_local(dot); // once, before the loop
          for (std::size_t i = first; i != first + block; ++i)
            mine += a[i] * b[i];
        },
        weft::in(a[first]), weft::in(b[first]), weft::reduction(dot, weft::sum));
  double norm = 0;
  weft::spawn([&] { norm = dot / 2; }, weft::in(dot), weft::out(norm)); // sees the whole sum

  std::string longest;
  for (const char *word : {"warp", "shuttle", "weft", "heddle"})
    weft::spawn([&, word] { longer(weft::reduction_local(longest), word); }, weft::reduction(weft::object(longest), longer, std::string()));

  std::vector<int> particles[2];
  for (int i = 0; i < 10; ++i) // any order, one at a time, both vectors together
    weft::spawn(
        [&, i] {
          particles[0].push_back(i);
          particles[1].push_back(-i);
        },
        weft::commutative(weft::object(particles[0])), weft::commutative(weft::object(particles[1])));

  std::atomic<int> hits{0};
  for (int i = 0; i < 10; ++i)
    weft::spawn([&] { ++hits; }, weft::concurrent(hits)); // at once
  int seen = 0;
  weft::spawn([&] { seen = hits; }, weft::in(hits)); // after all of them

  weft::taskwait();
  const int sum = std::accumulate(particles[0].begin(), particles[0].end(), 0);
  std::printf("dot %.1f, half of it %.1f, longest %s, %zu particles, %d hits\n", dot, norm, longest.c_str(), particles[0].size(), seen);
  const bool right = dot == 131072 && norm == 65536 && longest == "shuttle" && sum == 45 && particles[1].size() == 10 && seen == 10;
  return right ? 0 : 1;
}
