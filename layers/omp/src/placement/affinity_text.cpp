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

std::string cpus_text(const thread &t) {
  const std::vector<int> *const kept = cpus_of(t);
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
std::string field_value(const thread &t, char letter) {
  const omp_team &c = *t.team;
  switch (letter) {
  case 't':
    return std::to_string(t.teams_number);
  case 'T':
    return std::to_string(t.teams);
  case 'L':
    return std::to_string(c.level);
  case 'n':
    return std::to_string(t.number);
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
      return std::to_string(t.block ? number_of_block(t.block)
                                    : static_cast<int>(syscall(SYS_gettid)));
    char text[32];
    std::snprintf(text, sizeof text, "0x%lx",
                  static_cast<unsigned long>(
                      reinterpret_cast<std::uintptr_t>(t.block ? t.block : thread_pointer())));
    return text;
  }
  case 'A':
    return cpus_text(t);
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

std::string affinity_text(const char *s) {
  const thread &t = self();
  std::string text;
  while (*s) {
    if (*s != '%' || s[1] == '%') {
      s += *s == '%';
      text += *s++;
      continue;
    }
    ++s;
    bool zeros = false, right = false;
    std::size_t width = 0;
    if (*s == '0' && s[1] == '.') {
      zeros = true;
      ++s;
    }
    if (*s == '.') {
      right = true;
      ++s;
    }
    for (; std::isdigit(static_cast<unsigned char>(*s)); ++s)
      width = width * 10 + static_cast<std::size_t>(*s - '0');
    char letter = *s;
    if (*s == '{') {
      const char *const end = std::strchr(s, '}');
      if (!end)
        fatal("the affinity format has a '{' without '}': %s", s);
      letter = letter_of(std::string(s + 1, end));
      s = end + 1;
    } else if (*s) {
      ++s;
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

void compare_placements(omp_team &c) noexcept {
  bool shows = false;
  for (unsigned i = 0; i < c.size; ++i) {
    thread &m = *c.members[i];
    const displayed_placement now{c.level, c.size, m.placement.place};
    shows |= std::exchange(m.displayed, now) != now;
  }
  c.shows_affinity = shows;
}

void show_affinity(const thread &t) noexcept {
  if (t.team->shows_affinity) [[unlikely]]
    print_affinity(nullptr);
}

} // namespace weft_omp
