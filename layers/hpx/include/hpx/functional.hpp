// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: callables, which are the standard's.
#pragma once

#include <functional>

namespace hpx {

using std::bind;
using std::bind_front;
using std::cref;
using std::function;
using std::invoke;
using std::ref;
namespace placeholders = std::placeholders;
namespace util {
using std::bind;
using std::bind_front;
using std::function;
using std::invoke;
namespace placeholders = std::placeholders;
} // namespace util

} // namespace hpx
