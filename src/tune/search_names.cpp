// SPDX-License-Identifier: Apache-2.0
#include "tune/search_names.hpp"

#include "tune/nlopt_search.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::string_view k_nlopt = "nlopt:";
constexpr std::size_t k_line_trials = 12, k_trials = 40;
constexpr std::uint64_t k_seed = 1; // the same points in each run

bool is_line(std::string_view name) { return name == "line" || name == "law"; }

std::string all_names() {
  std::string text = "line, law, simplex, exhaustive, random";
  for (const std::string_view one : nlopt_searches())
    text += ", " + std::string(k_nlopt) + std::string(one);
  return text;
}

std::unique_ptr<search> make_default(const lattice &space, int first) {
  if (space.dimensions() != 1)
    return std::make_unique<simplex_search>(space, k_trials);
  const int size = space.sizes[0];
  return std::make_unique<line_search>(size, first, k_line_trials, std::max(2, size / 8));
}

} // namespace

std::string why_no_search(std::string_view name, std::size_t knobs) {
  if (is_line(name))
    return knobs == 1 ? "" : "goes along one knob, and the session has several";
  if (name.empty() || name == "simplex" || name == "exhaustive" || name == "random")
    return "";
  const auto &names = nlopt_searches();
  if (name.starts_with(k_nlopt) &&
      std::find(names.begin(), names.end(), name.substr(k_nlopt.size())) != names.end())
    return "";
  return "is not known; there are " + all_names();
}

bool begins_by_law(std::string_view name) noexcept { return name == "law"; }

std::unique_ptr<search> make_search(std::string_view name, const lattice &space,
                                    const lattice_point &first, std::optional<int> guess,
                                    std::string &trouble) {
  if (name == "simplex")
    return std::make_unique<simplex_search>(space, k_trials);
  if (name == "exhaustive")
    return std::make_unique<exhaustive_search>(space, static_cast<std::size_t>(space.points()));
  if (name == "random")
    return std::make_unique<random_search>(space, k_trials, k_seed);
  if (name.starts_with(k_nlopt)) {
    if (auto made = make_nlopt_search(name.substr(k_nlopt.size()), space, first, k_trials))
      return made;
    trouble = nlopt_here().text;
  }
  return make_default(space, guess.value_or(first[0]));
}

} // namespace rt
} // namespace weft::inline v0
