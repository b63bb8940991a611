// SPDX-License-Identifier: Apache-2.0
// Futures: results of tasks and promises, what continues from them, and how several are combined.
// Not part of <weft/weft.hpp>.
#pragma once

#include <weft/function.hpp>
#include <weft/future/dataflow.hpp>
#include <weft/future/future.hpp>
#include <weft/future/promise.hpp>
#include <weft/future/when.hpp>

namespace weft::inline v0 {

/// Runs `f` as an independent task, for which nothing waits but the end of the program: see
/// spawn_function().
template <plain_callable F>
void post(F &&f) {
  spawn_function(static_cast<F &&>(f));
}

} // namespace weft::inline v0
