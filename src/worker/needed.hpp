// SPDX-License-Identifier: Apache-2.0
// Bodies: step_back.cpp
#pragma once

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Calls back the workers that have stepped back and have come into a set since: no other worker can
/// do what is confined to them. The watcher calls it, and lets others step back for them. If one is
/// about to park, it has the watcher examine again.
void call_needed_back(runtime &rt);

} // namespace rt
} // namespace weft::inline v0
