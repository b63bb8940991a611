// SPDX-License-Identifier: Apache-2.0
// What the functions of MPI that the library replaces begin with. They are defined with the names of
// MPI's profiling interface in mind: the program calls MPI_X of this library, which calls PMPI_X.
#pragma once

#include "weft_mpi/service/caller.hpp"

// Parameters and arguments are in parentheses in the tables.
#define WEFT_STRIP(...) __VA_ARGS__
#define WEFT_JOIN_NOW(a, b, c) a##b##c
#define WEFT_JOIN(a, b, c) WEFT_JOIN_NOW(a, b, c)
#define WEFT_TEXT_NOW(a) #a
#define WEFT_TEXT(a) WEFT_TEXT_NOW(a)

// Names the caller `here`; returns from a call that is refused.
#define WEFT_ENTER(function)                                                                       \
  const weft_mpi::caller here(function);                                                           \
  if (here.is_refused()) [[unlikely]]                                                              \
    return here.refuse();
