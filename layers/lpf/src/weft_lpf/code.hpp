// SPDX-License-Identifier: Apache-2.0
// How a function of the program is named to another process, where it has another address.
#pragma once

#include <lpf/core.h>

#include <cstdint>
#include <string>

namespace weft_lpf {

/// Is the place of a function: the file it was loaded from, empty for the program, and where in it.
struct code {
  std::string file;
  std::uint64_t offset = 0;
};

/// Returns the place of a function. Errors. std::runtime_error, for one that is in no file.
[[nodiscard]] code place_of(lpf_func_t function);
/// Returns the function. Errors. std::runtime_error, if the file is not loaded here.
[[nodiscard]] lpf_func_t function_at(const code &place);

} // namespace weft_lpf
