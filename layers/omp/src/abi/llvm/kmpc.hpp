// SPDX-License-Identifier: Apache-2.0
// Types and functions that the entry points of LLVM's ABI share.
// The thread number (gtid) that an entry point takes is that of an OpenMP thread, never that of a
// worker. No entry point here uses the number, because a thread finds its own data.
#pragma once

#include "team/team.hpp"
#include "thread/event.hpp"

#include <cstdint>

#define KMP_API extern "C" __attribute__((visibility("default")))

namespace weft_omp {

/// The location of the construct in the source, of which only the flags are used.
struct location {
  std::int32_t reserved, flags;
};
enum location_flag : std::int32_t {
  k_explicit_barrier = 0x20,
  k_implicit_barrier = 0x40,
  k_work_loop = 0x200,
  k_work_sections = 0x400,
  k_work_distribute = 0x800
};

/// Holds a task as the compiler sees it. This library's record lies in front of it.
struct kmp_task {
  void *shareds;
  std::int32_t (*entry)(std::int32_t, kmp_task *);
  std::int32_t part;
  union {
    std::int32_t priority;
    void (*destroy)(std::int32_t, kmp_task *);
  } data1, data2;
  // Fortran, C and C++ data of a taskloop: lower and upper bound, stride, last iteration
  std::uint64_t low, high;
  std::int64_t stride;
  std::int32_t is_last;
};
constexpr std::size_t k_head = (sizeof(omp_task) + 15) & ~std::size_t{15};
inline omp_task &task_of(kmp_task *task) noexcept {
  return *reinterpret_cast<omp_task *>(reinterpret_cast<char *>(task) - k_head);
}
/// Runs the destructors of the task's private variables.
inline void destroy_data(std::int32_t number, kmp_task *task) {
  if (task_of(task).destroys)
    task->data1.destroy(number, task);
}

/// Calls f(&thread, &zero, arguments...).
extern "C" void weft_omp_call_microtask(void (*f)(), std::int32_t *thread, std::int32_t *zero,
                                        std::size_t count, void **arguments);
/// Does the same, and notes the address of its frame.
extern "C" void weft_omp_call_watched_microtask(void (*f)(), std::int32_t *thread,
                                                std::int32_t *zero, std::size_t count,
                                                void **arguments, void **frame);

} // namespace weft_omp
