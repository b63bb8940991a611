// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: callables, which are the standard's.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>

namespace hpx {

using std::bind;
using std::bind_front;
using std::cref;
using std::function;
using std::invoke;
using std::invoke_result;
using std::is_bind_expression;
using std::is_placeholder;
using std::mem_fn;
using std::ref;
namespace placeholders = std::placeholders;
/// Calls `f` with the elements of a tuple.
template <class F, class Tuple>
decltype(auto) invoke_fused(F &&f, Tuple &&arguments) {
  return std::apply(static_cast<F &&>(f), static_cast<Tuple &&>(arguments));
}
namespace util {
using std::bind;
using std::bind_front;
using std::function;
using std::invoke;
namespace placeholders = std::placeholders;
} // namespace util

} // namespace hpx
