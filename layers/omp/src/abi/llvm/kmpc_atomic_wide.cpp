// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: atomic updates of types that no instruction can update (80 bits, complex
// numbers), of one type by another, and compare-and-swap. Clang emits instructions, or calls of
// libatomic; Intel's Fortran calls these functions.
#include "abi/llvm/kmpc.hpp"

using namespace weft_omp;

namespace {

__extension__ typedef __complex__ float cmplx4;
__extension__ typedef __complex__ double cmplx8;
__extension__ typedef __complex__ long double cmplx10;
using float10 = long double;

word_lock g_wide;

/// Sets *at = f(*at) under the lock of all such updates. Returns both values.
template <class T, class F>
std::pair<T, T> update(T *at, F f) noexcept {
  thread &self = weft_omp::self();
  g_wide.lock(self);
  const T old = *at, made = f(old);
  *at = made;
  g_wide.unlock(self);
  return {old, made};
}

/// Does the same by an instruction, as all other updates of that type do.
template <class T, class Bits, class F>
void update_word(T *at, F f) noexcept {
  auto *const word = reinterpret_cast<Bits *>(at);
  Bits before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &before,
                                      __builtin_bit_cast(Bits, f(__builtin_bit_cast(T, before))),
                                      true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
}

} // namespace

#define UPDATE(NAME, OPERATION, T, EXPRESSION)                                                     \
  KMP_API void __kmpc_atomic_##NAME##_##OPERATION(location *, int, T *at, T operand) {             \
    update(at, [operand](T x) -> T { return EXPRESSION; });                                        \
  }
#define CAPTURE(NAME, OPERATION, T, EXPRESSION)                                                    \
  KMP_API T __kmpc_atomic_##NAME##_##OPERATION(location *, int, T *at, T operand, int after) {     \
    const auto both = update(at, [operand](T x) -> T { return EXPRESSION; });                      \
    return after ? both.second : both.first;                                                       \
  }
// Intel's compiler takes the result through a pointer for complex numbers of two floats.
#define CAPTURE_AT(NAME, OPERATION, T, EXPRESSION)                                                 \
  KMP_API void __kmpc_atomic_##NAME##_##OPERATION(location *, int, T *at, T operand, T *into,      \
                                                  int after) {                                     \
    const auto both = update(at, [operand](T x) -> T { return EXPRESSION; });                      \
    *into = after ? both.second : both.first;                                                      \
  }
#define ARITHMETIC(NAME, T, CAPTURE_AS)                                                            \
  UPDATE(NAME, add, T, x + operand)                                                                \
  UPDATE(NAME, sub, T, x - operand)                                                                \
  UPDATE(NAME, mul, T, x *operand)                                                                 \
  UPDATE(NAME, div, T, x / operand)                                                                \
  UPDATE(NAME, sub_rev, T, operand - x)                                                            \
  UPDATE(NAME, div_rev, T, operand / x)                                                            \
  UPDATE(NAME, wr, T, (void(x), operand))                                                          \
  CAPTURE_AS(NAME, add_cpt, T, x + operand)                                                        \
  CAPTURE_AS(NAME, sub_cpt, T, x - operand)                                                        \
  CAPTURE_AS(NAME, mul_cpt, T, x *operand)                                                         \
  CAPTURE_AS(NAME, div_cpt, T, x / operand)                                                        \
  CAPTURE_AS(NAME, sub_cpt_rev, T, operand - x)                                                    \
  CAPTURE_AS(NAME, div_cpt_rev, T, operand / x)                                                    \
  KMP_API T __kmpc_atomic_##NAME##_rd(location *, int, T *at) {                                    \
    return update(at, [](T x) { return x; }).first;                                                \
  }
#define SWAP(NAME, T)                                                                              \
  KMP_API T __kmpc_atomic_##NAME##_swp(location *, int, T *at, T operand) {                        \
    return update(at, [operand](T) { return operand; }).first;                                     \
  }

