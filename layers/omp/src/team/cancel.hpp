// SPDX-License-Identifier: Apache-2.0
// Cancellation of regions and task groups.
#pragma once

namespace weft_omp {

struct thread;

enum cancel_kind : int {
  k_cancel_parallel = 1,
  k_cancel_loop = 2,
  k_cancel_sections = 4,
  k_cancel_group = 8
};
/// Returns whether the innermost region of that kind is cancelled. `cancel_here` cancels it first.
/// The caller has seen that cancellation is allowed (`globals::cancellation`).
[[nodiscard]] bool is_cancelled_here(thread &self, int which) noexcept;
[[nodiscard]] bool cancel_here(thread &self, int which) noexcept;

} // namespace weft_omp
