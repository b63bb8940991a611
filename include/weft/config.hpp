// SPDX-License-Identifier: Apache-2.0
// What every C++ header needs: the check that the compiler accepts the language the headers are
// written in, and the macros that C headers need, too.
#pragma once

#if !defined(__cplusplus) || __cplusplus < 202002L
#error                                                                                             \
    "Weft's C++ headers need C++20: compile with -std=c++20 (CMake: link weft::weft, which asks for it); C, and older C++, include <weft.h>"
#endif
#if !defined(__cpp_exceptions)
#error                                                                                             \
    "Weft's C++ headers tell errors by exceptions: compile without -fno-exceptions, or include <weft.h>, whose functions return codes"
#endif

#include <weft/c/config.h>
