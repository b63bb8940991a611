// SPDX-License-Identifier: Apache-2.0
// What a task needs that runs again after a time; the clock itself is a matter of higher modules.
#pragma once

namespace weft::inline v0 {
namespace rt {

struct rerun_clock {
  void (*free)(rerun_clock *) noexcept;
};

} // namespace rt
} // namespace weft::inline v0
