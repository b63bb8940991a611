// SPDX-License-Identifier: Apache-2.0
#include "config/topology.hpp"

#include "config/environment.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include <sched.h>

namespace weft_omp {
namespace {

/// Opens a file of Linux about the machine; null: there is none.
std::FILE *open_system(const char *form, int number, int second = 0) noexcept {
  char path[96];
  std::snprintf(path, sizeof path, form, number, second);
  return std::fopen(path, "r");
}

/// Returns the first number of such a file, which it closes; `otherwise`: it has none.
int first_number(std::FILE *file, int otherwise) noexcept {
  int number = otherwise;
  if (file) {
    if (std::fscanf(file, "%d", &number) != 1)
      number = otherwise;
    std::fclose(file);
  }
  return number;
}

/// Calls `take` with the first and the last number of each range of a list such as 0-3,8 in a file,
/// which it closes, until `take` returns true. Returns whether it has.
template <class Take>
bool any_range(std::FILE *file, Take take) {
  if (!file)
    return false;
  bool is_taken = false;
  int first = 0, last = 0, separator = ',';
  while (!is_taken && separator == ',' && std::fscanf(file, "%d", &first) == 1) {
    last = first;
    separator = std::fgetc(file);
    if (separator == '-') {
      if (std::fscanf(file, "%d", &last) != 1)
        break;
      separator = std::fgetc(file);
    }
    is_taken = take(first, last);
  }
  std::fclose(file);
  return is_taken;
}

std::vector<int> cpus_of_mask() {
  std::vector<int> found;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set))
        found.push_back(i);
  if (found.empty())
    found.push_back(0);
  return found;
}

// ---- KMP_HW_SUBSET: [:]item,..., where an item is [number]layer[@offset].
// With ':', the numbers count over the whole machine, otherwise within the layer above.

enum layer : unsigned { k_sockets, k_cores, k_threads, k_layers };

struct request {
  bool over_machine = false;
  struct {
    unsigned long long count = ~0ull, offset = 0;
  } of[k_layers];
};

bool read_layer(const char *&text, layer &into) noexcept {
  static constexpr struct {
    const char *name;
    layer which;
  } k_names[] = {{"sockets", k_sockets}, {"socket", k_sockets}, {"s", k_sockets},
                 {"cores", k_cores},     {"core", k_cores},     {"c", k_cores},
                 {"threads", k_threads}, {"thread", k_threads}, {"t", k_threads}};
  for (const auto &n : k_names)
    if (eat(text, n.name)) {
      into = n.which;
      return true;
    }
  return false;
}

bool read_request(const char *value, request &into) noexcept {
  const char *s = skip(value);
  into.over_machine = eat(s, ":");
  do {
    unsigned long long count = ~0ull, offset = 0;
    if (!eat(s, "*"))
      (void)read_number(s, count);
    layer which{};
    if (count == 0 || !read_layer(s, which) || (eat(s, "@") && !read_number(s, offset)))
      return false;
    into.of[which] = {count, offset};
  } while (eat(s, ","));
  return !*s;
}

/// Numbers the sockets, the cores or the threads: 0, 1, ... within the layer above.
struct counter {
  std::map<int, std::map<int, unsigned long long>> seen; // by the item of the layer above
  unsigned long long number(int above, int id) {
    auto &here = seen[above];
    return here.emplace(id, here.size()).first->second;
  }
  [[nodiscard]] unsigned long long most() const {
    std::size_t n = 0;
    for (const auto &[above, here] : seen)
      n = std::max(n, here.size());
    return n;
  }
};

/// Returns the cpus that the request names. Empty: the machine does not have that many.
std::vector<int> subset(const std::vector<int> &all, const request &asked) {
  counter counters[k_layers];
  std::vector<int> kept;
  for (const int cpu : all) {
    const int ids[k_layers] = {socket_of(cpu), core_of(cpu), cpu};
    bool is_in = true;
    for (unsigned l = 0; l < k_layers; ++l) {
      const unsigned long long n =
          counters[l].number(l == 0 || asked.over_machine ? 0 : ids[l - 1], ids[l]);
      is_in &= n >= asked.of[l].offset &&
               (asked.of[l].count == ~0ull || n - asked.of[l].offset < asked.of[l].count);
    }
    if (is_in)
      kept.push_back(cpu);
  }
  for (unsigned l = 0; l < k_layers; ++l)
    if (asked.of[l].count != ~0ull && (asked.of[l].count > counters[l].most() ||
                                       asked.of[l].offset > counters[l].most() - asked.of[l].count))
      return {};
  return kept;
}

std::vector<int> read_cpus() {
  std::vector<int> all = cpus_of_mask();
  const char *const value = weft::layer::environment("KMP_HW_SUBSET");
  request r;
  if (!value)
    return all;
  if (!read_request(value, r)) {
    bad("KMP_HW_SUBSET", value,
        "numbers of sockets, cores per socket and threads per core, such as 1s,4c@2,1t");
    return all;
  }
  std::vector<int> kept = subset(all, r);
  if (kept.empty())
    bad("KMP_HW_SUBSET", value, "no more than the process may use");
  return kept.empty() ? all : kept;
}

} // namespace

int socket_of(int cpu) noexcept {
  return first_number(open_system("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu),
                      cpu);
}
int core_of(int cpu) noexcept {
  return socket_of(cpu) * 4096 +
         first_number(open_system("/sys/devices/system/cpu/cpu%d/topology/core_id", cpu), cpu);
}
int last_cache_of(int cpu) noexcept {
  int highest = 0, first_cpu = -1;
  for (int i = 0; std::FILE *const f = open_system("/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, i); ++i)
    if (const int level = first_number(f, 0); level > highest) {
      highest = level;
      first_cpu = first_number(
          open_system("/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i), -1);
    }
  return first_cpu >= 0 ? first_cpu : socket_of(cpu);
}
int numa_domain_of(int cpu) {
  int domain = -1;
  any_range(std::fopen("/sys/devices/system/node/online", "r"), [&](int first, int last) {
    for (int node = first; node <= last && domain < 0; ++node)
      if (any_range(open_system("/sys/devices/system/node/node%d/cpulist", node),
                    [cpu](int low, int high) { return low <= cpu && cpu <= high; }))
        domain = node;
    return domain >= 0;
  });
  return domain >= 0 ? domain : socket_of(cpu);
}

const std::vector<int> &process_cpus() {
  static const auto &all = *new std::vector<int>(
      read_cpus()); // never freed, because regions in destructors ask for it, too
  return all;
}

} // namespace weft_omp
