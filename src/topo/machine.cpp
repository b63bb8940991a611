// SPDX-License-Identifier: Apache-2.0
#include "topo/machine.hpp"

#include "os/affinity.hpp"
#include "os/file.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

namespace {

std::vector<int> read_list(const std::string &path) {
  const auto text = read_file(path);
  return text ? parse_cpu_list(*text).value_or(std::vector<int>{}) : std::vector<int>{};
}

int read_number(const std::string &path, int otherwise) {
  const auto text = read_file(path);
  const auto number =
      text ? parse_unsigned(trim(*text)) : std::nullopt; // some machines write -1 for "unknown"
  return number && *number <= 0x7fffffff ? static_cast<int>(*number) : otherwise;
}

/// Maps cpus to nodes, for the cpus that sysfs mentions.
std::map<int, int> read_nodes(const std::string &root) {
  std::map<int, int> node_of;
  const std::string base = root + "/sys/devices/system/node/";
  for (const int node : read_list(base + "online"))
    for (const int cpu : read_list(base + "node" + std::to_string(node) + "/cpulist"))
      node_of[cpu] = node;
  return node_of;
}

/// Finds the slower cores. On ARM: those with a capacity below the largest one. On hybrid Intel
/// machines: the CPUs of the driver cpu_atom.
void find_little_cores(machine &host, const std::string &root) {
  const auto atoms = read_list(root + "/sys/devices/cpu_atom/cpus");
  const auto capacity = [&](const cpu_entry &entry) {
    return read_number(
        root + "/sys/devices/system/cpu/cpu" + std::to_string(entry.cpu) + "/cpu_capacity", 1024);
  };
  int most = 0;
  for (const auto &entry : host.cpus)
    most = std::max(most, capacity(entry));
  for (auto &entry : host.cpus)
    entry.little =
        capacity(entry) < most || std::find(atoms.begin(), atoms.end(), entry.cpu) != atoms.end();
}

/// Rounds up. Does not use std::ceil, because a program would have to link the library of
/// mathematics.
int whole_cpus(double cpus) noexcept {
  const int below = static_cast<int>(cpus);
  return below < cpus ? below + 1 : below;
}

} // namespace

int machine::effective_cpus() const noexcept {
  int count = static_cast<int>(cpus.size());
  if (quota.limited() && quota.cpus < count)
    count = whole_cpus(quota.cpus);
  return std::max(1, count);
}

std::vector<int> machine::compact_order() const {
  auto sorted = cpus;
  std::sort(sorted.begin(), sorted.end(), [](const cpu_entry &a, const cpu_entry &b) {
    return std::tie(a.package, a.node, a.core, a.cpu) < std::tie(b.package, b.node, b.core, b.cpu);
  });
  std::vector<int> order;
  for (const auto &entry : sorted)
    order.push_back(entry.cpu);
  return order;
}

std::vector<int> machine::spread_order() const {
  // Each cpu's rank: which sibling it is of its core, which core of its node, which node of its package; the
  // package counts last, so that neighbours in the order are in different packages.
  std::map<int, cpu_entry> entry_of;
  std::map<int, std::set<int>> nodes_of;
  for (const auto &entry : cpus) {
    entry_of[entry.cpu] = entry;
    nodes_of[entry.package].insert(entry.node);
  }
  std::map<std::pair<int, int>, int> siblings;
  std::map<std::tuple<int, int, int>, int> cores;
  std::vector<std::tuple<int, int, int, int, int>> ranks; // sibling, core, node, package, cpu
  for (const int cpu : compact_order()) {
    const auto &entry = entry_of[cpu];
    const int sibling = siblings[{entry.package, entry.core}]++;
    const int core = cores[{entry.package, entry.node, sibling}]++;
    const auto &nodes_here = nodes_of[entry.package];
    const auto node = std::distance(nodes_here.begin(), nodes_here.find(entry.node));
    ranks.emplace_back(sibling, core, static_cast<int>(node), entry.package, cpu);
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<int> order;
  for (const auto &rank : ranks)
    order.push_back(std::get<4>(rank));
  return order;
}

machine read_machine(const std::string &root, const std::vector<int> &mask) {
  machine m;
  const std::string base = root + "/sys/devices/system/cpu/";
  const auto online = read_list(base + "online");
  auto allowed = mask;
  if (allowed.empty())
    allowed = online.empty() ? std::vector<int>{0} : online;
  const auto node_of = read_nodes(root);
  std::set<int> nodes;
  for (const int cpu : allowed) {
    const std::string topology = base + "cpu" + std::to_string(cpu) + "/topology/";
    const auto node = node_of.find(cpu);
    m.cpus.push_back({cpu, node == node_of.end() ? 0 : node->second,
                      read_number(topology + "physical_package_id", 0),
                      read_number(topology + "core_id", cpu)});
    nodes.insert(m.cpus.back().node);
  }
  std::sort(m.cpus.begin(), m.cpus.end(),
            [](const cpu_entry &a, const cpu_entry &b) { return a.cpu < b.cpu; });
  find_little_cores(m, root);
  m.online_cpus = static_cast<int>(std::max(online.size(), allowed.size()));
  m.nodes = static_cast<int>(nodes.size());
  m.quota = read_cpu_quota(root);
  m.memory = read_memory_limit(root);
  m.page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return m;
}

const machine &this_machine() {
  // Never destroyed: threads may still ask while the program exits.
  static const machine *const picture = new machine(read_machine("", current_affinity()));
  return *picture;
}

} // namespace rt
} // namespace weft::inline v0
