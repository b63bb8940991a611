// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: atomic updates of integers, float and double, which Intel's compilers and libraries call; Clang emits instructions.
#include "abi/llvm/kmpc.hpp"

#include <cstring>

using namespace weft_omp;

namespace {

word_lock g_atomic;

template <class T>
struct bits_of;
template <>
struct bits_of<float> {
  using type = std::uint32_t;
};
template <>
struct bits_of<double> {
  using type = std::uint64_t;
};
template <class T>
  requires std::is_integral_v<T>
struct bits_of<T> {
  using type = T;
};

/// Sets *at = f(*at) atomically. Returns both values.
template <class T, class F>
std::pair<T, T> update(T *at, F f) noexcept {
  using bits = typename bits_of<T>::type;
  auto *const word = reinterpret_cast<bits *>(at);
  bits before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  for (;;) {
    const T old = __builtin_bit_cast(T, before), made = f(old);
    if (__atomic_compare_exchange_n(word, &before, __builtin_bit_cast(bits, made), true,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return {old, made};
  }
}

} // namespace

// `x` is the present value. *_cpt gives the value before the update or, with a
// flag, the value after it.
#define ATOMIC(NAME, OPERATION, T, EXPRESSION)                                                     \
  KMP_API void __kmpc_atomic_##NAME##_##OPERATION(location *, int, T *at, T operand) {             \
    update(at, [operand](T x) { return static_cast<T>(EXPRESSION); });                             \
  }                                                                                                \
  KMP_API T __kmpc_atomic_##NAME##_##OPERATION##_cpt(location *, int, T *at, T operand,            \
                                                     int after) {                                  \
    const auto both = update(at, [operand](T x) { return static_cast<T>(EXPRESSION); });           \
    return after ? both.second : both.first;                                                       \
  }
// operand - x and the like
#define REVERSE(NAME, OPERATION, T, EXPRESSION)                                                    \
  KMP_API void __kmpc_atomic_##NAME##_##OPERATION##_rev(location *, int, T *at, T operand) {       \
    update(at, [operand](T x) { return static_cast<T>(EXPRESSION); });                             \
  }                                                                                                \
  KMP_API T __kmpc_atomic_##NAME##_##OPERATION##_cpt_rev(location *, int, T *at, T operand,        \
                                                         int after) {                              \
    const auto both = update(at, [operand](T x) { return static_cast<T>(EXPRESSION); });           \
    return after ? both.second : both.first;                                                       \
  }
#define MOVES(NAME, T)                                                                             \
  KMP_API T __kmpc_atomic_##NAME##_rd(location *, int, T *at) {                                    \
    return update(at, [](T x) { return x; }).first;                                                \
  }                                                                                                \
  KMP_API void __kmpc_atomic_##NAME##_wr(location *, int, T *at, T operand) {                      \
    update(at, [operand](T) { return operand; });                                                  \
  }                                                                                                \
  KMP_API T __kmpc_atomic_##NAME##_swp(location *, int, T *at, T operand) {                        \
    return update(at, [operand](T) { return operand; }).first;                                     \
  }
#define ARITHMETIC(NAME, T)                                                                        \
  ATOMIC(NAME, add, T, x + operand)                                                                \
  ATOMIC(NAME, sub, T, x - operand)                                                                \
  ATOMIC(NAME, mul, T, x *operand)                                                                 \
  ATOMIC(NAME, div, T, x / operand)                                                                \
  ATOMIC(NAME, min, T, operand < x ? operand : x)                                                  \
  ATOMIC(NAME, max, T, x < operand ? operand : x)                                                  \
  REVERSE(NAME, sub, T, operand - x)                                                               \
  REVERSE(NAME, div, T, operand / x)                                                               \
  MOVES(NAME, T)
#define INTEGER(NAME, T, U)                                                                        \
  ARITHMETIC(NAME, T)                                                                              \
  ATOMIC(NAME, andb, T, x &operand)                                                                \
  ATOMIC(NAME, orb, T, x | operand)                                                                \
  ATOMIC(NAME, xor, T, x ^ operand)                                                                \
  ATOMIC(NAME, andl, T, x &&operand)                                                               \
  ATOMIC(NAME, orl, T, x || operand)                                                               \
  ATOMIC(NAME, eqv, T, ~(x ^ operand))                                                             \
  ATOMIC(NAME, neqv, T, x ^ operand)                                                               \
  ATOMIC(NAME, shl, T, x << operand)                                                               \
  ATOMIC(NAME, shr, T, x >> operand)                                                               \
  REVERSE(NAME, shl, T, operand << x)                                                              \
  REVERSE(NAME, shr, T, operand >> x)                                                              \
  ATOMIC(NAME##u, div, U, x / operand)                                                             \
  ATOMIC(NAME##u, shr, U, x >> operand)                                                            \
  REVERSE(NAME##u, div, U, operand / x)                                                            \
  REVERSE(NAME##u, shr, U, operand >> x)
INTEGER(fixed1, signed char, unsigned char)
INTEGER(fixed2, std::int16_t, std::uint16_t)
INTEGER(fixed4, std::int32_t, std::uint32_t)
INTEGER(fixed8, std::int64_t, std::uint64_t)
ARITHMETIC(float4, float)
ARITHMETIC(float8, double)

KMP_API void __kmpc_atomic_start() { g_atomic.lock(self()); }
KMP_API void __kmpc_atomic_end() { g_atomic.unlock(self()); }

// Any size: f(out, at, operand), under the lock.
#define ANY(BYTES)                                                                                 \
  KMP_API void __kmpc_atomic_##BYTES(location *, int, void *at, void *operand,                     \
                                     void (*f)(void *, void *, void *)) {                          \
    thread &self = weft_omp::self();                                                               \
    g_atomic.lock(self);                                                                           \
    f(at, at, operand);                                                                            \
    g_atomic.unlock(self);                                                                         \
  }
ANY(1) ANY(2) ANY(4) ANY(8) ANY(10) ANY(16) ANY(20) ANY(32)
