// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/mutant.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace weft::inline v0 {
namespace rt {

/// Refuses an id beyond the size that a component was built for. Such an id would corrupt memory,
/// so release builds check it, too.
[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_id(const char *component, std::size_t id,
                                                             std::size_t size) {
  std::fprintf(stderr,
               "weft: %s: id %zu is outside 0..%zu; build it with a size above every worker's id\n",
               component, id, size - 1);
  std::abort();
}

inline void check_id(const char *component, std::size_t id, std::size_t size) {
  if (unless(bug::id_unchecked, id >= size)) [[unlikely]]
    refuse_id(component, id, size);
}

} // namespace rt
} // namespace weft::inline v0
