// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/session.hpp"

#include <weft/layer/external_body.hpp>

namespace weft::inline v0 {
namespace layer {

/// Asks where a task was spawned, if it is the first of its type in the trace.
void note_spawn_site(rt::tracer &trace, const described_body &what) noexcept;

} // namespace layer
} // namespace weft::inline v0
