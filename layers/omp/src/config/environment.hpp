// SPDX-License-Identifier: Apache-2.0
// Functions that read variables of the environment piece by piece.
#pragma once

#include "config/icv.hpp"

namespace weft_omp {

/// Returns the text behind white space.
[[nodiscard]] const char *skip(const char *text) noexcept;
/// Returns whether `word` is at `text`, in upper or lower case, and moves `text` behind it.
[[nodiscard]] bool eat(const char *&text, const char *word) noexcept;
/// Returns whether a number is at `text`, reads it, and moves `text` behind it.
[[nodiscard]] bool read_number(const char *&text, unsigned long long &into) noexcept;
/// Warns that a variable has a value that cannot be used. Returns false.
bool bad(const char *name, const char *value, const char *remedy) noexcept;

/// Read a variable's value. False: the variable is not set, or its value cannot be read; then a
/// warning says so.
bool number_of(const char *name, unsigned long long &into, unsigned long long least,
               unsigned long long most);
bool truth_of(const char *name, bool &into);

/// Sets the value of OMP_TARGET_OFFLOAD.
void set_offload(const char *value) noexcept;
/// Reads all variables, and prints them if the user wants that.
void read_environment();

} // namespace weft_omp
