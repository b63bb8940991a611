// SPDX-License-Identifier: Apache-2.0
// omp_*: teams, levels, ICVs, time.
#include "abi/api.hpp"
#include "config/display.hpp"
#include "config/topology.hpp"
#include "team/team.hpp"
#include "tool/tasks.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

using namespace weft_omp;

namespace {

/// Holds the team at a level around the calling thread, and the number of the thread there; null:
/// there is no such level.
struct position {
  const omp_team *team;
  unsigned number;
};

position at_level(int level) noexcept {
  const thread &self = weft_omp::self();
  const omp_team *team = self.team;
  unsigned number = self.number;
  if (level < 0 || level > static_cast<int>(team->level))
    return {nullptr, 0};
  for (int l = static_cast<int>(team->level); l > level; --l) {
    number = team->number_in_outer;
    team = team->outer;
  }
  return {team, number};
}

} // namespace

OMP_API void omp_set_num_threads(int n) { own_icvs().threads = std::max(n, 1); }
OMP_API int omp_get_num_threads() { return static_cast<int>(self().team->size); }
OMP_API int omp_get_max_threads() { return my_icvs().threads; }
OMP_API int omp_get_thread_num() { return static_cast<int>(self().number); }
OMP_API int omp_get_num_procs() { return static_cast<int>(process_cpus().size()); }
OMP_API int omp_in_parallel() { return self().team->active_level > 0; }
OMP_API void omp_set_dynamic(int on) { own_icvs().dynamic = on != 0; }
OMP_API int omp_get_dynamic() { return my_icvs().dynamic; }
OMP_API void omp_set_nested(int on) {
  icvs &v = own_icvs();
  if (!on)
    v.active_levels = 1;
  else if (v.active_levels <= 1)
    v.active_levels = g_globals.most_levels;
}
OMP_API int omp_get_nested() {
  return my_icvs().active_levels > static_cast<int>(self().team->active_level) &&
         my_icvs().active_levels > 1;
}
OMP_API int omp_get_thread_limit() {
  return static_cast<int>(std::min<unsigned>(my_icvs().thread_limit, INT_MAX));
}
OMP_API void omp_set_max_active_levels(int n) {
  if (n >= 0)
    own_icvs().active_levels = n;
}
OMP_API int omp_get_max_active_levels() { return my_icvs().active_levels; }
OMP_API int omp_get_supported_active_levels() { return g_globals.most_levels; }
OMP_API int omp_get_level() { return static_cast<int>(self().team->level); }
OMP_API int omp_get_active_level() { return static_cast<int>(self().team->active_level); }
OMP_API int omp_get_ancestor_thread_num(int level) {
  const position p = at_level(level);
  return p.team ? static_cast<int>(p.number) : -1;
}
OMP_API int omp_get_team_size(int level) {
  const position p = at_level(level);
  return p.team ? static_cast<int>(p.team->size) : -1;
}
OMP_API int omp_in_final() { return self().task->is_final; }
OMP_API int omp_get_cancellation() { return of_process().cancellation; }
OMP_API int omp_get_max_task_priority() { return of_process().max_task_priority; }

OMP_API void omp_set_schedule(int kind, int chunk) {
  const int plain = static_cast<int>(static_cast<unsigned>(kind) & ~k_monotonic);
  if ((plain < k_static || plain > k_auto) && plain != k_trapezoidal)
    return;
  icvs &v = own_icvs();
  v.schedule = plain;
  v.schedule_modifier = static_cast<unsigned>(kind) & k_monotonic;
  v.chunk = plain == k_auto ? v.chunk : plain == k_static ? std::max(chunk, 0) : std::max(chunk, 1);
}
OMP_API void omp_get_schedule(int *kind, int *chunk) {
  const icvs &v = my_icvs();
  *kind = static_cast<int>(static_cast<unsigned>(v.schedule) | v.schedule_modifier);
  *chunk = static_cast<int>(v.chunk);
}

