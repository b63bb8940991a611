// SPDX-License-Identifier: Apache-2.0
// The binary interface of OMPT, OpenMP's interface for tools, as chapter 19 of OpenMP 5.2 has it:
// types and numbers that a tool, which includes <omp-tools.h>, shares with this layer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft_omp::ompt {

union data {
  std::uint64_t value = 0;
  void *pointer;
};

/// Tells runtime and program apart on a stack. `exit`: the last frame of the runtime before the
/// task's code. `enter`: the frame by which the task has entered the runtime.
struct frame {
  data exit, enter;
  int exit_flags = 0, enter_flags = 0;
};
enum frame_flag : int { k_runtime = 0, k_application = 1, k_frame_pointer = 0x20 };

using function = void (*)();

enum class event : unsigned {
  thread_begin = 1,
  thread_end = 2,
  parallel_begin = 3,
  parallel_end = 4,
  task_create = 5,
  task_schedule = 6,
  implicit_task = 7,
  control_tool = 11,
  sync_region_wait = 16,
  mutex_released = 17,
  dependences = 18,
  task_dependence = 19,
  work = 20,
  masked = 21,
  sync_region = 23,
  lock_init = 24,
  lock_destroy = 25,
  mutex_acquire = 26,
  mutex_acquired = 27,
  nest_lock = 28,
  flush = 29,
  cancel = 30,
  reduction = 31,
  dispatch = 32,
  error = 37
};
inline constexpr unsigned k_events = 38;

enum class set_result : int { error = 0, never = 1, always = 5 };
enum class thread_kind : int { initial = 1, worker = 2, other = 3 };
enum class endpoint : int { begin = 1, end = 2 };
enum class dispatch_kind : int {
  section = 2,
  loop_chunk = 3,
  taskloop_chunk = 4,
  distribute_chunk = 5
};
enum class sync_kind : int {
  barrier_explicit = 3,
  barrier_implementation = 4,
  taskwait = 5,
  taskgroup = 6,
  reduction = 7,
  barrier_implicit_workshare = 8,
  barrier_implicit_parallel = 9,
  barrier_teams = 10
};
enum class work_kind : int {
  none = 0, // not of the interface
  loop = 1,
  sections = 2,
  single_executor = 3,
  single_other = 4,
  distribute = 6,
  taskloop = 7,
  scope = 8,
  loop_static = 10,
  loop_dynamic = 11,
  loop_guided = 12,
  loop_other = 13
};
enum class mutex_kind : int {
  lock = 1,
  test_lock = 2,
  nest_lock = 3,
  test_nest_lock = 4,
  critical = 5,
  atomic = 6,
  ordered = 7
};
enum class task_status : int {
  complete = 1,
  yield = 2,
  cancel = 3,
  detach = 4,
  early_fulfill = 5,
  late_fulfill = 6,
  switched = 7,
  taskwait_complete = 8
};
enum task_flag : unsigned {
  k_initial = 1,
  k_implicit = 2,
  k_explicit = 4,
  k_target = 8,
  k_taskwait = 16,
  k_undeferred = 0x08000000,
  k_untied = 0x10000000,
  k_final = 0x20000000,
  k_mergeable = 0x40000000
};
enum parallel_flag : unsigned {
  k_by_program = 1,
  k_by_runtime = 2,
  k_league = 0x40000000,
  k_team = 0x80000000
};
enum cancel_flag : int {
  k_parallel = 1,
  k_sections = 2,
  k_loop = 4,
  k_taskgroup = 8,
  k_activated = 16,
  k_detected = 32,
  k_discarded = 64
};
enum class dependence_kind : int {
  in = 1,
  out = 2,
  inout = 3,
  mutexinoutset = 4,
  source = 5,
  sink = 6,
  inoutset = 7,
  out_all_memory = 34,
  inout_all_memory = 35
};
struct dependence {
  data variable;
  dependence_kind kind;
};
struct chunk {
  std::uint64_t start, iterations;
};

enum class state : int {
  work_serial = 0,
  work_parallel = 1,
  work_reduction = 2,
  wait_barrier_implicit_parallel = 0x11,
  wait_barrier_implicit_workshare = 0x12,
  wait_barrier_explicit = 0x14,
  wait_barrier_implementation = 0x15,
  wait_barrier_teams = 0x16,
  wait_taskwait = 0x20,
  wait_taskgroup = 0x21,
  wait_lock = 0x41,
  wait_critical = 0x42,
  wait_atomic = 0x43,
  wait_ordered = 0x44,
  idle = 0x100,
  overhead = 0x101,
  undefined = 0x102
};

using lookup = function (*)(const char *);
struct start_result {
  int (*initialize)(lookup, int device, data *tool);
  void (*finalize)(data *tool);
  data tool;
};
using start = start_result *(*)(unsigned version, const char *runtime);

} // namespace weft_omp::ompt
