// SPDX-License-Identifier: Apache-2.0
// The layer's policy for lock-free components (weft_common/atomics.hpp). The model checker replaces
// it by its own (tests/model/layers/net_models.cpp).
#pragma once

#include <weft_common/atomics.hpp>
#include <weft_common/spin_lock.hpp>

#include <sched.h>

namespace weft_net {

inline void yield_kernel_thread() noexcept { sched_yield(); }

/// Bounds a spin for a lock, which is held for a few instructions: a holder that takes longer has
/// lost its cpu.
inline constexpr int k_lock_spins = 64;

using real_atomics = weft_common::std_atomics<&yield_kernel_thread, k_lock_spins>;
using spin_lock = weft_common::spin_lock<real_atomics>;

} // namespace weft_net
