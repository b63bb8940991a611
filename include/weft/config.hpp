// SPDX-License-Identifier: Apache-2.0
// What every public header needs: which symbols libweft exports, and two attributes.
#pragma once

#define WEFT_API __attribute__((visibility("default")))
#define WEFT_NOINLINE __attribute__((noinline))
#define WEFT_INLINE [[gnu::always_inline]] inline
#define WEFT_COLD __attribute__((cold, noinline))
