// SPDX-License-Identifier: Apache-2.0
// Setting manage.workers: chooses the workers that may manage, by the CPUs that they are bound to.
#include "base/error.hpp"
#include "managers/managers.hpp"
#include "os/affinity.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

std::vector<int> chosen_cpus(const std::string &which, const machine &host) {
  if (which != "big" && which != "little") {
    const auto list = parse_cpu_list(which);
    if (!list || list->empty())
      throw_error(
          errc::bad_setting,
          "manage.workers = '%s' is neither all, big, little nor a list of CPUs; write 0-3,8 for instance",
          which.c_str());
    return *list;
  }
  std::vector<int> cpus;
  for (const cpu_entry &p : host.cpus)
    if (p.little == (which == "little"))
      cpus.push_back(p.cpu);
  return cpus;
}

} // namespace

std::vector<unsigned> choose_managers(const settings &values, const machine &host,
                                      unsigned workers) {
  if (values.manage_workers == "all")
    return {};
  const std::vector<int> cpus = chosen_cpus(values.manage_workers, host);
  if (values.bind == bind_kind::none)
    throw_error(
        errc::bad_setting,
        "manage.workers = '%s' chooses workers by their CPUs, and they are not bound; set bind = compact or "
        "spread with it",
        values.manage_workers.c_str());
  const std::vector<int> order =
      values.bind == bind_kind::compact ? host.compact_order() : host.spread_order();
  std::vector<unsigned> chosen;
  for (unsigned id = 0; id < workers; ++id)
    if (std::find(cpus.begin(), cpus.end(), order[id % order.size()]) != cpus.end())
      chosen.push_back(id);
  if (chosen.empty())
    throw_error(
        errc::bad_setting,
        "manage.workers = '%s' leaves no worker to manage: none is bound to such a CPU; name one of those that "
        "`weft info` shows",
        values.manage_workers.c_str());
  return chosen;
}

} // namespace rt
} // namespace weft::inline v0
