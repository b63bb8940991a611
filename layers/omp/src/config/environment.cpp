// SPDX-License-Identifier: Apache-2.0
// Reads OMP_* variables, and those of GNU's and LLVM's runtimes that have a meaning here. A value
// that cannot be read gives a warning, and is ignored.
#include "config/environment.hpp"
#include "abi/flavor.hpp"
#include "config/display.hpp"
#include "config/environment_places.hpp"
#include "config/message.hpp"
#include "config/topology.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <strings.h>
#include <sys/resource.h>

namespace weft_omp {

const char *skip(const char *text) noexcept {
  while (std::isspace(static_cast<unsigned char>(*text)))
    ++text;
  return text;
}

bool eat(const char *&text, const char *word) noexcept {
  const std::size_t n = std::strlen(word);
  if (strncasecmp(text, word, n) != 0)
    return false;
  text = skip(text + n);
  return true;
}

bool bad(const char *name, const char *value, const char *remedy) noexcept {
  warn("%s is '%s'; it should be %s; it is ignored", name, value, remedy);
  return false;
}

bool read_number(const char *&text, unsigned long long &into) noexcept {
  text = skip(text);
  if (!std::isdigit(static_cast<unsigned char>(*text)))
    return false;
  char *end = nullptr;
  errno = 0;
  into = std::strtoull(text, &end, 10);
  text = skip(end);
  return errno == 0;
}

void set_offload(const char *value) noexcept {
  static constexpr const char *k_names[] = {"default", "mandatory", "disabled"};
  g_globals.target_offload = 0;
  for (int i = 0; i < 3; ++i)
    if (const char *s = skip(value); eat(s, k_names[i]) && !*s)
      return void(g_globals.target_offload = i);
  bad("OMP_TARGET_OFFLOAD", value, "default, mandatory or disabled");
}

bool number_of(const char *name, unsigned long long &into, unsigned long long least,
               unsigned long long most) {
  const char *value = weft::layer::environment(name);
  if (!value)
    return false;
  const char *s = value;
  unsigned long long n = 0;
  const bool is_number = read_number(s, n) && !*s;
  if (!is_number || n < least || n > most) {
    char range[80];
    std::snprintf(range, sizeof range, "a number from %llu to %llu%s", least, most,
                  !is_number  ? ""
                  : n < least ? ", this is too small"
                              : ", this is too large");
    return bad(name, value, range);
  }
  into = n;
  return true;
}

bool truth_of(const char *name, bool &into) {
  const char *value = weft::layer::environment(name);
  if (!value)
    return false;
  const char *s = skip(value);
  const bool yes = eat(s, "true") || eat(s, "1");
  const bool no = !yes && (eat(s, "false") || eat(s, "0"));
  if (*s || (!yes && !no))
    return bad(name, value, "true or false");
  into = yes;
  return true;
}

namespace {

bool numbers_of(const char *name, std::vector<int> &into) {
  const char *value = weft::layer::environment(name);
  if (!value)
    return false;
  std::vector<int> all;
  for (const char *s = value;;) {
    unsigned long long n = 0;
    if (!read_number(s, n) || n == 0 || n > INT_MAX)
      return bad(name, value, "a positive number, or several with commas");
    all.push_back(static_cast<int>(n));
    if (!*s)
      break;
    if (*s++ != ',')
      return bad(name, value, "a positive number, or several with commas");
  }
  into = all;
  return true;
}

bool bytes_of(const char *name, std::size_t &into) {
  const char *value = weft::layer::environment(name);
  if (!value)
    return false;
  const char *s = value;
  unsigned long long n = 0;
  bool good = read_number(s, n);
  int shift = 10;
  switch (std::tolower(static_cast<unsigned char>(*s))) {
  case 'b':
    shift = 0;
    ++s;
    break;
  case 'k':
    shift = 10;
    ++s;
    break;
  case 'm':
    shift = 20;
    ++s;
    break;
  case 'g':
    shift = 30;
    ++s;
    break;
  default:
    break;
  }
  s = skip(s);
  good = good && !*s && n <= (~0ull >> 20 >> shift);
  if (!good)
    return bad(name, value, "a size such as 512K, 16M or 1G");
  into = static_cast<std::size_t>(n << shift);
  return true;
}

int read_kind(const char *&text) noexcept {
  static constexpr struct {
    const char *name;
    int kind;
  } k_names[] = {{"static_steal", k_dynamic}, {"static", k_static}, {"dynamic", k_dynamic},
                 {"guided", k_guided},        {"auto", k_auto},     {"trapezoidal", k_trapezoidal}};
  for (const auto &n : k_names)
    if (eat(text, n.name))
      return n.kind;
  return 0;
}

void read_schedule(icvs &to) {
  const char *value = weft::layer::environment("OMP_SCHEDULE");
  if (!value)
    return;
  const char *s = skip(value);
  unsigned modifier = 0;
  bool has_modifier = false;
  if (eat(s, "monotonic")) {
    modifier = k_monotonic;
    has_modifier = true;
  } else if (eat(s, "nonmonotonic")) {
    has_modifier = true;
  }
  if (has_modifier && (*s != ':' || !*(s = skip(s + 1))))
    return void(bad("OMP_SCHEDULE", value, "[modifier:]static|dynamic|guided|auto[,chunk]"));
  const int kind = read_kind(s);
  unsigned long long chunk = 0;
  if (kind && *s == ',' && (!read_number(++s, chunk) || chunk > LONG_MAX))
    return void(bad("OMP_SCHEDULE", value, "[modifier:]static|dynamic|guided|auto[,chunk]"));
  if (!kind || *s)
    return void(bad("OMP_SCHEDULE", value, "[modifier:]static|dynamic|guided|auto[,chunk]"));
  to.schedule = kind;
  to.schedule_modifier = has_modifier                        ? modifier
                         : kind == k_static && !is_of_llvm() ? k_monotonic
                                                             : 0;
  to.chunk = chunk || kind == k_static ? static_cast<long>(chunk) : 1;
}

void read_levels(globals &all) {
  unsigned long long n = 0;
  bool nested = false;
  if (number_of("OMP_MAX_ACTIVE_LEVELS", n, 0, INT_MAX))
    all.initial.active_levels = static_cast<int>(n);
  else if (truth_of("OMP_NESTED", nested))
    all.initial.active_levels = nested ? all.most_levels : 1;
  else if (all.threads_by_level.size() > 1 || all.bind_by_level.size() > 1)
    all.initial.active_levels = all.most_levels;
}

/// Reads the unit of a time behind a number, and returns it in milliseconds; 0: microseconds.
unsigned long long read_unit(const char *&text) noexcept {
  static constexpr struct {
    const char *name;
    unsigned long long milliseconds;
  } k_units[] = {{"us", 0},     {"ms", 1},       {"s", 1000},
                 {"m", 60'000}, {"h", 3600'000}, {"d", 86400'000}};
  for (const auto &unit : k_units)
    if (eat(text, unit.name))
      return unit.milliseconds;
  return 1;
}

/// Reads KMP_BLOCKTIME: a number of milliseconds, or one with a unit, or infinite.
void read_block_time(globals &all) {
  const char *const value = weft::layer::environment("KMP_BLOCKTIME");
  if (!value)
    return;
  const char *s = skip(value);
  unsigned long long n = 0;
  const bool is_infinite = eat(s, "infinite") || eat(s, "infinity");
  const bool is_number = !is_infinite && read_number(s, n);
  const unsigned long long unit = is_number ? read_unit(s) : 1;
  if (*s || !(is_infinite || is_number))
    return void(bad("KMP_BLOCKTIME", value,
                    "milliseconds, a time with a unit such as 200us, 3s, 2m, 1h or 1d, or infinite"));
  const unsigned long long most = unit > 1 ? INT_MAX / unit : INT_MAX;
  const unsigned long long given = unit == 0 ? n / 1000 : n;
  all.block_time = is_infinite || given > most
                       ? INT_MAX
                       : static_cast<int>(given * std::max<unsigned long long>(unit, 1));
  if (is_number && n == 0)
    all.spins = 0;
}

void read_waiting(globals &all) {
  const char *policy = weft::layer::environment("OMP_WAIT_POLICY");
  if (policy) {
    const char *s = skip(policy);
    if (eat(s, "active") && !*s)
      all.wait_policy = 1;
    else if (s = skip(policy); eat(s, "passive") && !*s)
      all.wait_policy = 0;
    else
      bad("OMP_WAIT_POLICY", policy, "active or passive");
  }
  if (all.wait_policy == 0) {
    all.spins = 0;
    all.spin_count = 0;
  } else if (all.wait_policy == 1) {
    all.spins = 200000;
    all.spin_count = 30000000000ull;
  }
  const char *spins = weft::layer::environment("GOMP_SPINCOUNT");
  const char *s = spins ? skip(spins) : "";
  if (spins && (eat(s, "infinite") || eat(s, "infinity")) && !*s) {
    all.spins = 1000000;
    all.spin_count = ~0ull;
  } else if (spins && number_of("GOMP_SPINCOUNT", all.spin_count, 0, ~0ull)) {
    all.spins = static_cast<int>(std::min(all.spin_count, 1000000ull));
  }
  if (all.wait_policy >= 0)
    all.block_time = all.wait_policy ? INT_MAX : 0;
  read_block_time(all);
}

void read_stack(globals &all) {
  constexpr std::size_t k_least = 64 << 10, k_most = std::size_t{1} << 36;
  rlimit r{};
  if (getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
    all.stack_bytes = r.rlim_cur;
  for (const char *name : {"OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE"})
    if (bytes_of(name, all.stack_bytes_set)) {
      all.stack_bytes = all.stack_bytes_set;
      break;
    }
  all.stack_bytes = std::clamp(all.stack_bytes, k_least, k_most) + (16 << 10);
}

void read_offload() {
  if (const char *value = weft::layer::environment("OMP_TARGET_OFFLOAD"))
    set_offload(value);
}

void read_allocator(globals &all) {
  static const char *const k_names[] = {"omp_default_mem_alloc", "omp_large_cap_mem_alloc",
                                        "omp_const_mem_alloc",   "omp_high_bw_mem_alloc",
                                        "omp_low_lat_mem_alloc", "omp_cgroup_mem_alloc",
                                        "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};
  const char *value = weft::layer::environment("OMP_ALLOCATOR");
  if (!value)
    return;
  const char *s = skip(value);
  for (std::uintptr_t i = 0; i < std::size(k_names); ++i)
    if (const char *t = s; eat(t, k_names[i]) && !*t)
      return void(all.initial.allocator = i + 1);
  bad("OMP_ALLOCATOR", value, "one of the predefined allocators, such as omp_default_mem_alloc");
}

void read_teams(globals &all) {
  unsigned long long n = 0;
  if (number_of("OMP_NUM_TEAMS", n, 1, INT_MAX))
    all.teams = static_cast<int>(n);
  if (number_of("OMP_TEAMS_THREAD_LIMIT", n, 1, INT_MAX))
    all.teams_thread_limit = static_cast<unsigned>(n);
  if (number_of("OMP_MAX_TASK_PRIORITY", n, 0, INT_MAX))
    all.max_task_priority = static_cast<int>(n);
  if (bool throttles = true; truth_of("KMP_ENABLE_TASK_THROTTLING", throttles) && !throttles)
    all.most_tasks = SIZE_MAX;
  if (number_of("OMP_THREAD_LIMIT", n, 1, UINT_MAX - 1))
    all.initial.thread_limit = static_cast<unsigned>(n);
  (void)number_of(
      "KMP_DISP_NUM_BUFFERS", n, 1,
      4096); // for the warning only: the number of open worksharing regions has no limit here
  if (number_of("OMP_DEFAULT_DEVICE", n, 0, INT_MAX))
    all.initial.device = static_cast<int>(n);
  if (number_of("GOMP_DEBUG", n, 0, INT_MAX))
    all.debug = static_cast<int>(n);
}

void read_display(globals &all) {
  const char *value = weft::layer::environment("OMP_DISPLAY_ENV");
  if (!value)
    return;
  const char *s = skip(value);
  const int wanted = eat(s, "true") || eat(s, "1")     ? 1
                     : eat(s, "verbose")               ? 2
                     : eat(s, "false") || eat(s, "0") ? 0
                                                      : -1;
  if (wanted >= 0 && !*s)
    all.display = wanted;
  else
    bad("OMP_DISPLAY_ENV", value, "true, false or verbose");
}

} // namespace

void read_environment() {
  globals &g = g_globals;
  g.cpus = std::min(weft::layer::effective_cpus(), static_cast<int>(process_cpus().size()));
  if (is_of_llvm()) {
    g.initial.schedule = k_auto;
    g.affinity_format = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}";
  }
  if (numbers_of("OMP_NUM_THREADS", g.threads_by_level))
    g.initial.threads = g.threads_by_level[0];
  else
    g.initial.threads = effective_cpus();
  read_schedule(g.initial);
  truth_of("OMP_DYNAMIC", g.initial.dynamic);
  truth_of("OMP_CANCELLATION", g.cancellation);
  truth_of("OMP_DISPLAY_AFFINITY", g.display_affinity);
  if (const char *format = weft::layer::environment("OMP_AFFINITY_FORMAT"))
    g.affinity_format = format;
  read_places(g);
  read_helpers(g);
  read_levels(g);
  read_waiting(g);
  read_stack(g);
  read_offload();
  read_allocator(g);
  read_teams(g);
  read_display(g);
  if (g.display || g.debug)
    print_environment(g.display == 2 || g.debug);
  if (bool wanted = false; truth_of("KMP_SETTINGS", wanted) && wanted)
    print_settings();
}

} // namespace weft_omp
