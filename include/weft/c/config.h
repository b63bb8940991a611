// SPDX-License-Identifier: Apache-2.0
// What every public header needs: which symbols libweft exports, and attributes. Also for C++ of
// any standard.
#pragma once

// The library exports the symbol.
#define WEFT_API __attribute__((visibility("default")))
// The function is never inlined.
#define WEFT_NOINLINE __attribute__((noinline))
// The function is always inlined.
#define WEFT_INLINE inline __attribute__((always_inline))
// The function is called seldom: the compiler keeps it away from what runs often.
#define WEFT_COLD __attribute__((cold, noinline))
