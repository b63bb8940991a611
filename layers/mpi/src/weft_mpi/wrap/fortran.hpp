// SPDX-License-Identifier: Apache-2.0
// Calls functions of C with the arguments of Fortran, all of which are addresses. How one becomes an argument of C, and
// what goes back, is `argument` of its type in C: each MPI's file specializes it.
#pragma once

#include "weft_mpi/service/mpi.hpp"

#include <cstddef>
#include <tuple>
#include <utility>

namespace weft_mpi {

using integer = MPI_Fint;

/// Is where a function writes its error: nowhere if the program has left the argument out.
class error_out {
 public:
  explicit error_out(integer *to) noexcept : m_to(to ? to : &m_own) {}
  [[nodiscard]] integer &operator*() const noexcept { return *m_to; }
  error_out(const error_out &) = delete;
  error_out &operator=(const error_out &) = delete;

 private:
  integer m_own = MPI_SUCCESS;
  integer *m_to;
};

/// Is an argument for the C function's parameter of type C, made of an address: c() is what the function gets, and
/// give() hands back what it has written.
template <class C>
class argument;

/// Is one that the function reads alone.
template <class C>
class read_argument {
 public:
  explicit read_argument(C value) noexcept : m_value(value) {}
  [[nodiscard]] C c() const noexcept { return m_value; }
  void give(int) const noexcept {}

 private:
  C m_value;
};

template <class... C, std::size_t... I>
int call_with(int (*function)(C...), void *const *given, std::index_sequence<I...>) {
  std::tuple<argument<C>...> all{argument<C>(given[I])...};
  const int error = function(std::get<I>(all).c()...);
  (std::get<I>(all).give(error), ...);
  return error;
}
/// Calls a function of C with the arguments of Fortran.
template <class... C, std::size_t N>
int call(int (*function)(C...), void *const (&given)[N]) {
  static_assert(sizeof...(C) == N, "the row has another number of arguments than the function");
  return call_with(function, given, std::index_sequence_for<C...>{});
}

} // namespace weft_mpi

// The parameters of a function with this number of arguments and an error behind them, and their names.
#define WEFT_PARAMETERS_1 void *a
#define WEFT_PARAMETERS_2 WEFT_PARAMETERS_1, void *b
#define WEFT_PARAMETERS_3 WEFT_PARAMETERS_2, void *c
#define WEFT_PARAMETERS_4 WEFT_PARAMETERS_3, void *d
#define WEFT_PARAMETERS_5 WEFT_PARAMETERS_4, void *e
#define WEFT_PARAMETERS_6 WEFT_PARAMETERS_5, void *f
#define WEFT_PARAMETERS_7 WEFT_PARAMETERS_6, void *g
#define WEFT_PARAMETERS_8 WEFT_PARAMETERS_7, void *h
#define WEFT_PARAMETERS_9 WEFT_PARAMETERS_8, void *i
#define WEFT_PARAMETERS_10 WEFT_PARAMETERS_9, void *j
#define WEFT_PARAMETERS_12 WEFT_PARAMETERS_10, void *k, void *l
#define WEFT_ARGUMENTS_1 a
#define WEFT_ARGUMENTS_2 WEFT_ARGUMENTS_1, b
#define WEFT_ARGUMENTS_3 WEFT_ARGUMENTS_2, c
#define WEFT_ARGUMENTS_4 WEFT_ARGUMENTS_3, d
#define WEFT_ARGUMENTS_5 WEFT_ARGUMENTS_4, e
#define WEFT_ARGUMENTS_6 WEFT_ARGUMENTS_5, f
#define WEFT_ARGUMENTS_7 WEFT_ARGUMENTS_6, g
#define WEFT_ARGUMENTS_8 WEFT_ARGUMENTS_7, h
#define WEFT_ARGUMENTS_9 WEFT_ARGUMENTS_8, i
#define WEFT_ARGUMENTS_10 WEFT_ARGUMENTS_9, j
#define WEFT_ARGUMENTS_12 WEFT_ARGUMENTS_10, k, l
