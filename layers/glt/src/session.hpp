// SPDX-License-Identifier: Apache-2.0
// Bodies: session.cpp, over/session.cpp
// The time between glt_init() and glt_finalize(), and the GLT threads during it.
#pragma once

#include "misuse.hpp"

#include <atomic>

namespace weft_glt {

/// Returns how often glt_init() was called without glt_finalize().
[[nodiscard]] std::atomic<int> &sessions() noexcept;

[[noreturn]] void refuse_without_session(const char *call) noexcept;
/// Refuses a call before glt_init() or after glt_finalize().
inline void require_session(const char *call) noexcept {
  // Relaxed: a program orders its threads behind glt_init() itself.
  if (sessions().load(std::memory_order_relaxed) == 0) [[unlikely]]
    refuse_without_session(call);
}

/// Returns how many GLT threads there are; after glt_init().
[[nodiscard]] int thread_count() noexcept;
/// Returns the number of the calling GLT thread, below thread_count().
[[nodiscard]] int thread_number();
/// Refuses a number that no GLT thread has.
void require_thread(const char *call, int number) noexcept;

constexpr int k_any_thread = -1;

} // namespace weft_glt
