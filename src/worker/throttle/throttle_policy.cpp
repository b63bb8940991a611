// SPDX-License-Identifier: Apache-2.0
#include "worker/throttle/throttle_policy.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

struct row {
  throttle_kind kind;
  const throttle_policy &(*policy)() noexcept;
};

// In the order of the setting's values.
constexpr row k_policies[] = {
    {throttle_kind::bytes, &throttle_by_bytes},
    {throttle_kind::tasks, &throttle_by_tasks},
    {throttle_kind::none, &throttle_none},
};

constexpr bool is_in_order() noexcept {
  int at = 0;
  for (const row &each : k_policies)
    if (static_cast<int>(each.kind) != at++)
      return false;
  return true;
}
static_assert(is_in_order());

} // namespace

const throttle_policy &throttle_policy_of(throttle_kind kind) noexcept {
  return k_policies[static_cast<std::size_t>(kind)].policy();
}

} // namespace rt
} // namespace weft::inline v0
