// SPDX-License-Identifier: Apache-2.0
#include "affinity.hpp"

#include "team.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft_omp {
namespace {

struct partition {
  unsigned first, count;
};

/// Of member `i` when `n` members spread over a partition.
partition spread(const partition &whole, unsigned n, unsigned i) noexcept {
  if (n >= whole.count) // several members to a place
    return {whole.first + static_cast<unsigned>(static_cast<std::uint64_t>(i) * whole.count / n), 1};
  const unsigned from = static_cast<unsigned>(static_cast<std::uint64_t>(i) * whole.count / n);
  const unsigned to = static_cast<unsigned>(static_cast<std::uint64_t>(i + 1) * whole.count / n);
  return {whole.first + from, to - from};
}

} // namespace

void place_members(team &c, const thread &first, unsigned clause) noexcept {
  const unsigned all = static_cast<unsigned>(g_globals.places.size());
  if (all == 0) {
    for (unsigned i = 0; i < c.size; ++i)
      c.members[i]->place = -1;
    return;
  }
  const icvs &outer = *first.task->settings;
  const partition whole{outer.place_first, std::max(outer.place_count, 1u)};
  int bind = first.task->settings->bind;
  if (bind != k_bind_false && (clause & 7) != 0)
    bind = static_cast<int>(clause & 7);
  const int start = first.place >= 0 ? first.place : static_cast<int>(whole.first);
  for (unsigned i = 0; i < c.size; ++i) {
    thread &m = *c.members[i];
    const unsigned offset = static_cast<unsigned>(start) - whole.first;
    switch (bind) {
    case k_bind_false:
      m.place = -1;
      break;
    case k_bind_primary:
      m.place = start;
      break;
    case k_bind_spread:
      m.place = static_cast<int>(whole.first + (spread(whole, c.size, i).first - whole.first + offset) % whole.count);
      break;
    default:
      m.place = static_cast<int>(whole.first + (offset + (c.size > whole.count ? i * whole.count / c.size : i)) % whole.count);
      break;
    }
  }
}

namespace {

void put_field(std::string &to, const std::string &value, bool right, bool zeros, std::size_t width) {
  const std::size_t missing = width > value.size() ? width - value.size() : 0;
  if (zeros && right && !value.empty() && value[0] == '-')
    to += "-" + std::string(missing, '0') + value.substr(1);
  else if (right)
    to += std::string(missing, zeros ? '0' : ' ') + value;
  else
    to += value + std::string(missing, ' ');
}

std::string cpus_text(const thread &t) {
  const std::vector<int> &cpus = t.place >= 0 ? g_globals.places[static_cast<std::size_t>(t.place)] : process_cpus();
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t j = i;
    while (j + 1 < cpus.size() && cpus[j + 1] == cpus[j] + 1)
      ++j;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]) + (j > i ? "-" + std::to_string(cpus[j]) : "");
    i = j + 1;
  }
  return text;
}

std::string host() {
  char name[256] = "node";
  gethostname(name, sizeof name - 1);
  return name;
}

/// A letter, or the letter for a long name.
std::string field_value(const thread &t, char letter) {
  const team &c = *t.crew;
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
    char text[32];
    std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(t.block ? t.block : thread_pointer())));
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
  } k_names[] = {{"team_num", 't'}, {"num_teams", 'T'}, {"nesting_level", 'L'}, {"thread_num", 'n'}, {"num_threads", 'N'},
                 {"ancestor_tnum", 'a'}, {"host", 'H'}, {"process_id", 'P'}, {"native_thread_id", 'i'}, {"thread_affinity", 'A'}};
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
    if (*s == '0')
      zeros = right = true, ++s;
    if (*s == '.')
      right = true, ++s;
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

void show_affinity(thread &t) noexcept {
  if (!g_globals.display_affinity) [[likely]]
    return;
  (void)t;
  const std::string text = affinity_text(g_globals.affinity_format.c_str()) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

} // namespace weft_omp
