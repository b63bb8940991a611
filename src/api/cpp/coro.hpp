// SPDX-License-Identifier: Apache-2.0
// What the waits of coroutines share.
#pragma once

#include "task/wait/coroutine.hpp"
#include "ult/thread_context.hpp"

namespace weft::inline v0 {
namespace rt {

/// Notes for reports what the coroutine waits for, before its wait is made known.
void note_wait(const detail::coro_awaiter &awaiter, wait_reason why) noexcept;

} // namespace rt
} // namespace weft::inline v0
