// SPDX-License-Identifier: Apache-2.0
#include "task/task_record.hpp"

#include "thread/hooks.hpp"
#include "thread/task_pool.hpp"

#include <weft_threads/block/sanitizer.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

namespace weft_omp {
namespace {

constexpr unsigned k_batch =
    32; // records per exchange; a returned record is a cache miss for its owner in any case

/// Moves the records that other threads have returned to the free lists.
void collect(record_pool &pool) noexcept {
  omp_task *task = pool.returned.take_all();
  while (task) {
    omp_task *const next = task->newer;
    task->newer = pool.free[task->pool_class];
    pool.free[task->pool_class] = task;
    task = next;
  }
}

// The records of threads that have ended. Their blocks are never freed, because records of several
// threads lie in them by then.
spin_lock g_spare_lock;
omp_task *g_spare[record_pool::k_classes];

} // namespace

void forget_spare_records() noexcept {
  ::new (static_cast<void *>(&g_spare_lock)) spin_lock;
  std::fill(std::begin(g_spare), std::end(g_spare), nullptr);
}

namespace {

constexpr std::size_t k_block = 16 << 10; // 64 to 16 records

/// Takes as many records as a block has. A thread that took all would leave none for the next
/// thread, which would cut a new block.
omp_task *take_spare(unsigned size_class) noexcept {
  std::lock_guard lock(g_spare_lock);
  omp_task *const list = g_spare[size_class];
  if (!list)
    return nullptr;
  omp_task *last = list;
  for (std::size_t n = k_block / (record_pool::k_smallest << size_class); n > 1 && last->newer; --n)
    last = last->newer;
  g_spare[size_class] = std::exchange(last->newer, nullptr);
  return list;
}

/// Allocates one block and cuts it into records.
omp_task *cut_block(unsigned size_class) {
  const std::size_t size = record_pool::k_smallest << size_class;
  char *const block = static_cast<char *>(allocate_record(alignof(omp_task), k_block));
  ignore_leak(block);
  omp_task *list = nullptr;
  for (std::size_t at = k_block; at != 0; at -= size) {
    auto *const task = ::new (block + at - size) omp_task;
    task->pool_class = static_cast<std::uint8_t>(size_class);
    task->newer = std::exchange(list, task);
  }
  return list;
}

void bring_home(record_pool &mine) noexcept {
  if (mine.count == 0)
    return;
  mine.of->pool.returned.push(*mine.first, *mine.last);
  mine.count = 0;
}

} // namespace

void *allocate_record(std::size_t alignment, std::size_t bytes) {
  void *const block = std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
  if (!block)
    fatal("no memory for a task of %zu bytes", bytes);
  return block;
}

void *refill(record_pool &pool, unsigned wanted) {
  collect(pool);
  if (!pool.free[wanted] && !(pool.free[wanted] = take_spare(wanted)))
    pool.free[wanted] = cut_block(wanted);
  return std::exchange(pool.free[wanted], pool.free[wanted]->newer);
}

void return_record(thread &self, omp_task &task) noexcept {
  if (task.pool_class == record_pool::k_none)
    return std::free(&task);
  record_pool &mine = self.pool;
  if (mine.of != task.home || mine.count == k_batch)
    bring_home(mine);
  if (mine.count++ == 0) {
    mine.of = task.home;
    mine.last = &task;
    task.newer = nullptr;
  } else {
    task.newer = mine.first;
  }
  mine.first = &task;
}

void empty_pool(thread &self) noexcept {
  bring_home(self.pool);
  collect(self.pool);
  std::lock_guard lock(g_spare_lock);
  for (unsigned c = 0; c < record_pool::k_classes; ++c)
    while (omp_task *const task = self.pool.free[c]) {
      self.pool.free[c] = task->newer;
      task->newer = std::exchange(g_spare[c], task);
    }
}

} // namespace weft_omp
