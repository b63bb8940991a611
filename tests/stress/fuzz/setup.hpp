// SPDX-License-Identifier: Apache-2.0
// With which settings, and by which build, random programs are run.
#pragma once

#include "config/settings.hpp"
#include "stress/fuzz/matrix.hpp"
#include "support/process.hpp"
#include "topo/machine.hpp"

#include <cstdint>
#include <utility>

namespace fuzz {

/// What one configuration is run with.
struct setup {
  std::string name, program;
  test::environment settings;
};

using other_builds = std::vector<
    std::pair<std::string, std::string>>; // name and path of the fuzzer built in another way

inline std::vector<dimension> dimensions_of(const other_builds &others) {
  const int cpus = weft::rt::this_machine().effective_cpus();
  dimension builds{"build", {"this"}};
  for (auto &[name, path] : others)
    builds.values.push_back(name);
  return {builds,
          {"workers", {"1", std::to_string(cpus), std::to_string(4 * cpus)}},
          {"sched.policy", {"stealing", "delegated", "local-fifo", "central", "seeded"}},
          {"deps.system", {"wait-free", "locks", "regions"}},
          {"sched.lock_queues", {"1", "2"}},
          {"sched.immediate_successor", {"1", "0", "0.5"}},
          {"wait.policy", {"help", "suspend", "sleep"}},
          {"throttle.policy", {"bytes", "tasks", "none"}},
          {"throttle.tasks", {"2048", "16"}},
          {"throttle.bytes", {"16MiB", "64KiB"}},
          {"throttle.soft", {"512KiB", "64KiB"}},
          {"spin.us", {"20us", "0us"}},
          {"mem.allocator", {"slab", "system"}},
          {"manage.mode", {"direct", "distributed", "central", "hybrid", "auto"}},
          {"manage.backlog", {"16", "0"}}};
}

/// Every pair of two values is in one of them.
inline std::vector<setup> setups_of(const other_builds &others, std::uint64_t seed) {
  const auto dimensions = dimensions_of(others);
  enum { build, workers, policy };
  const auto seeded = dimensions[policy].values.size() - 1;
  std::vector<setup> all;
  for (const configuration &c : pairwise(dimensions, [&](const configuration &c) {
         return c[policy] != seeded || c[workers] == 0;
       })) {
    setup s;
    s.program = c[build] == 0 ? test::program_path() : others[c[build] - 1].second;
    for (std::size_t d = 0; d != dimensions.size(); ++d) {
      const std::string &value = dimensions[d].values[c[d]];
      s.name += value + std::string(value.size() < 11 ? 11 - value.size() : 1, ' ');
      if (d != build)
        s.settings.emplace_back(
            weft::rt::setting_table()[weft::rt::find_setting(dimensions[d].name)].environment,
            value);
    }
    if (c[policy] == seeded)
      s.settings.emplace_back("WEFT_SCHED_SEED", std::to_string(1 + seed % 1'000'000));
    s.settings.insert(s.settings.end(), {{"TSAN_OPTIONS", "halt_on_error=1"},
                                         {"UBSAN_OPTIONS", "print_stacktrace=1"}});
    all.push_back(std::move(s));
  }
  return all;
}

} // namespace fuzz
