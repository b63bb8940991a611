// SPDX-License-Identifier: Apache-2.0
// The memory of a task: its block, its extra block, and a reserve of such blocks for when memory is
// gone.
#include "task/task.hpp"

#include "queue/spin_lock.hpp"
#include "task/failure.hpp"
#include "task/rerun_clock.hpp"
#include "task/groups/stop_relay.hpp"
#include "task/wait/claim_word.hpp"
#include "ult/hooks.hpp"

#include <cstdlib>
#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

// 64: libstdc++ itself reserves memory for about as many exceptions at a time.
constexpr int k_set_aside = 64;

union reserve {
  reserve *next;
  alignas(task_extra) unsigned char storage[sizeof(task_extra)];
};
reserve g_reserves[k_set_aside];
reserve *g_free = nullptr; // guarded by the lock
int g_untouched = 0; // guarded by the lock: blocks from this index on have never been used
spin_lock<> g_lock;

void *take_reserve() noexcept {
  g_lock.lock();
  reserve *r = g_free;
  if (r)
    g_free = r->next;
  else if (g_untouched < k_set_aside)
    r = &g_reserves[g_untouched++];
  g_lock.unlock();
  return r;
}

} // namespace

task_extra::~task_extra() {
  if (clock)
    clock->free(clock);
  delete relay;
}

void *task_extra::operator new(std::size_t bytes) {
  void *p = std::malloc(bytes);
  if (!p)
    p = take_reserve();
  if (!p)
    throw std::bad_alloc();
  return p;
}

void task_extra::operator delete(void *p) noexcept {
  auto *r = static_cast<reserve *>(p);
  if (r < g_reserves || r >= g_reserves + k_set_aside)
    return std::free(p);
  g_lock.lock();
  r->next = g_free;
  g_free = r;
  g_lock.unlock();
}

task_extra &make_extra(task &t) {
  task_extra *x = nullptr;
  auto *fresh = new task_extra;
  // O1: publishes the block; on failure the caller sees the other thread's block whole
  if (t.extra.compare_exchange_strong(x, fresh, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
    return *fresh;
  delete fresh;
  return *x;
}

task_extra *try_extra_of(task &t) noexcept {
  try {
    return &extra_of(t);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

namespace {

WEFT_COLD void delete_extra(const task &self, task_extra *extra) noexcept {
  if (extra->own_error && !extra->error_was_asked.load(std::memory_order_relaxed))
    lose_unasked(label_of(self), extra->own_error);
  if (extra->children_error)
    report_lost(label_of(self), extra->children_error);
  delete extra;
}

/// Destroys the closure of a task that no thread has waited for. Appends the tasks to which it had the
/// last references: they go after it, and not inside of it, so that a chain of any length needs no
/// stack. Those behind the first k_kept go inside of it.
WEFT_NOINLINE void destroy_unstarted(task &self, ready_list &unreferenced) noexcept {
  constexpr std::size_t k_kept = 16;
  task *kept[k_kept];
  std::size_t count = 0;
  if (self.ops->inputs) {
    const detail::input_list inputs = self.ops->inputs(detail::storage(&self));
    for (; count != inputs.count && count != k_kept; ++count) {
      kept[count] = inputs.first[count];
      kept[count]->references.fetch_add(1, std::memory_order_relaxed); // O2: the closure has one
    }
  }
  self.ops->destroy(detail::storage(&self));
  for (std::size_t i = 0; i != count; ++i)
    if (take_away(kept[i]->references, 1))
      unreferenced.push_back(kept[i]);
}

/// Destroys what a task with a handle still holds.
WEFT_NOINLINE void destroy_rest(task &self, ready_list &unreferenced) noexcept {
  if (self.unsatisfied.load(std::memory_order_relaxed) == k_deferred && self.ops->destroy)
    destroy_unstarted(self, unreferenced);
  if (self.ops->destroy_result)
    self.ops->destroy_result(detail::storage(&self));
}

/// Says whether the closure or the result of a task may have to be destroyed. Only for a task with a
/// handle: the module that holds `ops` may have been unloaded since the task completed.
WEFT_INLINE bool may_hold_rest(const task &self) noexcept {
  constexpr std::uint8_t both = detail::k_tracked | detail::k_destroys;
  return (self.flags & both) == both;
}

WEFT_NOINLINE void free_with_rest(task &first, heap *mine) noexcept {
  ready_list unreferenced;
  runnable *next = &first;
  do {
    task &self = *static_cast<task *>(next);
    if (may_hold_rest(self)) {
      destroy_rest(self, unreferenced);
      mine = own_heap(); // a destructor may wait, and go on at another thread
    }
    if (task_extra *extra = self.extra.load(std::memory_order_relaxed))
      delete_extra(self, extra);
    heap::deallocate(&self, mine);
    next = unreferenced.pop_front();
  } while (next);
}

} // namespace

void free_task(task &self, heap *mine) noexcept {
  if (may_hold_rest(self) || self.extra.load(std::memory_order_relaxed)) [[unlikely]]
    return free_with_rest(self, mine);
  heap::deallocate(&self, mine);
}

task *make_light_root() { return new task("thread"); }

void free_light_root(task *root) noexcept {
  delete root->extra.load(std::memory_order_relaxed);
  delete root;
}

} // namespace rt
} // namespace weft::inline v0
