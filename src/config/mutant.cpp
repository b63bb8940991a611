// SPDX-License-Identifier: Apache-2.0
#include "base/mutant.hpp"

#if defined(WEFT_MUTANTS)
#include <cstdlib>

namespace weft::inline v0 {
namespace rt {

int chosen_mutant() noexcept {
  static const int chosen = [] {
    const char *number = std::getenv("WEFT_MUTANT");
    return number ? std::atoi(number) : 0;
  }();
  return chosen;
}

} // namespace rt
} // namespace weft::inline v0
#endif
