// SPDX-License-Identifier: Apache-2.0
// Reads OMP_PLACES: an abstract name with an optional count, or a list of places {cpus} with counts
// and strides.
#include "config/places.hpp"

#include "config/topology.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>

#include <strings.h>
#include <unistd.h>

namespace weft_omp {

namespace {

constexpr long k_numbers = 100'000; // all numbers of a text are below

struct reader {
  const char *s;
  int missing = -1; // a cpu that the machine does not have
  void skip() {
    while (std::isspace(static_cast<unsigned char>(*s)))
      ++s;
  }
  bool eat(char character) {
    skip();
    if (*s != character)
      return false;
    ++s;
    skip();
    return true;
  }
  enum class sign : bool { plus, any };
  bool number(long &into, sign allowed = sign::plus) {
    skip();
    const char *digits = s + (allowed == sign::any && *s == '-');
    if (!std::isdigit(static_cast<unsigned char>(*digits)))
      return false;
    char *end = nullptr;
    into = std::strtol(s, &end, 10);
    s = end;
    skip();
    return into > -k_numbers && into < k_numbers;
  }
};

std::vector<place> places_by(int (*key)(int)) {
  std::map<int, place> by;
  for (int cpu : process_cpus())
    by[key(cpu)].push_back(cpu);
  std::vector<place> all;
  for (auto &[id, cpus] : by)
    all.push_back(std::move(cpus));
  return all;
}

struct kind {
  const char *name;
  int (*key)(int cpu);
};
constexpr kind k_kinds[] = {{"threads", [](int cpu) { return cpu; }},
                            {"cores", &core_of},
                            {"sockets", &socket_of},
                            {"ll_caches", &last_cache_of},
                            {"numa_domains", &numa_domain_of}};

const kind *kind_at(const char *text) noexcept {
  for (const kind &k : k_kinds)
    if (strncasecmp(text, k.name, std::strlen(k.name)) == 0)
      return &k;
  return nullptr;
}

bool abstract(reader &text, std::vector<place> &into) {
  const kind *const k = kind_at(text.s);
  if (!k)
    return false;
  text.s += std::strlen(k->name);
  long count = LONG_MAX;
  if (text.eat('(') && (!text.number(count) || count <= 0 || !text.eat(')')))
    return false;
  into = places_by(k->key);
  if (static_cast<long>(into.size()) > count)
    into.resize(static_cast<std::size_t>(count));
  text.skip();
  return !*text.s && !into.empty();
}

/// Reads number[:length[:stride]], perhaps negated.
bool one_range(reader &text, place &into) {
  const bool without = text.eat('!');
  long first = 0, length = 1, stride = 1;
  if (!text.number(first))
    return false;
  if (!without && text.eat(':') && (!text.number(length) || length <= 0))
    return false;
  if (length != 1 && text.eat(':') && !text.number(stride, reader::sign::any))
    return false;
  for (long i = 0; i < length; ++i) {
    const long cpu = first + i * stride;
    if (cpu < 0 || cpu >= k_numbers)
      return false;
    if (without)
      into.erase(std::remove(into.begin(), into.end(), static_cast<int>(cpu)), into.end());
    else
      into.push_back(static_cast<int>(cpu));
  }
  return true;
}

/// Sorts the cpus of a place, and leaves each of them once.
void tidy(place &at) {
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
}

bool one_place(reader &text, place &into) {
  if (!text.eat('{')) { // a lone number is a place of one cpu
    long cpu = 0;
    if (!text.number(cpu) || cpu < 0)
      return false;
    into.push_back(static_cast<int>(cpu));
    return true;
  }
  do
    if (!one_range(text, into))
      return false;
  while (text.eat(','));
  return text.eat('}');
}

void keep_usable(place at, std::vector<place> &into) {
  const auto &mine = process_cpus();
  at.erase(
      std::remove_if(at.begin(), at.end(),
                     [&](int cpu) { return !std::binary_search(mine.begin(), mine.end(), cpu); }),
      at.end());
  if (!at.empty())
    into.push_back(std::move(at));
}

/// Returns how many cpus the kernel's mask has bits for, which is the limit of GCC's runtime.
int most_cpus() {
  constexpr int k_word = 64;
  return (std::max(static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)), process_cpus().back() + 1) +
          k_word - 1) /
         k_word * k_word;
}

/// Reads a place, perhaps with a count and a stride.
bool place_range(reader &text, int cpus_of_machine, std::vector<place> &into) {
  const bool without = text.eat('!');
  place first;
  if (!one_place(text, first))
    return false;
  tidy(first);
  long length = 1, stride = 1;
  if (!without && text.eat(':')) {
    if (!text.number(length) || length <= 0)
      return false;
    if (text.eat(':') && !text.number(stride, reader::sign::any))
      return false;
  }
  if (without) {
    into.erase(std::remove(into.begin(), into.end(), first), into.end());
    return true;
  }
  for (long i = 0; i < length && !first.empty(); ++i) {
    const long by = i * stride, lowest = first.front() + by, highest = first.back() + by;
    if (lowest < 0)
      return false;
    if (highest >= cpus_of_machine)
      text.missing = static_cast<int>(highest);
    if (lowest < cpus_of_machine) {
      place p = first;
      for (int &cpu : p)
        cpu += static_cast<int>(by);
      keep_usable(std::move(p), into);
    }
    if (highest >= cpus_of_machine && stride >= 0)
      break; // so it is for all places behind this one
  }
  return true;
}

} // namespace

bool parse_places(const char *text, std::vector<place> &into, int *missing) {
  reader r{text, -1};
  r.skip();
  if (std::isalpha(static_cast<unsigned char>(*r.s)))
    return abstract(r, into);
  const int cpus_of_machine = most_cpus();
  do
    if (!place_range(r, cpus_of_machine, into))
      return false;
  while (r.eat(','));
  if (missing && !*r.s)
    *missing = r.missing;
  return !*r.s && !into.empty();
}

const char *places_kind(const char *text) noexcept {
  reader r{text, -1};
  r.skip();
  const kind *const k = kind_at(r.s);
  return k ? k->name : nullptr;
}

} // namespace weft_omp
