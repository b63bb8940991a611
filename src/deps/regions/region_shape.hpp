// SPDX-License-Identifier: Apache-2.0
// The runs of bytes that a region of an array means.
#pragma once

#include "weft/region.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Describes a region that was checked, as loops around runs of bytes. Dimensions that are taken in
/// full, and follow each other, are one run.
struct region_shape {
  struct loop {
    std::size_t count = 1;
    std::size_t step = 0; // bytes
  };
  std::uintptr_t first = 0;
  std::size_t run = 0; // bytes; 0: the region is empty
  loop loops[detail::k_region_dimensions]; // outermost first

  /// Calls f(low, end) for every run, in the order of the addresses unless strides overlap.
  template <class F>
  void for_each_run(F &&f) const {
    if (run == 0)
      return;
    for (std::size_t i = 0; i < loops[0].count; ++i)
      for (std::size_t j = 0; j < loops[1].count; ++j)
        for (std::size_t k = 0; k < loops[2].count; ++k) {
          const std::uintptr_t low =
              first + i * loops[0].step + j * loops[1].step + k * loops[2].step;
          f(low, low + run);
        }
  }
};

/// Returns whether `named` is one run of bytes of one dimension, without strides: the caller then need
/// not call shape_of(). Returns false for all that is wrong.
inline bool is_one_run(const region &whole, std::uintptr_t &low, std::uintptr_t &end) noexcept {
  const detail::region_dimension &d = whole.dimension(0);
  if (whole.dimensions() != 1 || whole.named() > 1 || whole.stride_count() != 0 || d.first < 0 ||
      d.count <= 0 || d.extent < d.count || d.first > d.extent - d.count ||
      d.count == detail::k_unbounded)
    return false;
  const auto address = reinterpret_cast<std::uintptr_t>(whole.address());
  low = address + static_cast<std::size_t>(d.first) *
                      whole.element_bytes(); // no wider than what is looked at next
  return address != 0 &&
         !__builtin_mul_overflow(static_cast<std::size_t>(d.first + d.count), whole.element_bytes(),
                                 &end) &&
         !__builtin_add_overflow(address, end, &end);
}

/// Returns the shape of a region. Throws weft::error, invalid_argument, if `a` is none; the message
/// names the task, and the access by its place and its shape.
region_shape shape_of(const region_access &a, const char *label, std::size_t place);

} // namespace rt
} // namespace weft::inline v0
