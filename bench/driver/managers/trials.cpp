// SPDX-License-Identifier: Apache-2.0
#include "trials.hpp"

#include <algorithm>
#include <tuple>

namespace bench::managers {

namespace {

constexpr const char *k_parameters[] = {"max_managers", "max_spins", "max_ops", "min_ready"};
constexpr int k_most_of_parameter = 128;

bool listed(const std::vector<std::string> &names, const std::string &name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::string upper(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::toupper(c); });
  return s;
}

/// Returns the modes of a study when the user names none.
bool belongs(study s, const std::string &mode) {
  if (s == study::times || s == study::bodies)
    return true;
  if (s == study::pairs)
    return mode == "direct" || mode == "distributed" || mode == "auto";
  return mode == "direct" || mode == "thesis";
}

/// Returns the three applications of the paper's parameter study; the pictures show all.
bool belongs(study s, const program &p) {
  return s != study::parameters || p.name == "matmul" || p.name == "nbody" || p.name == "sparselu";
}

void add_parameters(std::vector<trial> &to, trial t) {
  for (const char *name : k_parameters)
    for (int value = 1; value <= k_most_of_parameter; value *= 2) {
      trial one = t;
      one.parameter = std::string(name) + "=" + std::to_string(value);
      one.settings.push_back("WEFT_MANAGE_" + upper(name) + "=" + std::to_string(value));
      to.push_back(one);
    }
}

void add(std::vector<trial> &to, study s, const options &o, const program &p, const mode &m,
         int run) {
  for (const int workers : o.workers)
    for (const bool fine : {false, true}) {
      if (s == study::parameters && !fine)
        continue; // only where the parameters matter
      trial t{s,
              p.name,
              fine ? "fine" : "coarse",
              m.name,
              fine ? p.fine : p.coarse,
              workers,
              {},
              m.settings,
              run};
      if (s == study::parameters && m.name == "thesis")
        add_parameters(to, t);
      else
        to.push_back(t);
    }
}

/// Orders the modes of one configuration one after the other, and in reverse in every second run,
/// so that a drift of the machine favours no mode.
void put_side_by_side(std::vector<trial>::iterator first, std::vector<trial>::iterator last,
                      int run) {
  if (run % 2 == 0)
    std::reverse(first, last);
  const auto less = [](const trial &a, const trial &b) {
    return std::tie(a.grain, a.workers) < std::tie(b.grain, b.workers);
  };
  for (auto at = first; at != last;
       ++at) // stable; std::stable_sort of libstdc++ 12 makes clang warn
    std::rotate(std::upper_bound(first, at, *at, less), at, at + 1);
}

} // namespace

const std::vector<program> &all_programs() {
  static const std::vector<program> all{{"two_wave", 16384, 512},
                                        {"cholesky", 64, 24},
                                        {"matmul", 64, 24},
                                        {"sparselu", 32, 8},
                                        {"nbody", 32, 8}};
  return all;
}

const std::vector<mode> &all_modes() {
  static const std::string manage = "WEFT_MANAGE_MODE=";
  static const std::vector<mode> all{
      {"direct", {manage + "direct"}},
      {"distributed", {manage + "distributed"}},
      {"auto", {manage + "auto"}},
      {"thesis", {manage + "distributed", "WEFT_MANAGE_BACKLOG=0"}}, // workers post everything
      {"hybrid", {manage + "hybrid"}},
      {"central", {manage + "central"}},
      {"forced",
       {manage + "central",
        "WEFT_MANAGE_FORCED=true"}}, // without graph locks: wait-free dependencies have none
      {"direct, locks", {manage + "direct", "WEFT_DEPS_SYSTEM=locks"}},
      {"distributed, locks", {manage + "distributed", "WEFT_DEPS_SYSTEM=locks"}},
      {"forced, locks", {manage + "central", "WEFT_MANAGE_FORCED=true", "WEFT_DEPS_SYSTEM=locks"}},
  };
  return all;
}

std::string name_of(study s) {
  switch (s) {
  case study::times:
    return "times";
  case study::bodies:
    return "bodies";
  case study::pairs:
    return "pairs";
  case study::parameters:
    return "parameters";
  case study::shapes:
    break;
  }
  return "shapes";
}

int runs_of(study s, const options &o) {
  if (s == study::shapes)
    return 1;
  return o.runs              ? o.runs
         : s == study::times ? 5
         : s == study::pairs ? 15
                             : 3; // 15: the 95 % interval leaves out three at each end
}

std::vector<trial> trials_of(study s, const options &o) {
  std::vector<trial> all;
  for (int run = 1; run <= runs_of(s, o); ++run)
    for (const program &p : all_programs()) {
      const std::size_t first = all.size();
      for (const mode &m : all_modes())
        if (listed(o.only, p.name) && listed(o.modes, m.name) && belongs(s, p) &&
            (!o.modes.empty() || belongs(s, m.name)))
          add(all, s, o, p, m, run);
      if (s == study::pairs)
        put_side_by_side(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), run);
    }
  return all;
}

} // namespace bench::managers
