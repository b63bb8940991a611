// SPDX-License-Identifier: Apache-2.0
// The lightweight threads that work for TBB: all that this layer asks of Weft for a thread.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace weft_tbb {

struct thread_record;

/// Starts `run(argument)` on a lightweight thread with a stack of at least `bytes`. Returns null and
/// a reason if none can start. The result is valid until `run` returns.
[[nodiscard]] thread_record *start_light_thread(std::size_t bytes, void (*run)(void *),
                                                void *argument, const char *&reason) noexcept;
/// Waits until unpark() is called for the caller, a lightweight thread. One unpark() that comes
/// first is kept. The wait may end for no reason.
void park_light_thread() noexcept;
void unpark(thread_record &sleeper) noexcept;
/// Lets other ready work run first.
void yield_light_thread() noexcept;

/// Calls `f(argument)`, which may use Weft's functions. The caller may be on another kernel thread
/// afterwards.
void call_in_weft(void (*f)(void *), void *argument);
template <class F>
void in_weft(F &&f) {
  call_in_weft([](void *p) { (*static_cast<std::remove_reference_t<F> *>(p))(); },
               const_cast<void *>(static_cast<const void *>(std::addressof(f))));
}

/// Returns whether no lightweight thread can start or go on any more.
[[nodiscard]] bool runtime_is_gone() noexcept;
/// Calls `forget` in each child of a fork(), where there are no lightweight threads.
void forget_in_child(void (*forget)()) noexcept;
/// Keeps Weft running while exit() runs the program's handlers; see layer::outlive_exit.
void outlive_exit(bool (*threads_compute)()) noexcept;

} // namespace weft_tbb
