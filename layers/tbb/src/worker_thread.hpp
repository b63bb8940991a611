// SPDX-License-Identifier: Apache-2.0
// The lightweight threads that work for TBB: all that this layer asks of Weft for a thread.
#pragma once

#include <weft_threads/light_thread.hpp>

#include <cstddef>

namespace weft_tbb {

using weft_threads::forget_in_child;
using weft_threads::in_weft;
using weft_threads::keep_values_on_stacks;
using weft_threads::outlive_exit;
using weft_threads::park_light_thread;
using weft_threads::runtime_is_gone;
using weft_threads::sanitizer_forbids_blocks;
using weft_threads::this_light_thread;
using weft_threads::thread_record;
using weft_threads::unpark;
using weft_threads::yield_light_thread;

/// Starts `run(argument)` on a lightweight thread with a stack of at least `bytes`, and calls
/// `ended(argument)` behind the destructors of the thread's variables. Returns null and a reason if
/// none can start. The result is valid until `ended`.
[[nodiscard]] inline thread_record *start_light_thread(std::size_t bytes, void (*run)(void *),
                                                       void (*ended)(void *), void *argument,
                                                       const char *&reason) noexcept {
  return weft_threads::start_light_thread(
      {run, argument, ended, bytes, "tbb", weft::layer::client::tbb}, &reason);
}

} // namespace weft_tbb
