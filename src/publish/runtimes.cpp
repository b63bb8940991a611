// SPDX-License-Identifier: Apache-2.0
#include "publish/runtimes.hpp"
#include "observe/store.hpp"
#include "worker/runtime.hpp"

#include <algorithm>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

using layer::client;

/// Returns which runtime the worker's stack runs for; Weft, if that is a thread's own stack.
client client_of(const worker &w) noexcept {
  const stack *const on = __atomic_load_n(&w.pool_stack, __ATOMIC_ACQUIRE); // O1
  return on ? static_cast<client>(on->client.load(std::memory_order_relaxed)) : client::weft;
}

/// Returns for how long the worker has not been idle.
std::uint64_t busy_time(const counter_block &block, std::uint64_t now) noexcept {
  const std::uint64_t overall = elapsed(peek(block.overall), now),
                      idle = elapsed(peek(block.idle), now);
  return overall > idle ? overall - idle : 0;
}

} // namespace

std::uint64_t *time_of_client(counter_block &block, client of) noexcept {
  switch (of) {
  case client::weft:
    return nullptr;
  case client::openmp:
    return &block.in_openmp;
  case client::tbb:
    return &block.in_tbb;
  case client::glt:
    return &block.in_glt;
  case client::rayon:
    return &block.in_rayon;
  case client::other:
    return &block.in_other;
  }
  return nullptr;
}

bool sample_client(worker &w, std::uint64_t now) noexcept {
  counter_block &c = *w.counts;
  const std::uint64_t before = w.sampled_busy_ns;
  w.sampled_busy_ns = std::max(before, busy_time(c, now)); // its stopwatches are read one by one
  const client found = client_of(w);
  // Of a worker that has become idle, or has left Weft, the last runtime is the best guess.
  const bool computes = is_running(peek(c.overall)) && !is_running(peek(c.idle));
  const client of = computes ? found : w.sampled_client;
  w.sampled_client = of;
  if (std::uint64_t *const time = time_of_client(c, of); time)
    put(*time, peek(*time) + (w.sampled_busy_ns - before));
  return found != client::weft;
}

void sample_clients(runtime &rt, std::uint64_t now) noexcept {
  bool any = false;
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O1: pairs with make_worker
  for (unsigned id = 0; id < used; ++id)
    if (worker *const w = rt.slots[id].load(std::memory_order_acquire)) // O1
      any |= sample_client(*w, now);
  const std::uint64_t since = now - std::exchange(rt.sampled_ns, now);
  if (const unsigned away = rt.room.in_pools()) {
    put(process_counters().in_pools, peek(process_counters().in_pools) + away * since);
    any = true;
  }
  rt.serves_others.store(any, std::memory_order_relaxed); // a hint
}

} // namespace rt
} // namespace weft::inline v0
