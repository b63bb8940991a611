// SPDX-License-Identifier: Apache-2.0
// Where tasks and workers offer time to the dispatcher: one relaxed load where nobody has asked for it.
#pragma once

#include <weft/service.hpp>

#include <atomic>
#include <cstddef>

namespace weft::inline v0 {
namespace rt {

struct executor;

inline constexpr std::size_t k_poll_points = 4;
inline std::atomic<std::uint32_t> g_services_at[k_poll_points]; // how many; a hint

[[nodiscard]] inline bool anyone_at(poll_point where) noexcept {
  return g_services_at[static_cast<std::size_t>(where)].load(std::memory_order_relaxed) != 0;
}

/// The dispatcher supplies it.
void offer_time_slowly(poll_point where) noexcept;

/// Between tasks, or where a task must wait: runs the services of the poll point on the calling worker's stack.
inline void offer_time(poll_point where) noexcept {
  if (anyone_at(where)) [[unlikely]]
    offer_time_slowly(where);
}

} // namespace rt
} // namespace weft::inline v0
