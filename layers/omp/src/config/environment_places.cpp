// SPDX-License-Identifier: Apache-2.0
// Reads the variables that set where threads run: OpenMP's, and those of GNU's and LLVM's runtimes.
#include "config/environment.hpp"

#include "abi/flavor.hpp"
#include "config/environment_places.hpp"
#include "config/message.hpp"
#include "config/places.hpp"
#include "config/topology.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <strings.h>

namespace weft_omp {

namespace {

/// Returns the binding that "true" means, and that holds if only places are set.
int default_bind() noexcept { return is_of_llvm() ? k_bind_spread : k_bind_true; }

bool read_bind(globals &into) {
  const char *value = weft::layer::environment("OMP_PROC_BIND");
  if (!value)
    return false;
  std::vector<int> all;
  for (const char *s = skip(value);; s = skip(s + 1)) {
    if (eat(s, "false"))
      all.push_back(k_bind_false);
    else if (eat(s, "true"))
      all.push_back(k_bind_true);
    else if (eat(s, "primary") || eat(s, "master"))
      all.push_back(k_bind_primary);
    else if (eat(s, "close"))
      all.push_back(k_bind_close);
    else if (eat(s, "spread"))
      all.push_back(k_bind_spread);
    else
      return bad("OMP_PROC_BIND", value, "true, false, or a list of primary, close and spread");
    if (!*s)
      break;
    if (*s != ',')
      return bad("OMP_PROC_BIND", value, "true, false, or a list of primary, close and spread");
  }
  std::replace(all.begin(), all.end(), int{k_bind_true}, default_bind());
  into.initial.bind = all[0];
  into.bind_by_level = all;
  return true;
}

/// Reads GOMP_CPU_AFFINITY: cpus and ranges of cpus, first-last:stride, separated by blanks or
/// commas. Each cpu is a place.
bool read_cpu_list(const char *name, const char *value, std::vector<place> &into) {
  constexpr unsigned long long k_numbers = 65536; // of cpus; GNU's runtime has the same limit
  std::string list;
  for (const char *s = skip(value); *s; s = skip(s)) {
    unsigned long long first = 0, last = 0, stride = 1;
    bool good = read_number(s, first);
    last = first;
    good = good && (*s != '-' || read_number(++s, last)) && (*s != ':' || read_number(++s, stride));
    if (!good || stride == 0 || stride >= k_numbers || last < first || last >= k_numbers)
      return bad(name, value, "cpus such as 0 3 4-10:2, with numbers below 65536");
    for (unsigned long long cpu = first; cpu <= last; cpu += stride)
      list += (list.empty() ? "" : ",") + std::to_string(cpu);
    if (*s == ',')
      ++s;
  }
  return parse_places(list.c_str(), into) || bad(name, value, "cpus that the process may use");
}

struct kmp_affinity {
  int bind = k_bind_false;
  std::vector<place> places;
  int levels = 0; // inner levels of the machine that a thread may move over
  bool resets = false, tells = false;
};

/// Returns how many inner levels of the machine a granularity covers, as far as Weft knows levels.
/// It is the name of a level, or that number. Negative: it is none.
int levels_of_granularity(const char *word) noexcept {
  if (const std::size_t digits = std::strspn(word, "0123456789"))
    return word[digits] ? -1 : digits == 1 ? std::min(*word - '0', 2) : 2;
  static constexpr struct {
    const char *name;
    int levels;
  } k_names[] = {{"fine", 0},     {"thread", 0},   {"core", 1},        {"tile", 1},
                 {"module", 1},   {"die", 1},      {"l1_cache", 1},    {"l2_cache", 1},
                 {"l3_cache", 1}, {"ll_cache", 1}, {"numa_domain", 1}, {"node", 1},
                 {"group", 1},    {"proc_group", 1}, {"socket", 2},   {"package", 2}};
  for (const auto &n : k_names)
    if (const char *s = word; eat(s, n.name) && (!*s || (eat(s, "s") && !*s)))
      return n.levels;
  return -1;
}

/// Reads [modifiers,]type. It uses the types, the granularity, the list of an explicit type,
/// `reset` and `verbose`; it ignores the other modifiers.
kmp_affinity read_kmp_affinity(const char *name) {
  kmp_affinity a;
  const char *const value = weft::layer::environment(name);
  if (!value)
    return a;
  static constexpr const char *k_units[] = {"threads", "cores", "sockets"};
  a.levels = 1;
  std::string list;
  for (const char *s = skip(value); *s; s = skip(s)) {
    const std::size_t n = *s == 'p' && strncasecmp(s, "proclist=[", 10) == 0
                              ? std::strcspn(s, "]") + 1
                              : std::strcspn(s, ",");
    const std::string word(s, std::min(n, std::strlen(s)));
    const char *w = word.c_str();
    s += word.size();
    if (*s == ',')
      ++s;
    if (eat(w, "granularity=")) {
      const int levels = levels_of_granularity(w);
      if (levels >= 0)
        a.levels = levels;
      else
        bad(name, value, "granularity=fine, thread, core, socket, or another level of the machine");
    } else if (eat(w, "proclist=["))
      list.assign(w, std::strcspn(w, "]"));
    else if (eat(w, "compact") || eat(w, "explicit"))
      a.bind = k_bind_close;
    else if (eat(w, "scatter") || eat(w, "balanced"))
      a.bind = k_bind_spread;
    else if (eat(w, "none") || eat(w, "disabled"))
      a.bind = k_bind_false;
    else if (eat(w, "reset"))
      a.resets = true;
    else if (eat(w, "verbose"))
      a.tells = true;
    else if (!eat(w, "noverbose") && !eat(w, "warnings") && !eat(w, "nowarnings") &&
             !eat(w, "respect") && !eat(w, "norespect") && !eat(w, "noreset") &&
             !std::isdigit(static_cast<unsigned char>(*w))) {
      bad(name, value,
          "a type such as compact, scatter, explicit or none, after modifiers such as granularity=fine");
      return {};
    }
  }
  if (a.bind != k_bind_false && !(list.empty() ? parse_places(k_units[a.levels], a.places)
                                               : read_cpu_list(name, list.c_str(), a.places)))
    a.bind = k_bind_false;
  return a;
}

void take_kmp_affinity(globals &all) {
  kmp_affinity a = read_kmp_affinity("KMP_AFFINITY");
  all.initial.bind = a.bind;
  all.places = std::move(a.places);
  all.resets_binding = a.resets;
}

void read_said_places(globals &all, const char *value) {
  const char *const kind = places_kind(value);
  if (kind)
    all.places_kind = kind;
  int missing = -1;
  const bool good = parse_places(value, all.places, &missing);
  if (good && missing < 0)
    return;
  if (missing >=
      0) { // GCC's runtime then uses no place; LLVM's uses the cpus that exist, and binds no thread if none does
    if (!is_of_llvm()) {
      all.places.clear();
      return void(bad("OMP_PLACES", value, "of cpus that the machine has"));
    }
    const bool any = !all.places.empty();
    if (!any)
      all.places = {process_cpus()};
    warn("OMP_PLACES is '%s'; there is no cpu %d; %s", value, missing,
         any ? "it is left out" : "threads are not bound");
    return;
  }
  constexpr char k_form[] =
      "threads, cores, sockets, ll_caches or numa_domains, with (number), or a list such as {0:4},{4:4}";
  all.places.clear();
  if (!is_of_llvm())
    return void(bad("OMP_PLACES", value, k_form));
  all.places_kind = kind ? kind : "cores"; // as LLVM's runtime does
  warn("OMP_PLACES is '%s'; it should be %s; %s are taken", value, k_form, all.places_kind.c_str());
  parse_places(all.places_kind.c_str(), all.places);
}

void read_teams_binding(globals &all) {
  const char *const value = weft::layer::environment("KMP_TEAMS_PROC_BIND");
  if (!value)
    return;
  const char *s = skip(value);
  const int bind = eat(s, "spread")                           ? k_bind_spread
                   : eat(s, "close")                          ? k_bind_close
                   : eat(s, "primary") || eat(s, "master") ? k_bind_primary
                                                           : k_bind_false;
  if (bind != k_bind_false && !*s)
    all.teams_bind = bind;
  else
    bad("KMP_TEAMS_PROC_BIND", value, "spread, close or primary");
}

} // namespace

void read_places(globals &all) {
  read_teams_binding(all);
  const bool bind_said = read_bind(all);
  const char *const value = weft::layer::environment("OMP_PLACES");
  if (value)
    read_said_places(all, value);
  const char *const list = weft::layer::environment("GOMP_CPU_AFFINITY");
  if (list && !value && !(bind_said && all.initial.bind == k_bind_false) &&
      !read_cpu_list("GOMP_CPU_AFFINITY", list, all.places))
    all.places.clear();
  if (!all.places.empty() && !bind_said)
    all.initial.bind = default_bind();
  if (all.places.empty() && !bind_said)
    take_kmp_affinity(all);
  if (all.places.empty() && all.initial.bind != k_bind_false)
    parse_places("cores", all.places);
  if (all.initial.bind == k_bind_false)
    all.places.clear();
}

void read_helpers(globals &all) {
  constexpr unsigned long long k_usual = 7; // LLVM's eight, without the first
  bool wanted = is_of_llvm();
  unsigned long long n = k_usual;
  truth_of("LIBOMP_USE_HIDDEN_HELPER_TASK", wanted);
  number_of("LIBOMP_NUM_HIDDEN_HELPER_THREADS", n, 0, 64);
  if (!wanted || n == 0)
    return;
  all.helper_numbers =
      static_cast<unsigned>(n) +
      1; // the first is reserved and not used: in LLVM's runtime it is the thread that waits for the others
  kmp_affinity a = read_kmp_affinity("KMP_HIDDEN_HELPER_AFFINITY");
  all.helper_bind = a.bind;
  all.helper_places = std::move(a.places);
  all.helper_levels = a.tells ? a.levels : -1;
}

} // namespace weft_omp
