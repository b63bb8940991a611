// SPDX-License-Identifier: Apache-2.0
// Futures: results of tasks and promises, what continues from them, and how several are combined.
// Not part of <weft/weft.hpp>.
#pragma once

#include <weft/function.hpp>
#include <weft/future/dataflow.hpp>
#include <weft/future/future.hpp>
#include <weft/future/promise.hpp>
#include <weft/future/wait.hpp>
#include <weft/future/when.hpp>

#include <type_traits>

namespace weft::inline v0 {

/// Runs `f` as an independent task, for which nothing waits but the end of the program: see
/// spawn_function().
template <plain_callable F>
void post(F &&f) {
  spawn_function(static_cast<F &&>(f));
}

/// Runs a call as a task, and returns its result: async(f, args...).get().
template <class F, class... Args>
  requires(!std::is_same_v<std::remove_cvref_t<F>, launch>)
decltype(auto) sync(F &&f, Args &&...args) {
  return weft::async(launch::async, static_cast<F &&>(f), static_cast<Args &&>(args)...).get();
}

} // namespace weft::inline v0
