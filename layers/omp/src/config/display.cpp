// SPDX-License-Identifier: Apache-2.0
// Prints OMP_DISPLAY_ENV's block, in the form that the specification gives.
#include "config/display.hpp"

#include "abi/flavor.hpp"
#include "config/icv.hpp"

#include <cstdint>
#include <cstdio>

#include <strings.h>

namespace weft_omp {
namespace {

const char *truth(bool on) noexcept { return on ? "TRUE" : "FALSE"; }

std::string numbers(const std::vector<int> &all, int single) {
  if (all.empty())
    return std::to_string(single);
  std::string text;
  for (int n : all)
    text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

std::string binding(const globals &all) {
  static const char *const k_names[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
  if (all.bind_by_level.empty())
    return k_names[all.initial.bind];
  std::string text;
  for (int b : all.bind_by_level)
    text += (text.empty() ? "" : ",") + std::string(k_names[b]);
  return text;
}

std::string places_text(const globals &all) {
  if (is_of_llvm() && !all.places_kind.empty())
    return all.places_kind;
  std::string text;
  for (const place &p : all.places) {
    text += text.empty() ? "{" : ",{";
    for (std::size_t i = 0; i < p.size(); ++i)
      text += (i ? "," : "") + std::to_string(p[i]);
    text += "}";
  }
  return text;
}

std::string schedule(const icvs &own) {
  static const char *const k_names[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
  const bool is_default =
      (own.schedule_modifier != 0) == (own.schedule == k_static && !is_of_llvm());
  std::string text = is_default ? "" : own.schedule_modifier ? "MONOTONIC:" : "NONMONOTONIC:";
  text += own.schedule == k_trapezoidal ? "TRAPEZOIDAL" : k_names[own.schedule];
  if (own.schedule == k_static ? own.chunk != 0 : own.schedule != k_auto && own.chunk != 1)
    text += "," + std::to_string(own.chunk);
  return text;
}

using print = void (*)(const char *name, const std::string &value);
void line(const char *name, const std::string &value) {
  std::fprintf(stderr, "  %s = '%s'\n", name, value.c_str());
}
void setting(const char *name, const std::string &value) {
  std::fprintf(stderr, "   %s='%s'\n", name, value.c_str());
}
void print_as_set(const char *name, const std::string &) {
  if (const char *value = weft::layer::environment(name))
    std::fprintf(stderr, "   %s=%s\n", name, value);
}

void print_more(const globals &all) {
  for (const char *name : {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_BLOCKTIME"})
    if (const char *value = weft::layer::environment(name); value || name[0] == 'G')
      line(name, value ? value : "");
  line("GOMP_STACKSIZE", std::to_string(all.stack_bytes_set));
  line("GOMP_SPINCOUNT", all.spin_count == ~0ull ? "INFINITE" : std::to_string(all.spin_count));
}

void print_all(print line) noexcept {
  static const char *const k_offload[] = {"DEFAULT", "MANDATORY", "DISABLED"};
  static const char *const k_allocators[] = {"",
                                             "omp_default_mem_alloc",
                                             "omp_large_cap_mem_alloc",
                                             "omp_const_mem_alloc",
                                             "omp_high_bw_mem_alloc",
                                             "omp_low_lat_mem_alloc",
                                             "omp_cgroup_mem_alloc",
                                             "omp_pteam_mem_alloc",
                                             "omp_thread_mem_alloc"};
  const globals &g = g_globals;
  const icvs &v = g.initial;
  line("OMP_DYNAMIC", truth(v.dynamic));
  line("OMP_NESTED", truth(v.active_levels > 1));
  line("OMP_NUM_THREADS", numbers(g.threads_by_level, v.threads));
  line("OMP_SCHEDULE", schedule(v));
  line("OMP_PROC_BIND", binding(g));
  line("OMP_PLACES", places_text(g));
  line("OMP_STACKSIZE", std::to_string(g.stack_bytes_set));
  line("OMP_WAIT_POLICY", g.wait_policy > 0 ? "ACTIVE" : "PASSIVE");
  line("OMP_THREAD_LIMIT", std::to_string(v.thread_limit));
  line("OMP_MAX_ACTIVE_LEVELS", std::to_string(v.active_levels));
  line("OMP_NUM_TEAMS", std::to_string(g.teams));
  line("OMP_TEAMS_THREAD_LIMIT", std::to_string(g.teams_thread_limit));
  line("OMP_CANCELLATION", truth(g.cancellation));
  line("OMP_DEFAULT_DEVICE", std::to_string(v.device));
  line("OMP_MAX_TASK_PRIORITY", std::to_string(g.max_task_priority));
  line("OMP_DISPLAY_AFFINITY", truth(g.display_affinity));
  line("OMP_AFFINITY_FORMAT", g.affinity_format);
  line("OMP_ALLOCATOR", v.allocator <= 8 ? k_allocators[v.allocator] : "");
  line("OMP_TARGET_OFFLOAD", k_offload[g.target_offload]);
  const char *const tool = weft::layer::environment("OMP_TOOL"),
                    *const libraries = weft::layer::environment("OMP_TOOL_LIBRARIES");
  line("OMP_TOOL", tool && strcasecmp(tool, "disabled") == 0 ? "DISABLED" : "ENABLED");
  line("OMP_TOOL_LIBRARIES", libraries ? libraries : "");
}

} // namespace

void print_environment(bool verbose) noexcept {
  std::fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n", stderr);
  line("_OPENMP", "201511");
  print_all(&line);
  if (verbose)
    print_more(g_globals);
  std::fputs("OPENMP DISPLAY ENVIRONMENT END\n", stderr);
}

void print_settings() noexcept {
  std::fputs("\nUser settings:\n\n", stderr);
  print_all(&print_as_set);
  for (const char *name :
       {"GOMP_CPU_AFFINITY", "GOMP_STACKSIZE", "KMP_AFFINITY", "KMP_BLOCKTIME",
        "KMP_ENABLE_TASK_THROTTLING", "KMP_HW_SUBSET", "KMP_SETTINGS", "KMP_TEAMS_PROC_BIND"})
    print_as_set(name, {});
  std::fputs("\nEffective settings:\n\n", stderr);
  print_all(&setting);
  setting("KMP_ENABLE_TASK_THROTTLING", truth(g_globals.most_tasks != SIZE_MAX));
  std::fputs("\n", stderr);
}

} // namespace weft_omp
