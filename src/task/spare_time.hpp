// SPDX-License-Identifier: Apache-2.0
// Where tasks and workers offer time to the dispatcher: one relaxed load where nobody has asked for it.
#pragma once

#include <weft/service.hpp>

#include <atomic>
#include <cstddef>

namespace weft::inline v0 {
namespace rt {

struct executor;

inline constexpr std::size_t k_places = 4;
inline std::atomic<std::uint32_t> g_services_at[k_places]; // how many; a hint

[[nodiscard]] inline bool anyone_at(place where) noexcept {
  return g_services_at[static_cast<std::size_t>(where)].load(std::memory_order_relaxed) != 0;
}

/// The dispatcher supplies it.
void offer_time_slowly(place where) noexcept;

/// Between tasks, or where a task must wait: runs the services of the place on the calling worker's stack.
inline void offer_time(place where) noexcept {
  if (anyone_at(where)) [[unlikely]]
    offer_time_slowly(where);
}

} // namespace rt
} // namespace weft::inline v0