OMP_API double omp_get_wtime() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
OMP_API double omp_get_wtick() {
  timespec t;
  clock_getres(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

OMP_API int omp_get_num_teams() { return static_cast<int>(self().teams); }
OMP_API int omp_get_team_num() { return static_cast<int>(self().teams_number); }
OMP_API void omp_set_num_teams(int n) { of_process().teams = std::max(n, 0); }
OMP_API int omp_get_max_teams() { return of_process().teams; }
OMP_API void omp_set_teams_thread_limit(int n) {
  of_process().teams_thread_limit = static_cast<unsigned>(std::max(n, 0));
}
OMP_API int omp_get_teams_thread_limit() {
  return static_cast<int>(of_process().teams_thread_limit);
}

OMP_API void omp_display_env(int verbose) {
  (void)self();
  print_environment(verbose != 0);
}
OMP_API int omp_pause_resource(int kind, int device) {
  const bool known = (kind == 1 || kind == 2) && (device == 0 || device == -1);
  return known && forget_threads(self()) ? 0 : -1;
}
OMP_API int omp_pause_resource_all(int kind) {
  return (kind == 1 || kind == 2) && forget_threads(self()) ? 0 : -1;
}
OMP_API void omp_fulfill_event(void *event) { fulfill_event(*static_cast<omp_task *>(event)); }

OMP_ALSO_LLVM(omp_set_num_threads, OMP_1.0);
OMP_ALSO_LLVM(omp_get_num_threads, OMP_1.0);
OMP_ALSO_LLVM(omp_get_max_threads, OMP_1.0);
OMP_ALSO_LLVM(omp_get_thread_num, OMP_1.0);
OMP_ALSO_LLVM(omp_get_num_procs, OMP_1.0);
OMP_ALSO_LLVM(omp_in_parallel, OMP_1.0);
OMP_ALSO_LLVM(omp_set_dynamic, OMP_1.0);
OMP_ALSO_LLVM(omp_get_dynamic, OMP_1.0);
OMP_ALSO_LLVM(omp_set_nested, OMP_1.0);
OMP_ALSO_LLVM(omp_get_nested, OMP_1.0);
OMP_ALSO_LLVM(omp_get_thread_limit, OMP_3.0);
OMP_ALSO_LLVM(omp_set_max_active_levels, OMP_3.0);
OMP_ALSO_LLVM(omp_get_max_active_levels, OMP_3.0);
OMP_ALSO_LLVM(omp_get_supported_active_levels, OMP_5.0.1);
OMP_ALSO_LLVM(omp_get_level, OMP_3.0);
OMP_ALSO_LLVM(omp_get_active_level, OMP_3.0);
OMP_ALSO_LLVM(omp_get_ancestor_thread_num, OMP_3.0);
OMP_ALSO_LLVM(omp_get_team_size, OMP_3.0);
OMP_ALSO_LLVM(omp_in_final, OMP_3.1);
OMP_ALSO_LLVM(omp_get_cancellation, OMP_4.0);
OMP_ALSO_LLVM(omp_get_max_task_priority, OMP_4.5);
OMP_ALSO_LLVM(omp_set_schedule, OMP_3.0);
OMP_ALSO_LLVM(omp_get_schedule, OMP_3.0);
OMP_ALSO_LLVM(omp_get_wtime, OMP_2.0);
OMP_ALSO_LLVM(omp_get_wtick, OMP_2.0);
OMP_ALSO_LLVM(omp_get_num_teams, OMP_4.0);
OMP_ALSO_LLVM(omp_get_team_num, OMP_4.0);
OMP_ALSO_LLVM(omp_set_num_teams, OMP_5.1);
OMP_ALSO_LLVM(omp_get_max_teams, OMP_5.1);
OMP_ALSO_LLVM(omp_set_teams_thread_limit, OMP_5.1);
OMP_ALSO_LLVM(omp_get_teams_thread_limit, OMP_5.1);
OMP_ALSO_LLVM(omp_display_env, OMP_5.1);
OMP_ALSO_LLVM(omp_pause_resource, OMP_5.0);
OMP_ALSO_LLVM(omp_pause_resource_all, OMP_5.0);
OMP_ALSO_LLVM(omp_fulfill_event, OMP_5.0.1);
