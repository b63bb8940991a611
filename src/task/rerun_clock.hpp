// SPDX-License-Identifier: Apache-2.0
// The clock of a task that runs again after a time, as the task sees it; higher modules supply the
// clock.
#pragma once

namespace weft::inline v0 {
namespace rt {

struct rerun_clock {
  void (*free)(rerun_clock *) noexcept;
};

} // namespace rt
} // namespace weft::inline v0
