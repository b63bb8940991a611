// SPDX-License-Identifier: Apache-2.0
// The C++ library keeps, per thread, the exceptions that are being handled. A stack that suspends
// inside a catch block must take its own along. Otherwise the next stack on the thread ends,
// rethrows and frees exceptions that are not its own.
#pragma once

namespace weft::inline v0 {
namespace rt {

/// Mirrors the Itanium C++ ABI's __cxa_eh_globals, on which libstdc++ and libc++ agree.
struct exception_state {
  void *caught = nullptr;   // stack of exceptions being handled
  unsigned uncaught = 0;    // thrown and not yet caught
};

/// Returns the calling thread's state; a worker keeps the address. It has another name because
/// <cxxabi.h> declares the function const: a compiler may then use the address it got before a
/// switch for the thread it runs on after the switch.
extern "C" exception_state *weft_exception_globals() noexcept asm("__cxa_get_globals");

} // namespace rt
} // namespace weft::inline v0
