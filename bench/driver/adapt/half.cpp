// SPDX-License-Identifier: Apache-2.0
// Row T7: the half points of the applications, beside those before tasks were made cheaper.
#include "half.hpp"

#include "../apps/apps.hpp"
#include "../apps/curves.hpp"
#include "../apps/sweep.hpp"
#include "../process.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace bench::adapt {

namespace {

// Column "weft" of the first table of docs/benchmarks/granularity.md.
constexpr known_half k_before[] = {
    {"amr", 4460},     {"cholesky", 7410}, {"dot", 4530},   {"gauss_seidel", 3370}, {"hpccg", 11'500},
    {"lulesh", 15'100}, {"matmul", 4190},   {"nbody", 9540}, {"sparselu", 2170},     {"two_wave", 1670}};

double median_efficiency(const apps::record &all, const apps::subject &of, long tile, int workers) {
  std::vector<double> seen;
  for (const apps::sample &s : all.samples())
    if (s.app == of.name && s.size == of.size && s.tile == tile && s.workers == workers)
      seen.push_back(s.serial_s / (s.wall_s * workers));
  if (seen.empty())
    throw std::runtime_error("no sample of tile " + std::to_string(tile));
  std::nth_element(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2), seen.end());
  return seen[seen.size() / 2];
}

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
  const std::vector<apps::subject> all = apps::find_subjects();
  const auto of = std::find_if(all.begin(), all.end(),
                               [&](const apps::subject &s) { return s.name == before.app; });
  if (of == all.end())
    throw std::runtime_error("the application is not there; build the target weft_apps");
  apps::options o;
  o.series = {"weft"};
  o.workers = workers;
  o.runs = runs;
  const std::string folder = build_folder() + "/bench/adapt-half/" + before.app;
  std::filesystem::remove(folder + "/samples.csv"); // the counts of instructions stay
  apps::record samples(folder);
  const auto ask = [&](std::vector<long> tiles, bool counts) {
    o.tiles = std::move(tiles);
    apps::sweep work(o, samples);
    if (counts)
      work.count({*of});
    else
      work.measure({*of});
    if (!work.failures().empty())
      throw std::runtime_error(work.failures().front());
  };
  const half_bracket found = bracket_half(of->sweep, [&](long tile) {
    ask({tile}, false);
    return median_efficiency(samples, *of, tile, workers);
  });
  if (!found.coarse)
    throw std::runtime_error("no tile reaches one half: the workers did not get their processors; measure it on a quiet machine");
  std::vector<long> both{*found.coarse};
  if (found.fine)
    both.push_back(*found.fine);
  ask(both, true);
  apps::subject narrow = *of;
  narrow.sweep = both;
  const std::vector<apps::curve> curves = apps::curves(samples, narrow, workers);
  const apps::curve *const own = apps::find(curves, "weft");
  const auto half = own ? apps::half(*own) : std::nullopt;
  if (!half)
    throw std::runtime_error("its curve has no half point");
  return assess_half(before, *half);
}

} // namespace bench::adapt
