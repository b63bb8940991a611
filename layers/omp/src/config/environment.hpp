// SPDX-License-Identifier: Apache-2.0
// Reading variables of the environment piece by piece.
#pragma once

#include "config/icv.hpp"

namespace weft_omp {

/// Behind white space.
[[nodiscard]] const char *skip(const char *s) noexcept;
/// A word at *s, in any case, which is moved behind it.
[[nodiscard]] bool eat(const char *&s, const char *word) noexcept;
[[nodiscard]] bool read_number(const char *&s, unsigned long long &into) noexcept;
/// Tells that a value cannot be used; false.
bool bad(const char *name, const char *value, const char *remedy) noexcept;

/// A variable's value; false: there is none, or it cannot be read, which is told.
bool number_of(const char *name, unsigned long long &into, unsigned long long least, unsigned long long most);
bool truth_of(const char *name, bool &into);

/// OMP_TARGET_OFFLOAD.
void set_offload(const char *value) noexcept;
/// OMP_PROC_BIND and OMP_PLACES or, where these say nothing, GOMP_CPU_AFFINITY and KMP_AFFINITY.
void read_places(globals &g);
/// LLVM's variables of hidden helper threads.
void read_helpers(globals &g);

} // namespace weft_omp
