// SPDX-License-Identifier: Apache-2.0
#include "os/affinity.hpp"

#include "os/file.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <sched.h>

namespace weft::inline v0 {
namespace rt {

namespace {

/// Bounds the size of a mask. Linux knows at most 8192 cpus on its largest machines; a mask of this
/// many bits is never too small.
constexpr int k_most_cpus = 1 << 18;

struct free_cpu_set {
  void operator()(cpu_set_t *set) const noexcept { CPU_FREE(set); }
};
using cpu_set = std::unique_ptr<cpu_set_t, free_cpu_set>;

} // namespace

std::vector<int> current_affinity() {
  for (int count = 1024; count <= k_most_cpus; count *= 2) {
    const cpu_set set(CPU_ALLOC(count));
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    if (set == nullptr)
      return {};
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) // the kernel's mask is larger than this one
        continue;
      return {};
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < count; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set.get()))
        cpus.push_back(cpu);
    return cpus;
  }
  return {};
}

int bind_this_thread(const std::vector<int> &cpus) {
  if (cpus.empty())
    return EINVAL;
  const auto [least, most] = std::minmax_element(cpus.begin(), cpus.end());
  if (*least < 0 || *most >= k_most_cpus)
    return EINVAL;
  const cpu_set set(CPU_ALLOC(*most + 1));
  const std::size_t bytes = CPU_ALLOC_SIZE(*most + 1);
  if (set == nullptr)
    return ENOMEM;
  CPU_ZERO_S(bytes, set.get());
  for (const int cpu : cpus)
    CPU_SET_S(cpu, bytes, set.get());
  return sched_setaffinity(0, bytes, set.get()) == 0 ? 0 : errno;
}

int bind_this_thread(int cpu) { return bind_this_thread(std::vector<int>{cpu}); }

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  text = trim(text);
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = parse_unsigned(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_unsigned(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= static_cast<std::uint64_t>(k_most_cpus))
      return std::nullopt;
    for (auto cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(static_cast<int>(cpu));
    if (comma == std::string_view::npos)
      break;
    text.remove_prefix(comma + 1);
    if (text.empty())
      return std::nullopt;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

} // namespace rt
} // namespace weft::inline v0
