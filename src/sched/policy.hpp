// SPDX-License-Identifier: Apache-2.0
// Which ready work runs next. A policy orders ready work. The module worker wakes workers, puts
// them to sleep and runs immediate successors.
#pragma once

#include "config/settings.hpp"
#include "observe/layout.hpp"
#include "queue/deque.hpp"
#include "task/wait/lineage.hpp"
#include "topo/machine.hpp"
#include "weft/detail/core.hpp"

#include <atomic>
#include <memory>

namespace weft::inline v0 {
namespace rt {

inline constexpr unsigned k_outside = ~0u; // the caller is no worker

enum class origin { fresh, resumed, yielded };

/// Names the deque of one worker. The worker may push fresh work of priority 0 into it, and take
/// the newest item while `urgent` is zero. Without a deque all work goes through the policy.
struct own_queue {
  work_deque<runnable *> *deque = nullptr;
  const std::atomic<std::size_t> *urgent = nullptr;

  /// Does what policy::take_newest does. Called while `urgent` is zero.
  WEFT_INLINE runnable *take_newest(const lineage &waited_for) const noexcept {
    runnable *r = deque->pop();
    if (!r || waited_for.includes(*r)) [[likely]]
      return r;
    deque->push(
        r); // the item has just left: there is room, though try_push may not know of the room
    return nullptr;
  }
};

class policy {
 public:
  virtual ~policy() = default;
  /// Adds worker `id`, which counts in `counts`. Called once per id, by one thread at a time.
  virtual void attach(unsigned id, counter_block &counts) = 0;
  /// Adds ready work. `id` is the caller's id or k_outside.
  virtual void add(runnable *item, unsigned id, origin from) = 0;
  /// Returns work for worker `id`, or null if it found none.
  virtual runnable *get(unsigned id) = 0;
  /// Does the same for a worker that has run its own tasks for a while: work of others must not
  /// starve.
  virtual runnable *get_shared_first(unsigned id) { return get(id); }
  /// Returns the deque that worker `id` may use without asking.
  virtual own_queue own(unsigned) { return {}; }
  /// Takes the newest task that worker `id` added, for a frame of the worker that waits for this
  /// lineage. Returns null if that task is not of the lineage, or if work of a larger priority is
  /// ready.
  virtual runnable *take_newest(unsigned id, const lineage &waited_for) = 0;
  /// Returns whether work of a larger priority than `priority`, which is not negative, is queued. A
  /// hint. Any thread.
  [[nodiscard]] virtual bool outranks(std::int16_t) const { return false; }
  /// Chooses one of `n` possible actions; 0 is the usual one.
  virtual unsigned choose(unsigned) { return 0; }
  /// Returns whether there is work. A hint. Any thread.
  [[nodiscard]] virtual bool has_work() const { return true; }
  /// Returns the number of items in the queue of worker `id`, or with k_outside in the queues of no
  /// worker. A hint. Any thread.
  [[nodiscard]] virtual std::size_t length(unsigned id) const = 0;
};

/// Makes the policy that the settings name. `slots` bounds the ids.
std::unique_ptr<policy> make_policy(const settings &chosen, const machine &host, unsigned workers,
                                    unsigned slots);

} // namespace rt
} // namespace weft::inline v0
