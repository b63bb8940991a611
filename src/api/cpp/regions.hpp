// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deps/regions/region_scope.hpp"

#include <vector>

namespace weft::inline v0 {
namespace rt {

/// The regions of one spawn, checked. The constructor throws weft::error for the first that is none, and names it.
class checked_regions {
 public:
  checked_regions(const detail::submission &s, const char *label);
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

/// From now on the accesses of the parent's children are regions. Those that were entered by address are followed by one task,
/// which all regions follow. Throws weft::error, or std::bad_alloc, with nothing changed.
void switch_to_regions(task &parent);

} // namespace rt
} // namespace weft::inline v0
