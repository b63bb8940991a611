// SPDX-License-Identifier: Apache-2.0
// libgomp's loops, for each type of the loop variable: long, or unsigned long long, which counts up
// or down.
#pragma once

#include "abi/gnu/gomp.hpp"
#include "workshare/doacross.hpp"

#include <cstdarg>

namespace weft_omp {

template <class T>
bool give_chunk(thread &self, bool found, T *first, T *last) noexcept {
  if (!found)
    return false;
  const workshare &s = *self.workshare.current;
  *first = static_cast<T>(s.first + self.workshare.first * s.step);
  *last = static_cast<T>(self.workshare.end == s.total ? s.last
                                                       : s.first + self.workshare.end * s.step);
  return true;
}

template <class T>
[[gnu::noinline]] bool next_otherwise(thread &self, T *first, T *last) noexcept {
  return give_chunk(self, next_chunk(self), first, last);
}

/// Gives the next chunk to a member that has begun the loop. In the commonest case it is a few
/// instructions, and calls nothing.
template <class T>
bool next_of_loop(T *first, T *last) noexcept {
  thread &self = weft_omp::self();
  std::uint32_t chunk = 0;
  if (!take_own_chunk(self, chunk)) [[unlikely]]
    return next_otherwise(self, first, last);
  const chunk_values v = values_of(*self.workshare.current, chunk);
  *first = static_cast<T>(v.first);
  *last = static_cast<T>(v.stop);
  return true;
}

template <class T>
bool next_ordered(T *first, T *last) noexcept {
  thread &self = weft_omp::self();
  return give_chunk(self, next_ordered_chunk(self), first, last);
}

/// Holds the task reductions of a loop, and its memory for the program.
struct loop_extras {
  std::uintptr_t *reductions = nullptr;
  void **memory = nullptr;
};

enum class loop_kind : bool { plain, ordered };

template <class T>
bool start_loop(const loop_shape &shape, long kind, T chunk, T *first, T *last, loop_kind how,
                loop_extras extras = {}) {
  thread &self = weft_omp::self();
  begin_workshare(self, extras.reductions, extras.memory, [&](workshare &s) {
    set_loop(self, s, shape, kind, static_cast<std::uint64_t>(chunk));
  });
  if (!first)
    return true;
  return give_chunk(self, how == loop_kind::ordered ? next_ordered_chunk(self) : next_chunk(self),
                    first, last);
}

template <class T>
bool start_doacross(unsigned count, const T *counts, long kind, T chunk, T *first, T *last,
                    loop_extras extras = {}) {
  thread &self = weft_omp::self();
  begin_workshare(self, extras.reductions, extras.memory, [&](workshare &s) {
    const auto outermost = static_cast<std::uint64_t>(counts[0]);
    set_loop(self, s, {outermost, 0, 1, outermost}, kind, static_cast<std::uint64_t>(chunk));
    set_doacross(self, s, count, reinterpret_cast<const std::uint64_t *>(counts));
  });
  return give_chunk(self, next_chunk(self), first, last);
}

/// Waits for a sink, whose iteration numbers are `first` and those of the list.
template <class T>
void wait_for_sink(T first, va_list more) {
  constexpr unsigned k_most = 64;
  std::uint64_t where[k_most] = {static_cast<std::uint64_t>(first)};
  thread &self = weft_omp::self();
  const unsigned n = depth_of_doacross(self);
  for (unsigned i = 1; i < n && i < k_most; ++i)
    where[i] = static_cast<std::uint64_t>(va_arg(more, T));
  wait_for(self, where);
}

} // namespace weft_omp
