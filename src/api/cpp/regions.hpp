// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deps/regions/region_scope.hpp"
#include "deps/regions/regions.hpp"

#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Holds the regions of one spawn, checked. The constructor throws weft::error for the first
/// invalid region, and names it.
class checked_regions {
 public:
  checked_regions(const detail::submission &submitted, const char *label);
  checked_regions(const checked_regions &) = delete;
  checked_regions &operator=(const checked_regions &) = delete;
  [[nodiscard]] const region_entry *data() const noexcept { return m_entries; }
  [[nodiscard]] std::size_t size() const noexcept { return m_count; }

 private:
  static constexpr std::size_t k_few = 4;
  region_shape m_few_shapes[k_few];
  region_entry m_few[k_few];
  std::vector<region_shape> m_many_shapes;
  std::vector<region_entry> m_many;
  const region_entry *m_entries = m_few;
  std::size_t m_count;
};

/// Makes the accesses of the parent's children regions from now on. One task follows the accesses
/// that were entered by address, and all regions follow that task. Throws weft::error, or
/// std::bad_alloc, with nothing changed.
void switch_to_regions(task &parent);

} // namespace rt
} // namespace weft::inline v0
