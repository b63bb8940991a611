// SPDX-License-Identifier: Apache-2.0
#include "weft_lpf/report.hpp"

#include <string>

#include <unistd.h>

namespace weft_lpf {

void report(std::string_view line) noexcept {
  try {
    const std::string all = "weft: lpf: " + std::string(line) + "\n";
    static_cast<void>(!write(STDERR_FILENO, all.data(), all.size()));
  } catch (...) { // without memory there is no text
  }
}

} // namespace weft_lpf
