// SPDX-License-Identifier: Apache-2.0
#include "helper/helpers.hpp"

#include "config/once.hpp"
#include "helper/job_queue.hpp"
#include "placement/affinity.hpp"
#include "placement/affinity_text.hpp"
#include "team/team.hpp"
#include "thread/hooks.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace weft_omp {
namespace {

struct helper_pool {
  job_queue<omp_task> tasks;
  spin_lock lock; // protects all that follows
  enum : std::uint8_t { none, some, all } made = none;
  unsigned count = 0, ready = 0; // helpers; helpers that have come to their places
  std::size_t open = 0;          // tasks that were given to helpers and are not over
};
helper_pool g_helpers;

/// Returns the place of a helper by KMP_HIDDEN_HELPER_AFFINITY.
/// Close: the helpers are distributed over the cpus of all places in turn. Otherwise they are
/// distributed over the places.
const place &place_of(unsigned turn) {
  const auto &places = g_globals.helper_places;
  if (g_globals.helper_bind != k_bind_close)
    return places[turn % places.size()];
  std::size_t cpus = 0, at = 0;
  for (const place &p : places)
    cpus += p.size();
  std::size_t cpu = turn % cpus;
  while (cpu >= places[at].size())
    cpu -= places[at++].size();
  return places[at];
}

void come_to_place(thread &self) {
  if (g_globals.helper_bind != k_bind_false)
    keep_on(self, place_of(self.gtid));
  if (g_globals.helper_levels >= 0) {
    const std::string number = std::to_string(self.gtid);
    const std::string text =
        affinity_text(("OMP: Info #255: KMP_HIDDEN_HELPER_AFFINITY: pid %P tid %i thread " +
                       number + " bound to OS proc set %A\n")
                          .c_str());
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  std::lock_guard lock(g_helpers.lock);
  ++g_helpers.ready;
}

void help(thread &self) {
  self.team = make_initial_team(self);
  self.task = &self.team->implicit[0];
  if (g_is_watched) [[unlikely]]
    begin_watched(self, watched_as::other);
  come_to_place(self);
  for (job_queue<omp_task>::runner r{&self};;) {
    run_task(self, g_helpers.tasks.next(r));
    std::lock_guard lock(g_helpers.lock);
    --g_helpers.open;
  }
}

bool is_any_open() {
  std::lock_guard lock(g_helpers.lock);
  return g_helpers.open != 0;
}
unsigned ready_helpers() {
  std::lock_guard lock(g_helpers.lock);
  return g_helpers.ready;
}

/// Waits for the tasks of the helpers at the end of the program, because there the initial task
/// ends and waits for its children.
void wait_at_exit() {
  thread *const self = self_if_any();
  if (self && !self->light && self->team->level == 0 && !self->task->is_explicit)
    while (!runtime_is_gone() && is_any_open())
      yield_now(*self);
}

unsigned make_helpers(thread &self) {
  const bool tells = g_globals.helper_levels >= 0;
  if (tells && g_globals.helper_levels > 0)
    std::fprintf(
        stderr,
        "OMP: Info #249: KMP_HIDDEN_HELPER_AFFINITY: Threads may migrate across %d innermost levels of machine\n",
        g_globals.helper_levels);
  unsigned count = 0;
  for (unsigned number = 2; number <= g_globals.helper_numbers; ++number)
    count += start_light_thread(self, &help, number) != nullptr;
  static const once waits([] { (void)std::atexit(&wait_at_exit); });
  while (tells && ready_helpers() != count)
    yield_now(self);
  return count;
}

} // namespace

bool have_helpers(thread &self) {
  if (g_globals.helper_numbers == 0 || runtime_is_gone())
    return false;
  for (bool waits = false;; waits = true) {
    if (waits)
      yield_now(self); // another thread makes them
    std::lock_guard lock(g_helpers.lock);
    if (g_helpers.made == helper_pool::all)
      return g_helpers.count != 0;
    if (g_helpers.made == helper_pool::none) {
      g_helpers.made = helper_pool::some;
      break;
    }
  }
  const unsigned count = make_helpers(self);
  std::lock_guard lock(g_helpers.lock);
  g_helpers.count = count;
  g_helpers.made = helper_pool::all;
  return count != 0;
}

void give_to_helpers(thread *self, omp_task &task) noexcept {
  {
    std::lock_guard lock(g_helpers.lock);
    ++g_helpers.open;
  }
  g_helpers.tasks.give(self, task);
}

void forget_helpers() noexcept { new (&g_helpers) helper_pool; }

} // namespace weft_omp
