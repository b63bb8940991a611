// SPDX-License-Identifier: Apache-2.0
// What words of records say of joins and taskiters, for workers and for the reader of the graph.
#pragma once

#include "trace/record.hpp"

namespace weft::inline v0 {
namespace rt {

/// Is the `address` of an access that stands for all data: the condition of a taskiter has it, which comes
/// behind all other tasks of a round, and before those of the next. No object has this address.
inline constexpr std::uint64_t k_all_data = 0;
/// Is what `waited` has as `what` where a join has waited for the branch that another worker took. Such
/// branches of one task end their waits in the reverse order of their begins. No group has this address.
inline constexpr std::uint64_t k_branch_of_join = 1;

/// Returns `flags` of the begin of such a branch; `joiner` is the task that waits for it.
[[nodiscard]] constexpr std::uint64_t flags_of_branch(std::uint32_t joiner) noexcept {
  return k_branch | std::uint64_t{joiner} << 32;
}
/// Returns the task that waits for a branch; 0 where the trace does not say it.
[[nodiscard]] constexpr std::uint32_t joiner_of(std::uint64_t flags) noexcept {
  return static_cast<std::uint32_t>(flags >> 32);
}

} // namespace rt
} // namespace weft::inline v0
