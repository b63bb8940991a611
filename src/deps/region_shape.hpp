// SPDX-License-Identifier: Apache-2.0
// What a region of an array means: runs of bytes.
#pragma once

#include "weft/region.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// A region that was checked, as loops around runs of bytes. Dimensions that are taken in full, and follow each other, are one run.
struct region_shape {
  struct loop {
    std::size_t count = 1;
    std::size_t step = 0; // bytes
  };
  std::uintptr_t first = 0;
  std::size_t run = 0;        // bytes; 0: the region is empty
  loop loops[detail::k_region_dimensions]; // outermost first

  /// f(low, end) for every run, in the order of the addresses unless strides overlap.
  template <class F>
  void for_each_run(F &&f) const {
    if (run == 0)
      return;
    for (std::size_t i = 0; i < loops[0].count; ++i)
      for (std::size_t j = 0; j < loops[1].count; ++j)
        for (std::size_t k = 0; k < loops[2].count; ++k) {
          const std::uintptr_t low = first + i * loops[0].step + j * loops[1].step + k * loops[2].step;
          f(low, low + run);
        }
  }
};

/// Throws weft::error, invalid_argument, when `a` is none; the sentence names the task, and the access by its place and its shape.
region_shape shape_of(const region_access &a, const char *label, std::size_t place);

} // namespace rt
} // namespace weft::inline v0
