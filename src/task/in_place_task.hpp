// SPDX-License-Identifier: Apache-2.0
// A task that runs in place and has no block: it is on the stack of its creator, as the branch of a
// join does.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

inline constexpr body_ops k_in_place_ops{nullptr, nullptr, nullptr, false, 0};

[[nodiscard]] inline bool is_in_place(const task &t) noexcept { return t.ops == &k_in_place_ops; }

struct in_place_task : task {
  in_place_task(const char *name, task &creator, task_group *of, std::uint64_t amount) noexcept
      : task(name, &creator), cost(amount) {
    ops = &k_in_place_ops;
    group = of;
    trace_id = creator.trace_id; // the creator's records are its own
    confine(creator.confinement());
  }
  std::uint64_t cost;
};

} // namespace rt
} // namespace weft::inline v0
