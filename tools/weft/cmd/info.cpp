// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/commands.hpp"

#include "atomic/atomic.hpp"
#include "config/settings.hpp"
#include "os/file.hpp"
#include "topo/machine.hpp"
#include "tune/nlopt_search.hpp"

#include <weft/version.hpp>

#include <cstdio>
#include <map>
#include <set>

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL // Linux 6.13; the headers may be older than the kernel
#define MADV_GUARD_INSTALL 102
#endif

namespace weft_tool {

using namespace weft::rt;

const char k_info_help[] =
    "usage: weft info\n"
    "\n"
    "Shows the CPUs, limits and kernel features that Weft found, and which settings of a program can change while it runs.\n";

namespace {

void line(const char *name, const std::string &value) {
  std::printf("%-16s %s\n", name, value.c_str());
}

/// Returns the numbers in the kernel's notation: "0-3,8".
std::string list_text(const std::vector<int> &numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    out += (out.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i)
      out += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return out;
}

std::string size_text(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

std::string quota_text(const cpu_quota &quota) {
  if (!quota.limited())
    return "none";
  char number[32];
  std::snprintf(number, sizeof number, "%g CPUs", quota.cpus);
  return number + (" (" + quota.origin + ")");
}

std::string memory_text(const memory_limit &limit) {
  return limit.limited() ? size_text(limit.bytes) + " (" + limit.origin + ")" : "none";
}

std::string file_text(const char *path) {
  const auto text = read_file(path);
  return text ? std::string(trim(*text)) : "unknown";
}

bool has_membarrier() {
  const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

bool has_guard_install(std::size_t page_bytes) {
  void *page =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return false;
  const bool works = madvise(page, page_bytes, MADV_GUARD_INSTALL) == 0;
  munmap(page, page_bytes);
  return works;
}

void print_cpus(const machine &host) {
  std::vector<int> allowed;
  std::set<std::pair<int, int>> cores;
  std::set<int> packages;
  std::map<int, std::vector<int>> nodes;
  for (const auto &entry : host.cpus) {
    allowed.push_back(entry.cpu);
    cores.insert({entry.package, entry.core});
    packages.insert(entry.package);
    nodes[entry.node].push_back(entry.cpu);
  }
  line("CPUs online", std::to_string(host.online_cpus));
  line("CPUs allowed", std::to_string(allowed.size()) + " (" + list_text(allowed) + "), " +
                           std::to_string(cores.size()) + " cores, " +
                           std::to_string(packages.size()) + " packages");
  for (const auto &[node, cpus] : nodes)
    line("NUMA node", std::to_string(node) + ": CPUs " + list_text(cpus));
  line("CPU quota", quota_text(host.quota));
  line("CPUs effective", std::to_string(host.effective_cpus()));
}

void print_kernel(const machine &host) {
  utsname system;
  if (uname(&system) == 0)
    line("kernel", std::string(system.sysname) + " " + system.release + " " + system.machine);
  line("membarrier", has_membarrier() ? "yes" : "no");
  line("light barrier", g_light_barrier_is_full ? "a full barrier" : "free (membarrier pays)");
  line("guard pages", has_guard_install(host.page_bytes) ? "MADV_GUARD_INSTALL" : "mprotect");
  line("max_map_count", file_text("/proc/sys/vm/max_map_count"));
}

std::string nlopt_text() {
  const nlopt_presence &nlopt = nlopt_here();
  std::string text = nlopt.text;
  if (nlopt.is_here)
    for (const std::string_view name : nlopt_searches())
      text += (text == nlopt.text ? " (searches nlopt:" : ", nlopt:") + std::string(name);
  return nlopt.is_here ? text + ")" : text;
}

/// Returns the settings that `weft set` can change.
std::string knobs_text() {
  std::string out;
  for (const auto &info : setting_table())
    if (is_knob(info))
      out += (out.empty() ? "" : " ") + std::string(info.key);
  return out;
}

} // namespace

int run_info(const words &arguments) {
  if (!arguments.empty())
    return usage_error("info takes no arguments");
  const auto &m = this_machine();
  line("weft", WEFT_VERSION_STRING);
#ifdef __clang__
  line("compiler", __VERSION__);
#else
  line("compiler", "GCC " __VERSION__);
#endif
  print_cpus(m);
  line("memory", size_text(static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * m.page_bytes));
  line("memory limit", memory_text(m.memory));
  line("page size", std::to_string(m.page_bytes));
  print_kernel(m);
#ifdef WEFT_NET_ENGINES
  line("net", WEFT_NET_ENGINES);
#else
  line("net", "not in this build (WEFT_NET=ON)");
#endif
#ifdef WEFT_HAS_LPF
  line("LPF", "lpf/core.h, version 202000; lpf/noc.h, version 202400");
#else
  line("LPF", "not in this build (WEFT_LPF=ON, WEFT_NET=ON)");
#endif
#ifdef WEFT_MPIS
  line("MPI", WEFT_MPIS);
#else
  line("MPI", "not in this build (WEFT_MPI=ON, and Open MPI or MPICH when Weft is configured)");
#endif
#ifdef WEFT_HAS_ALPI
  line("ALPI", "alpi/alpi.h, version 1.2");
#else
  line("ALPI", "not in this build (WEFT_ALPI=ON)");
#endif
  line("NLopt", nlopt_text());
  line("can change", knobs_text());
  return k_ok;
}

} // namespace weft_tool
