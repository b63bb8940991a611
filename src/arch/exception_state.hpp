// SPDX-License-Identifier: Apache-2.0
// The C++ library keeps the exceptions being handled per thread. A stack that suspends inside a catch block must take
// its own along, or the next stack on the thread ends, rethrows and frees exceptions that are not its own.
#pragma once

namespace weft::inline v0 {
namespace rt {

/// The Itanium C++ ABI's __cxa_eh_globals: libstdc++ and libc++ agree on it.
struct exception_state {
  void *caught = nullptr;   // stack of exceptions being handled
  unsigned uncaught = 0;    // thrown and not yet caught
};

/// The calling thread's; a worker keeps the address. Under another name: <cxxabi.h> declares the function const, and a compiler may then use the address it got before
/// a switch for the thread it runs on after it.
extern "C" exception_state *weft_exception_globals() noexcept asm("__cxa_get_globals");

} // namespace rt
} // namespace weft::inline v0
