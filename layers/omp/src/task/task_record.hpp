// SPDX-License-Identifier: Apache-2.0
// Makes and frees the record of a task, in the pool of the calling thread. The code is in line,
// because each task runs it.
#pragma once

#include "task/task.hpp"
#include "thread/thread.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace weft_omp {

/// Refills the empty list of a class, and returns a record of it. Ends the program when there is no
/// memory.
[[gnu::noinline]] void *refill(record_pool &pool, unsigned pool_class);
/// Allocates a record that is too large for the pool, or that needs a larger alignment than the
/// pool's. Ends the program when there is no memory.
[[gnu::noinline]] void *allocate_record(std::size_t alignment, std::size_t bytes);
/// Returns a record that belongs to another thread's pool, or to none.
[[gnu::noinline]] void return_record(thread &self, omp_task &task) noexcept;

/// Creates a record with `bytes` of data behind it, at `argument`, which is aligned to `alignment`.
/// Sets the fields of the pool.
[[gnu::always_inline]] inline omp_task *make_record(thread &self, std::size_t bytes,
                                                    std::size_t alignment) {
  const std::size_t above = alignment < alignof(omp_task) ? alignof(omp_task) : alignment;
  const std::size_t head = (sizeof(omp_task) + above - 1) & ~(above - 1), all = head + bytes;
  unsigned c = 0;
  while (c < record_pool::k_classes && all > record_pool::k_smallest << c)
    ++c;
  void *block = nullptr;
  if (c < record_pool::k_classes && above == alignof(omp_task)) [[likely]] {
    omp_task *const task = self.pool.free[c];
    if (task) [[likely]]
      self.pool.free[c] = task->newer;
    block = task ? task : refill(self.pool, c);
  } else {
    c = record_pool::k_none;
    block = allocate_record(above, all);
  }
  omp_task *const task = ::new (block) omp_task;
  task->argument = static_cast<char *>(block) + head;
  task->home = &self;
  task->pool_class = static_cast<std::uint8_t>(c);
  return task;
}

/// Creates a task with space for `bytes` of data, at `argument`. Ends the program when there is no
/// memory.
[[gnu::always_inline]] inline omp_task *
make_task(thread &self, std::size_t bytes, std::size_t alignment, const task_clauses &clauses) {
  omp_task *const task = make_record(self, bytes, alignment);
  omp_task &creator = *self.task;
  task->parent = &creator;
  task->team = self.team;
  task->group = creator.group;
  task->settings = creator.settings;
  task->depth = creator.depth + 1;
  task->on.store(&self, std::memory_order_relaxed);
  task->is_explicit = true;
  task->is_final = clauses.is_final || creator.is_final;
  task->undeferred = !clauses.deferred || creator.is_final;
  task->detachable = clauses.detachable;
  task->priority =
      clauses.priority <= 0 ? 0 : std::min(clauses.priority, g_globals.max_task_priority);
  if (creator.own) [[unlikely]]
    task->settings = task->own = new icvs(*creator.own); // the creator may change them
  return task;
}

inline void free_record(thread &self, omp_task &task) noexcept {
  if (task.own) [[unlikely]]
    delete task.own;
  if (task.home != &self || task.pool_class == record_pool::k_none) [[unlikely]]
    return return_record(self, task);
  task.newer = std::exchange(self.pool.free[task.pool_class], &task);
}

} // namespace weft_omp
