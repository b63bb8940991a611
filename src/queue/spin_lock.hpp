// SPDX-License-Identifier: Apache-2.0
// The spin lock of common/, with the library's atomics.
#pragma once

#include "atomic/atomic.hpp"

#include <weft_common/spin_lock.hpp>

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
using spin_lock = weft_common::spin_lock<P>;

} // namespace rt
} // namespace weft::inline v0
