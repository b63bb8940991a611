// SPDX-License-Identifier: Apache-2.0
// The functions that a tool asks for by name. A tool may call them in callbacks, on threads that
// OpenMP does not know, and in signal handlers: they make no thread known and take no lock.
#include "config/topology.hpp"
#include "tool/watched.hpp"

#include <algorithm>
#include <cstring>

#include <sched.h>

extern "C" {
int omp_get_num_places();
int omp_get_place_num_procs(int);
void omp_get_place_proc_ids(int, int *);
int omp_get_place_num();
int omp_get_partition_num_places();
void omp_get_partition_place_nums(int *);
}

namespace weft_omp {
namespace {

watched_thread *watched_here() noexcept {
  const thread *const t = g_is_watched ? self_if_any() : nullptr;
  return t ? watched(*t) : nullptr;
}

struct named_number {
  int number;
  const char *name;
};
constexpr named_number k_states[] = {
    {0x000, "ompt_state_work_serial"},
    {0x001, "ompt_state_work_parallel"},
    {0x002, "ompt_state_work_reduction"},
    {0x011, "ompt_state_wait_barrier_implicit_parallel"},
    {0x012, "ompt_state_wait_barrier_implicit_workshare"},
    {0x014, "ompt_state_wait_barrier_explicit"},
    {0x015, "ompt_state_wait_barrier_implementation"},
    {0x016, "ompt_state_wait_barrier_teams"},
    {0x020, "ompt_state_wait_taskwait"},
    {0x021, "ompt_state_wait_taskgroup"},
    {0x041, "ompt_state_wait_lock"},
    {0x042, "ompt_state_wait_critical"},
    {0x043, "ompt_state_wait_atomic"},
    {0x044, "ompt_state_wait_ordered"},
    {0x100, "ompt_state_idle"},
    {0x101, "ompt_state_overhead"},
};
constexpr named_number k_mutex_implementations[] = {
    {2, "suspends the waiting thread, whose worker runs others"}};

/// Gives the number behind `current`. `before_first` begins the enumeration.
template <std::size_t N>
int next_of(const named_number (&all)[N], int before_first, int current, int *next,
            const char **name) noexcept {
  std::size_t i = 0;
  if (current != before_first) {
    while (i < N && all[i].number != current)
      ++i;
    ++i;
  }
  if (i >= N)
    return 0;
  *next = all[i].number;
  *name = all[i].name;
  return 1;
}

int enumerate_states(int current, int *next, const char **name) {
  return next_of(k_states, static_cast<int>(ompt::state::undefined), current, next, name);
}
int enumerate_mutex_implementations(int current, int *next, const char **name) {
  return next_of(k_mutex_implementations, 0, current, next, name);
}

constexpr bool is_known(unsigned number) noexcept {
  return (number >= 1 && number <= 7) || number == 11 || (number >= 16 && number <= 21) ||
         (number >= 23 && number <= 32) || number == 37;
}

ompt::set_result set_callback(unsigned number, ompt::function f) {
  if (number == 0 || number >= ompt::k_events)
    return ompt::set_result::error;
  if (!is_known(number))
    return ompt::set_result::never;
  g_callbacks[number].store(f, std::memory_order_release); // O1 of tool.hpp
  return ompt::set_result::always;
}

int get_callback(unsigned number, ompt::function *f) {
  if (number == 0 || number >= ompt::k_events)
    return 0;
  ompt::function const found =
      g_callbacks[number].load(std::memory_order_acquire); // O1 of tool.hpp
  if (!found)
    return 0;
  *f = found;
  return 1;
}

ompt::data *get_thread_data() {
  watched_thread *const me = watched_here();
  return me ? &me->data : nullptr;
}

int get_state(std::uint64_t *wait_id) {
  const watched_thread *const me = watched_here();
  if (me && wait_id)
    *wait_id = me->wait_id;
  return static_cast<int>(me ? me->state : ompt::state::work_serial);
}

watched_task *task_at(int level) noexcept {
  const watched_thread *const me = watched_here();
  watched_task *task = me ? me->task : nullptr;
  while (task && level-- > 0)
    task = task->below;
  return task;
}

int get_task_info(int level, int *flags, ompt::data **data, ompt::frame **frame,
                  ompt::data **parallel_data, int *number) {
  static ompt::data none; // of a region that is over
  watched_task *const task = level < 0 ? nullptr : task_at(level);
  if (!task)
    return 0;
  if (flags)
    *flags = static_cast<int>(task->flags);
  if (data)
    *data = &task->data;
  if (frame)
    *frame = &task->frame;
  if (parallel_data)
    *parallel_data = task->region ? &task->region->data : &none;
  if (number)
    *number = static_cast<int>(task->number);
  return 2; // there is such a task, and it is on this thread
}

int get_task_memory(void **address, std::size_t *bytes, int block) {
  const watched_task *const task = task_at(0);
  const bool has_some = task && block == 0 && task->bytes != 0;
  *address = has_some ? task->memory : nullptr;
  *bytes = has_some ? task->bytes : 0;
  return has_some ? 1 : 0;
}

int get_parallel_info(int level, ompt::data **data, int *size) {
  const watched_thread *const me = watched_here();
  watched_region *region = me && me->task && level >= 0 ? me->task->region : nullptr;
  while (region && level-- > 0)
    region = region->creator ? region->creator->region : nullptr;
  if (!region)
    return 0;
  if (data)
    *data = &region->data;
  if (size)
    *size = static_cast<int>(region->size);
  return 2;
}

std::uint64_t get_unique_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void finalize() {
  thread *const self = self_if_any();
  if (self && self->watched && !self->light && self->team->level == 0)
    end_all_watched(*self);
  finalize_tool();
}

int get_num_procs() { return static_cast<int>(process_cpus().size()); }
int get_num_places() { return watched_here() ? omp_get_num_places() : 0; }
int get_place_proc_ids(int place, int room, int *ids) {
  const int count = watched_here() ? omp_get_place_num_procs(place) : 0;
  if (ids && room >= count && count != 0)
    omp_get_place_proc_ids(place, ids);
  return count;
}
int get_place_num() { return watched_here() ? omp_get_place_num() : -1; }
int get_partition_place_nums(int room, int *numbers) {
  const int count = watched_here() ? omp_get_partition_num_places() : 0;
  if (numbers && room >= count && count != 0)
    omp_get_partition_place_nums(numbers);
  return count;
}
int get_proc_id() { return watched_here() ? sched_getcpu() : -1; }
int get_num_devices() { return 0; }
int get_target_info(std::uint64_t *, std::uint64_t *, std::uint64_t *) { return 0; }

template <class F>
ompt::function plain(F *f) noexcept {
  return reinterpret_cast<ompt::function>(f);
}

} // namespace

ompt::function entry_point(const char *name) noexcept {
  const struct {
    const char *name;
    ompt::function function;
  } all[] = {
      {"ompt_set_callback", plain(&set_callback)},
      {"ompt_get_callback", plain(&get_callback)},
      {"ompt_get_thread_data", plain(&get_thread_data)},
      {"ompt_get_state", plain(&get_state)},
      {"ompt_get_task_info", plain(&get_task_info)},
      {"ompt_get_task_memory", plain(&get_task_memory)},
      {"ompt_get_parallel_info", plain(&get_parallel_info)},
      {"ompt_get_unique_id", plain(&get_unique_id)},
      {"ompt_finalize_tool", plain(&finalize)},
      {"ompt_enumerate_states", plain(&enumerate_states)},
      {"ompt_enumerate_mutex_impls", plain(&enumerate_mutex_implementations)},
      {"ompt_get_num_procs", plain(&get_num_procs)},
      {"ompt_get_num_places", plain(&get_num_places)},
      {"ompt_get_place_proc_ids", plain(&get_place_proc_ids)},
      {"ompt_get_place_num", plain(&get_place_num)},
      {"ompt_get_partition_place_nums", plain(&get_partition_place_nums)},
      {"ompt_get_proc_id", plain(&get_proc_id)},
      {"ompt_get_num_devices", plain(&get_num_devices)},
      {"ompt_get_target_info", plain(&get_target_info)},
  };
  const auto *const found = std::find_if(std::begin(all), std::end(all), [name](const auto &e) {
    return std::strcmp(e.name, name) == 0;
  });
  return found == std::end(all) ? nullptr : found->function;
}

} // namespace weft_omp
