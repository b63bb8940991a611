// SPDX-License-Identifier: Apache-2.0
// What has happened in this process; a zero at the end of a whole test is a hole in it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace fuzz {

// clang-format off
// The accesses are in the order of access_mode.
#define FUZZ_FACTS \
  FACT(in) FACT(out) FACT(inout) FACT(weak_in) FACT(weak_out) FACT(weak_inout) \
  FACT(concurrent) FACT(commutative) FACT(weak_concurrent) FACT(weak_commutative) FACT(reduction) FACT(weak_reduction) \
  FACT(adds_atomically) FACT(adds_in_turn) FACT(adds_to_a_copy) FACT(adds_alone) FACT(shares_in_two_ways) \
  FACT(null_access) FACT(twice) FACT(list) FACT(taskwait) FACT(taskwait_on) FACT(yield) FACT(sleep) \
  FACT(block_by_thread) FACT(block_by_task) FACT(timed_block) FACT(mutex) FACT(event) FACT(group) FACT(parents_group) FACT(chaos) FACT(flood) \
  FACT(handle) FACT(join) FACT(final) FACT(if_false) FACT(wait_clause) FACT(release) FACT(priority) FACT(onready) \
  FACT(own_stack) FACT(deep) FACT(exception) FACT(calls_in_destructor) FACT(external_thread) FACT(two_programs) \
  FACT(launch_async) FACT(launch_deferred) FACT(launch_fork) FACT(launch_sync) FACT(launch_either) FACT(promise_of_task) FACT(promise_of_thread) \
  FACT(after) FACT(then_value) FACT(then_future) FACT(then_policy) FACT(then_accesses) FACT(when_all) FACT(when_any) FACT(dataflow) FACT(shared_future) \
  FACT(looks) FACT(coroutine) FACT(eager_coroutine) FACT(awaited_call) FACT(awaits_future) FACT(awaits_group) FACT(awaits_children) FACT(awaits_lock) \
  FACT(awaits_time) FACT(awaits_turn) \
  FACT(burst) FACT(later_burst) FACT(asleep_at_once) FACT(adopted_thread) \
  FACT(stolen) FACT(suspended) FACT(throttled)

#define FACT(name) name,
enum class fact : std::size_t { FUZZ_FACTS count };
#undef FACT
#define FACT(name) #name,
inline constexpr const char *k_fact_names[] = {FUZZ_FACTS};
#undef FACT
// clang-format on

inline constexpr auto k_facts = static_cast<std::size_t>(fact::count);
static_assert(std::size(k_fact_names) == k_facts);
inline std::array<std::atomic<std::uint64_t>, k_facts> g_facts{};
inline void note(fact f) {
  g_facts[static_cast<std::size_t>(f)].fetch_add(1, std::memory_order_relaxed);
}

} // namespace fuzz
