// SPDX-License-Identifier: Apache-2.0
#include "task/wait/wait_policy.hpp"

#include "task/poll_hook.hpp"

#include <atomic>

namespace weft::inline v0 {
namespace rt {
namespace {

struct row {
  wait_kind kind;
  const wait_policy &(*policy)() noexcept;
};

// In the order of the setting's values.
constexpr row k_policies[] = {
    {wait_kind::help, &wait_by_help},
    {wait_kind::suspend, &wait_by_suspension},
    {wait_kind::sleep, &wait_by_sleep},
};

constexpr bool is_in_order() noexcept {
  int at = 0;
  for (const row &each : k_policies)
    if (static_cast<int>(each.kind) != at++)
      return false;
  return true;
}
static_assert(is_in_order());

std::atomic<const wait_policy *> g_in_use{nullptr}; // null: help, which waits follow unasked

} // namespace

const wait_policy &wait_policy_of(wait_kind kind) noexcept {
  return k_policies[static_cast<std::size_t>(kind)].policy();
}

void follow_wait_policy(const wait_policy &policy) noexcept {
  // A policy has no state, so that a wait may follow the former one for one more time.
  g_in_use.store(&policy, std::memory_order_relaxed);
  mark_wait_policy(&policy != &wait_by_help());
}

const wait_policy &wait_policy_in_use() noexcept {
  const wait_policy *const policy = g_in_use.load(std::memory_order_relaxed);
  return policy ? *policy : wait_by_help();
}

} // namespace rt
} // namespace weft::inline v0
