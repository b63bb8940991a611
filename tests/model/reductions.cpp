// SPDX-License-Identifier: Apache-2.0
#include "reductions.hpp"

#include "checker/models.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace weft_model {

namespace {

using clock_type = computing_clock;

constexpr std::uint64_t k_most_executions[] = {30'000, 100'000,
                                               100'000}; // without, with sleep sets, with states

struct totals {
  std::uint64_t steps[3] = {}; // of the models that the plain search exhausts
  int explorations = 0, failing = 0, skipped = 0, wrong = 0;
};

outcome explore(const program &p, reduction r) {
  limits l;
  l.reduce = r;
  l.executions = k_most_executions[static_cast<int>(r)];
  return the_engine().explore(p, l);
}

bool is_complete(const outcome &o) { return o.failed || o.exhausted; }

/// The kind of a failure: which thread notices it first depends on the order of the search.
std::string kind(const outcome &o) {
  if (!o.failed)
    return "passes";
  const auto at = o.failure.find(": ");
  return o.failure.substr(at + 2, o.failure.find_first_of(":,(", at + 2) - at - 2);
}

bool agree(const outcome &a, const outcome &b) {
  return a.failed == b.failed && (a.failed || (b.exhausted && a.observed == b.observed));
}

/// The weakest reduction with which the model can be exhausted is held against the stronger ones.
void compare(const program &p, const std::string &what, totals &t) {
  constexpr const char *names[] = {"no reduction", "sleep sets", "states"};
  outcome with[3];
  int reference = 3;
  for (int r : {0, 1, 2}) {
    with[r] = explore(p, static_cast<reduction>(r));
    if (reference > r && is_complete(with[r]))
      reference = r;
    if (reference < r && !agree(with[reference], with[r])) {
      ++t.wrong;
      std::printf("FAILED %s%s: %s with %s, %s with %s\n", p.name, what.c_str(),
                  kind(with[reference]).c_str(), names[reference], kind(with[r]).c_str(), names[r]);
    }
  }
  if (reference > 1) {
    ++t.skipped;
    return;
  }
  ++t.explorations;
  t.failing += with[reference].failed;
  if (with[reference].failed || !what.empty())
    return;
  if (reference == 0)
    for (int r : {0, 1, 2})
      t.steps[r] += with[r].steps;
  std::printf("%-44s %9llu%s steps, %9llu with sleep sets, %9llu with states\n", p.name,
              static_cast<unsigned long long>(with[0].steps), reference ? "+" : " ",
              static_cast<unsigned long long>(with[1].steps),
              static_cast<unsigned long long>(with[2].steps));
}

} // namespace

int compare_reductions(const std::string &only, double seconds) {
  const auto until = clock_type::now() + std::chrono::duration_cast<clock_type::duration>(
                                             std::chrono::duration<double>(seconds));
  engine &e = the_engine();
  totals t;
  const auto wanted = [&](const model &m) {
    return clock_type::now() < until && std::string(m.what.name).find(only) != std::string::npos;
  };
  for (const model &m : all_models())
    if (wanted(m))
      compare(m.what, "", t);
  const std::size_t sites = e.sites().size();
  for (std::size_t s = 0; s < sites; ++s) {
    e.weaken(static_cast<int>(s), std::memory_order_relaxed);
    for (const model &m : all_models())
      if (m.must_pass && m.what.threads <= 2 && wanted(m))
        compare(m.what,
                " with " + e.sites()[s].file + ":" + std::to_string(e.sites()[s].line) + " relaxed",
                t);
  }
  e.weaken(-1, std::memory_order_relaxed);
  std::printf(
      "reductions: %d explorations compared (%d of them failing), %d too large; %d differ; steps %llu, with sleep sets "
      "%llu, with states %llu\n",
      t.explorations, t.failing, t.skipped, t.wrong, static_cast<unsigned long long>(t.steps[0]),
      static_cast<unsigned long long>(t.steps[1]), static_cast<unsigned long long>(t.steps[2]));
  const bool falls = t.steps[2] < t.steps[1] && t.steps[1] < t.steps[0];
  return t.wrong == 0 && falls ? 0 : 1;
}

} // namespace weft_model
