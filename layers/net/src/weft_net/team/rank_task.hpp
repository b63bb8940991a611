// SPDX-License-Identifier: Apache-2.0
// A rank's function, run with the tasks that it spawns.
// Bodies: ranks.cpp
#pragma once

#include <weft/net/team.hpp>

#include <exception>
#include <functional>

namespace weft_net {

/// Calls the function in a task, and waits for it and for what it has spawned. Returns the first
/// exception, or null.
[[nodiscard]] std::exception_ptr run_rank(const std::function<void(weft::net::team &)> &rank,
                                          weft::net::team &team) noexcept;

} // namespace weft_net
