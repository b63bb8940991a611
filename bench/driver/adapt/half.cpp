// SPDX-License-Identifier: Apache-2.0
// Row T7: the half points of the applications, beside those before tasks were made cheaper.
#include "half.hpp"

#include "../apps/curves.hpp"
#include "../process.hpp"
#include "application.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace bench::adapt {

namespace {

// Column "weft" of the first table of docs/benchmarks/granularity.md.
constexpr known_half k_before[] = {
    {"amr", 4460},     {"cholesky", 7410}, {"dot", 4530},   {"gauss_seidel", 3370}, {"hpccg", 11'500},
    {"lulesh", 15'100}, {"matmul", 4190},   {"nbody", 9540}, {"sparselu", 2170},     {"two_wave", 1670}};

} // namespace

std::span<const known_half> halves_before() { return k_before; }

half_bracket bracket_half(std::vector<long> tiles, const std::function<double(long)> &efficiency) {
  std::sort(tiles.begin(), tiles.end());
  std::size_t below = 0, above = tiles.size(); // tiles[.. below) are below one half, [above ..] are not
  while (below < above) {
    const std::size_t middle = below + (above - below) / 2;
    if (efficiency(tiles[middle]) >= 0.5)
      above = middle;
    else
      below = middle + 1;
  }
  half_bracket found;
  if (below != 0)
    found.fine = tiles[below - 1];
  if (above != tiles.size())
    found.coarse = tiles[above];
  return found;
}

line assess_half(const known_half &before, const apps::half_point &now) {
  char text[128];
  std::snprintf(text, sizeof text, "%s: %s%.3g instructions a task at half speed, %.3g before", before.app,
                now.beyond ? "less than " : "", now.instructions, before.instructions);
  return {"T7", text, {}, {now.instructions / before.instructions, 1 / 1.5, "x"}};
}

line measure_half(const known_half &before, int workers, int runs) {
  // The counts of instructions stay in the folder.
  application_samples samples(find_application(before.app), build_folder() + "/bench/adapt-half/" + before.app,
                              workers, runs);
  const half_bracket found = bracket_half(samples.of().sweep, [&](long tile) {
    samples.measure({tile});
    return samples.efficiency(tile);
  });
  if (!found.coarse)
    throw std::runtime_error("no tile reaches one half: the workers did not get their processors; measure it on a quiet machine");
  std::vector<long> both{*found.coarse};
  if (found.fine)
    both.push_back(*found.fine);
  samples.count(both);
  apps::subject narrow = samples.of();
  narrow.sweep = both;
  const std::vector<apps::curve> curves = apps::curves(samples.all(), narrow, workers);
  const apps::curve *const own = apps::find(curves, "weft");
  const auto half = own ? apps::half(*own) : std::nullopt;
  if (!half)
    throw std::runtime_error("its curve has no half point");
  return assess_half(before, *half);
}

} // namespace bench::adapt
