// SPDX-License-Identifier: Apache-2.0
// Formats the placement of a thread by OMP_AFFINITY_FORMAT.
#include "placement/affinity.hpp"

#include "abi/flavor.hpp"
#include "config/topology.hpp"
#include "placement/affinity_text.hpp"
#include "team/team.hpp"

#include <weft_threads/kernel/posix.hpp>

#include <cctype>
#include <cstdio>
#include <cstring>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft_omp {
namespace {

void put_field(std::string &to, const std::string &value, bool right, bool zeros,
               std::size_t width) {
  const std::size_t missing = width > value.size() ? width - value.size() : 0;
  if (zeros && right && !value.empty() && value[0] == '-')
    to += "-" + std::string(missing, '0') + value.substr(1);
  else if (right)
    to += std::string(missing, zeros ? '0' : ' ') + value;
  else
    to += value + std::string(missing, ' ');
}

std::string cpus_text(const thread &who) {
  const std::vector<int> *const kept = cpus_of(who);
  const std::vector<int> &cpus = kept ? *kept : process_cpus();
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t j = i;
    while (j + 1 < cpus.size() && cpus[j + 1] == cpus[j] + 1)
      ++j;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]) +
            (j > i ? "-" + std::to_string(cpus[j]) : "");
    i = j + 1;
  }
  return text;
}

std::string host() {
  char name[256] = "node";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Returns the value of a field, which is given by its letter.
std::string field_value(const thread &who, char letter) {
  const omp_team &c = *who.team;
  switch (letter) {
  case 't':
    return std::to_string(who.teams_number);
  case 'T':
    return std::to_string(who.teams);
  case 'L':
    return std::to_string(c.level);
  case 'n':
    return std::to_string(who.number);
  case 'N':
    return std::to_string(c.size);
  case 'a':
    return c.outer ? std::to_string(c.number_in_outer) : "-1";
  case 'H':
    return host();
  case 'P':
    return std::to_string(getpid());
  case 'i': {
    if (is_of_llvm()) // a lightweight thread prints the id that the C library sees: it has one of its own, as in LLVM's runtime, and keeps it
      return std::to_string(who.block ? number_of_block(who.block)
                                      : static_cast<int>(syscall(SYS_gettid)));
    char text[32];
    std::snprintf(text, sizeof text, "0x%lx",
                  static_cast<unsigned long>(
                      reinterpret_cast<std::uintptr_t>(who.block ? who.block : thread_pointer())));
    return text;
  }
  case 'A':
    return cpus_text(who);
  default:
    return "undefined";
  }
}

char letter_of(const std::string &name) {
  static const struct {
    const char *name;
    char letter;
  } k_names[] = {{"team_num", 't'},       {"num_teams", 'T'},   {"nesting_level", 'L'},
                 {"thread_num", 'n'},     {"num_threads", 'N'}, {"ancestor_tnum", 'a'},
                 {"host", 'H'},           {"process_id", 'P'},  {"native_thread_id", 'i'},
                 {"thread_affinity", 'A'}};
  for (const auto &n : k_names)
    if (name == n.name)
      return n.letter;
  return 0;
}

} // namespace

std::string affinity_text(const char *format) {
  const thread &t = self();
  std::string text;
  while (*format) {
    if (*format != '%' || format[1] == '%') {
      format += *format == '%';
      text += *format++;
      continue;
    }
    ++format;
    bool zeros = false, right = false;
    std::size_t width = 0;
    if (*format == '0' && format[1] == '.') {
      zeros = true;
      ++format;
    }
    if (*format == '.') {
      right = true;
      ++format;
    }
    for (; std::isdigit(static_cast<unsigned char>(*format)); ++format)
      width = width * 10 + static_cast<std::size_t>(*format - '0');
    char letter = *format;
    if (*format == '{') {
      const char *const end = std::strchr(format, '}');
      if (!end)
        fatal("the affinity format has a '{' without '}': %s", format);
      letter = letter_of(std::string(format + 1, end));
      format = end + 1;
    } else if (*format) {
      ++format;
    }
    put_field(text, field_value(t, letter), right, zeros, width);
  }
  return text;
}

void print_affinity(const char *format) noexcept {
  const std::string text =
      affinity_text(format && *format ? format : g_globals.affinity_format.c_str()) + "\n";
  std::fwrite(text.data(), 1, text.size(), is_of_llvm() ? stdout : stderr);
}

void compare_placements(omp_team &team) noexcept {
  bool shows = false;
  for (unsigned i = 0; i < team.size; ++i) {
    thread &m = *team.members[i];
    const displayed_placement now{team.level, team.size, m.placement.place};
    shows |= std::exchange(m.displayed, now) != now;
  }
  team.shows_affinity = shows;
}

void show_affinity(const thread &who) noexcept {
  if (who.team->shows_affinity) [[unlikely]]
    print_affinity(nullptr);
}

} // namespace weft_omp
