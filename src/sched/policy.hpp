// SPDX-License-Identifier: Apache-2.0
// Which ready work runs next. A policy orders; waking, sleeping and immediate successors are up to the module worker.
#pragma once

#include "config/settings.hpp"
#include "observe/layout.hpp"
#include "queue/deque.hpp"
#include "task/lineage.hpp"
#include "topo/machine.hpp"
#include "weft/detail/core.hpp"

#include <atomic>
#include <memory>

namespace weft::inline v0 {
namespace rt {

inline constexpr unsigned k_outside = ~0u; // the caller is no worker

enum class origin { fresh, resumed, yielded };

/// The queue that a worker may push fresh work of priority 0 into, and take its newest from while `urgent` is zero. No deque: all
/// work goes through the policy.
struct own_queue {
  work_deque<runnable *> *deque = nullptr;
  const std::atomic<std::size_t> *urgent = nullptr;

  /// policy::take_newest while `urgent` is zero.
  WEFT_INLINE runnable *take_newest(const lineage &l) const noexcept {
    runnable *r = deque->pop();
    if (!r || l.includes(*r)) [[likely]]
      return r;
    deque->push(r); // it has just left: there is room, though try_push may not know of it
    return nullptr;
  }
};

class policy {
 public:
  virtual ~policy() = default;
  /// Worker `id` exists from now on, and counts there. Called once per id, by one thread at a time.
  virtual void attach(unsigned id, counter_block &counts) = 0;
  /// Hands over ready work. `id` is the caller's or k_outside.
  virtual void add(runnable *r, unsigned id, origin from) = 0;
  /// Something for worker `id` to run, or null when nothing was found.
  virtual runnable *get(unsigned id) = 0;
  /// The same for a worker that has run own tasks for a while: work of others must not starve.
  virtual runnable *get_shared_first(unsigned id) { return get(id); }
  /// What worker `id` may use without asking.
  virtual own_queue own(unsigned) { return {}; }
  /// For a frame of worker `id` that waits for this lineage: the newest task that the worker added, or null when that is not
  /// one of the lineage, or work of a larger priority is ready.
  virtual runnable *take_newest(unsigned id, const lineage &l) = 0;
  /// Whether work of a larger priority than `priority`, which is not negative, is queued; a hint, for any thread.
  [[nodiscard]] virtual bool outranks(std::int16_t) const { return false; }
  /// One of `n` things that may be done; 0 is what is usual.
  virtual unsigned choose(unsigned) { return 0; }
  /// Whether there is work to be had; a hint, for any thread.
  [[nodiscard]] virtual bool has_work() const { return true; }
  /// Items in the queue of worker `id`, or in those of nobody (k_outside); a hint, for any thread.
  [[nodiscard]] virtual std::size_t length(unsigned id) const = 0;
};

/// `slots` bounds the ids.
std::unique_ptr<policy> make_policy(const settings &s, const machine &m, unsigned workers, unsigned slots);

} // namespace rt
} // namespace weft::inline v0
