// SPDX-License-Identifier: Apache-2.0
#include "task_pool.hpp"

#include "task.hpp"
#include "thread.hpp"

#include <cstdlib>
#include <new>

namespace weft_omp {
namespace {

constexpr unsigned k_batch = 32; // a returned record is a miss of the cache for its owner in any case; one exchange for that many

/// What others have brought back.
void collect(record_pool &p) noexcept {
  omp_task *x = p.returned.load(std::memory_order_relaxed) ? p.returned.exchange(nullptr, std::memory_order_acquire) : nullptr; // O2
  while (x) {
    omp_task *const next = x->newer;
    x->newer = p.free[x->pool_class];
    p.free[x->pool_class] = x;
    x = next;
  }
}

[[gnu::noinline]] omp_task *refill(record_pool &p, unsigned wanted) noexcept {
  collect(p);
  omp_task *const found = p.free[wanted];
  if (found)
    p.free[wanted] = found->newer;
  return found;
}

void bring_home(record_pool &mine) noexcept {
  if (mine.count == 0)
    return;
  std::atomic<omp_task *> &place = mine.of->pool.returned;
  omp_task *seen = place.load(std::memory_order_relaxed);
  do
    mine.last->newer = seen;
  while (!place.compare_exchange_weak(seen, mine.first, std::memory_order_release, std::memory_order_relaxed)); // O1
  mine.count = 0;
}

[[gnu::noinline]] void *allocate(std::size_t alignment, std::size_t bytes) {
  void *const block = std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
  if (!block)
    fatal("no memory for a task of %zu bytes", bytes);
  return block;
}

} // namespace

omp_task *make_record(thread &t, std::size_t bytes, std::size_t alignment, void *&data) {
  const std::size_t above = alignment < alignof(omp_task) ? alignof(omp_task) : alignment;
  const std::size_t head = (sizeof(omp_task) + above - 1) & ~(above - 1), all = head + bytes;
  unsigned c = 0;
  while (c < record_pool::k_classes && all > record_pool::k_smallest << c)
    ++c;
  void *block = nullptr;
  if (c < record_pool::k_classes && above == alignof(omp_task)) [[likely]] {
    record_pool &p = t.pool;
    omp_task *x = p.free[c];
    if (x) [[likely]]
      p.free[c] = x->newer;
    else
      x = refill(p, c);
    block = x ? static_cast<void *>(x) : allocate(alignof(omp_task), record_pool::k_smallest << c);
  } else {
    c = record_pool::k_none;
    block = allocate(above, all);
  }
  data = static_cast<char *>(block) + head;
  omp_task *const x = ::new (block) omp_task;
  x->home = &t;
  x->pool_class = static_cast<std::uint8_t>(c);
  return x;
}

void free_record(thread &me, omp_task &x) noexcept {
  if (x.own) [[unlikely]]
    delete x.own;
  if (x.pool_class == record_pool::k_none) [[unlikely]]
    return std::free(&x);
  record_pool &mine = me.pool;
  if (x.home == &me) [[likely]] {
    x.newer = mine.free[x.pool_class];
    mine.free[x.pool_class] = &x;
    return;
  }
  if (mine.of != x.home || mine.count == k_batch)
    bring_home(mine);
  if (mine.count++ == 0) {
    mine.of = x.home;
    mine.last = &x;
    x.newer = nullptr;
  } else {
    x.newer = mine.first;
  }
  mine.first = &x;
}

void empty_pool(thread &t) noexcept {
  bring_home(t.pool);
  collect(t.pool);
  for (omp_task *&first : t.pool.free)
    while (omp_task *const x = first) {
      first = x->newer;
      std::free(x);
    }
}

} // namespace weft_omp
