// SPDX-License-Identifier: Apache-2.0
#include "observe/power.hpp"

#include "os/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_most_watts = 1000; // of a domain
constexpr std::uint64_t k_pause_of_unknown_ns = 30'000'000'000;

std::optional<std::uint64_t> number_in(const std::string &file) {
  const auto text = read_file(file);
  return text ? parse_unsigned(trim(*text)) : std::nullopt;
}

struct search {
  std::string_view prefix;
  energy_domains all;
  bool any = false;       // there is a domain
  std::string unreadable; // why a wanted domain cannot be read

  /// Looks at a domain. Returns false if there is no such folder.
  bool look(const std::string &folder) {
    const auto name = read_file(folder + "/name");
    if (!name)
      return false;
    any = true;
    if (!trim(*name).starts_with(prefix))
      return true;
    errno = 0;
    const std::string file = folder + "/energy_uj";
    if (const auto now = number_in(file))
      all.found.push_back({file, *now, number_in(folder + "/max_energy_range_uj").value_or(0)});
    else
      unreadable = file + ": " + (errno ? std::strerror(errno) : "no number");
    return true;
  }
};

} // namespace

energy_domains find_energy(const std::string &root, std::string_view prefix) {
  search s{prefix, {}, false, {}};
  for (int package = 0; s.look(root + "/intel-rapl:" + std::to_string(package)); ++package)
    for (int part = 0;
         s.look(root + "/intel-rapl:" + std::to_string(package) + ":" + std::to_string(part));
         ++part) {
    }
  if (!s.all.found.empty())
    return std::move(s.all);
  s.all.why = !s.unreadable.empty() ? s.unreadable
              : s.any               ? "this processor does not count it (" + root + ")"
                                    : "no powercap of this processor (" + root + ")";
  return std::move(s.all);
}

std::uint64_t spent_energy(std::vector<energy_domain> &domains) {
  std::uint64_t sum = 0;
  for (energy_domain &d : domains)
    if (const auto now = number_in(d.file)) { // else the next reading contains it
      // Below the last one it has begun anew; where the range is not known, so is what came before.
      sum += *now >= d.last ? *now - d.last : d.range > d.last ? d.range - d.last + *now : *now;
      d.last = *now;
    }
  return sum;
}

std::uint64_t longest_pause_ns(const std::vector<energy_domain> &domains) noexcept {
  std::uint64_t longest = 0;
  for (const energy_domain &d : domains) {
    const std::uint64_t half = d.range / (2 * k_most_watts) * 1000; // uJ at watts, in ns
    const std::uint64_t own =
        d.range == 0 ? k_pause_of_unknown_ns : std::max<std::uint64_t>(half, 1);
    longest = longest == 0 ? own : std::min(longest, own);
  }
  return longest;
}

} // namespace rt
} // namespace weft::inline v0
