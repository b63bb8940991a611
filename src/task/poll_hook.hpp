// SPDX-License-Identifier: Apache-2.0
// The hook by which tasks and workers poll services: one relaxed load where there are none.
#pragma once

#include "task/hooks.hpp"

#include <weft/service.hpp>

#include <atomic>
#include <cstddef>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::size_t k_poll_points = 4;
inline std::atomic<std::uint32_t> g_services_at[k_poll_points]; // how many; a hint
// Beside the number at a taskwait: waits follow a policy other than help (wait_policy.hpp). So a wait
// sees with one look that it is a common one.
inline constexpr std::uint32_t k_has_wait_policy = std::uint32_t{1} << 31;

[[nodiscard]] inline std::uint32_t services_at(poll_point where) noexcept {
  return g_services_at[static_cast<std::size_t>(where)].load(std::memory_order_relaxed);
}
[[nodiscard]] inline bool has_services_at(poll_point where) noexcept {
  return services_at(where) != 0;
}
inline void mark_wait_policy(bool chosen) noexcept {
  auto &word = g_services_at[static_cast<std::size_t>(poll_point::taskwait)];
  if (chosen)
    word.fetch_or(k_has_wait_policy, std::memory_order_relaxed); // a hint, as the number is
  else
    word.fetch_and(~k_has_wait_policy, std::memory_order_relaxed);
}

/// Runs the services of the poll point on the calling worker's stack, if there are any. Called
/// between tasks, or where a task must wait.
inline void poll_services(poll_point where) noexcept {
  if (has_services_at(where)) [[unlikely]]
    poll_services_now(where);
}

} // namespace rt
} // namespace weft::inline v0