ARITHMETIC(float10, float10, CAPTURE)
UPDATE(float10, min, float10, operand < x ? operand : x)
UPDATE(float10, max, float10, x < operand ? operand : x)
CAPTURE(float10, min_cpt, float10, operand < x ? operand : x)
CAPTURE(float10, max_cpt, float10, x < operand ? operand : x)
SWAP(float10, float10)
ARITHMETIC(cmplx4, cmplx4, CAPTURE_AT)
KMP_API void __kmpc_atomic_cmplx4_swp(location *, int, cmplx4 *at, cmplx4 operand, cmplx4 *into) {
  *into = update(at, [operand](cmplx4) { return operand; }).first;
}
ARITHMETIC(cmplx8, cmplx8, CAPTURE)
SWAP(cmplx8, cmplx8)
ARITHMETIC(cmplx10, cmplx10, CAPTURE)
SWAP(cmplx10, cmplx10)

// Updates by a wider type: the computation is in the wider type, the result in the type of the
// variable.
#define MIXED_COMPLEX(OPERATION, SIGN)                                                             \
  KMP_API void __kmpc_atomic_cmplx4_##OPERATION##_cmplx8(location *, int, cmplx4 *at,              \
                                                         cmplx8 operand) {                         \
    update(at, [operand](cmplx4 x) {                                                               \
      return static_cast<cmplx4>(static_cast<cmplx8>(x) SIGN operand);                             \
    });                                                                                            \
  }
MIXED_COMPLEX(add, +)
MIXED_COMPLEX(sub, -)
MIXED_COMPLEX(mul, *)
MIXED_COMPLEX(div, /)

#define MIXED(NAME, OPERATION, T, BITS, SIGN)                                                      \
  KMP_API void __kmpc_atomic_##NAME##_##OPERATION##_float8(location *, int, T *at,                 \
                                                           double operand) {                       \
    update_word<T, BITS>(                                                                          \
        at, [operand](T x) { return static_cast<T>(static_cast<double>(x) SIGN operand); });       \
  }
MIXED(float4, add, float, std::uint32_t, +)
MIXED(float4, sub, float, std::uint32_t, -)
MIXED(float4, mul, float, std::uint32_t, *)
MIXED(float4, div, float, std::uint32_t, /)
MIXED(fixed1, mul, signed char, std::uint8_t, *)
MIXED(fixed1, div, signed char, std::uint8_t, /)
MIXED(fixed2, mul, std::int16_t, std::uint16_t, *)
MIXED(fixed2, div, std::int16_t, std::uint16_t, /)
MIXED(fixed4, mul, std::int32_t, std::uint32_t, *)
MIXED(fixed4, div, std::int32_t, std::uint32_t, /)
MIXED(fixed8, mul, std::int64_t, std::uint64_t, *)
MIXED(fixed8, div, std::int64_t, std::uint64_t, /)

// Set *at to `d` if it is `e`. bool_* return whether they did so, val_* the value before. *_cpt
// also give the value afterwards.
#define SWAPS(BYTES, T)                                                                            \
  KMP_API bool __kmpc_atomic_bool_##BYTES##_cas(location *, int, T *at, T expected, T desired) {   \
    return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,            \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  KMP_API bool __kmpc_atomic_bool_##BYTES##_cas_cpt(location *, int, T *at, T expected, T desired, \
                                                    T *seen) {                                     \
    const bool done = __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST, \
                                                  __ATOMIC_SEQ_CST);                               \
    if (!done)                                                                                     \
      *seen = expected;                                                                            \
    return done;                                                                                   \
  }                                                                                                \
  KMP_API T __kmpc_atomic_val_##BYTES##_cas(location *, int, T *at, T expected, T desired) {       \
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,                   \
                                __ATOMIC_SEQ_CST);                                                 \
    return expected;                                                                               \
  }                                                                                                \
  KMP_API T __kmpc_atomic_val_##BYTES##_cas_cpt(location *, int, T *at, T expected, T desired,     \
                                                T *seen) {                                         \
    const bool done = __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST, \
                                                  __ATOMIC_SEQ_CST);                               \
    *seen = done ? desired : expected;                                                             \
    return expected;                                                                               \
  }
SWAPS(1, char)
SWAPS(2, std::int16_t)
SWAPS(4, std::int32_t)
SWAPS(8, std::int64_t)
