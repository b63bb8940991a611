// SPDX-License-Identifier: Apache-2.0
#include "api/cpp/regions.hpp"

#include "deps/regions/regions.hpp"
#include "deps/registration.hpp"
#include "task/destructor.hpp"

#include <weft/clauses.hpp>

#include <algorithm>

namespace weft::inline v0 {
namespace rt {

checked_regions::checked_regions(const detail::submission &submitted, const char *label)
    : m_count(submitted.named_region_count + submitted.region_list_count) {
  region_shape *shapes = m_few_shapes;
  region_entry *entries = m_few;
  if (m_count > k_few) {
    m_many_shapes.resize(m_count);
    m_many.resize(m_count);
    shapes = m_many_shapes.data();
    entries = m_many.data();
  }
  m_entries = entries;
  for (std::size_t i = 0; i < m_count; ++i) {
    const region_access &a = i < submitted.named_region_count
                                 ? submitted.named_regions[i]
                                 : submitted.region_list[i - submitted.named_region_count];
    shapes[i] = shape_of(a, label, i);
    entries[i] = {&shapes[i], a.mode};
  }
}

namespace {

constexpr detail::body_ops k_bridge_ops{[](void *) {}, nullptr, nullptr, false, 0};

/// Spawns a task behind all addresses that the children of `parent` have named so far, and before
/// all regions.
void spawn_bridge(task &parent, region_scope &regions, const std::vector<access> &addresses) {
  detail::task *bridge = detail::task_create(k_bridge_ops, addresses.size(), nullptr);
  bridge->label = "regions after addresses";
  try {
    enter_everything(*bridge);
  } catch (...) {
    detail::task_abandon(bridge);
    throw;
  }
  domain *const entered = bridge->children_domain;
  parent.children_domain = regions.addresses_before; // by address
  try {
    detail::task_submit(bridge, addresses.data(), addresses.size(), nullptr, 0);
  } catch (...) { // the task is gone
    task gone(k_bridge_ops, nullptr, nullptr);
    gone.children_domain = entered;
    ready_list none;
    release_regions(gone, none);
    parent.children_domain = &regions;
    throw;
  }
  parent.children_domain = &regions;
}

} // namespace

void switch_to_regions(task &parent) {
  refuse_accesses_when_over(parent);
  if (!parent.children_domain && parent.extent > 0)
    parent.children_domain = new domain(parent);
  std::vector<access> addresses; // some twice
  const auto add = [&](const void *address) {
    addresses.push_back({address, access_mode::inout});
  };
  std::for_each(parent.accesses(), parent.accesses() + parent.extent,
                [&](const data_access &own) { add(own.address); });
  if (parent.children_domain)
    parent.children_domain->for_each_address(add);
  region_scope &regions = begin_regions(parent);
  if (addresses.empty())
    return;
  try {
    spawn_bridge(parent, regions, addresses);
  } catch (...) {
    ready_list none;
    release_regions(parent, none);
    throw;
  }
  parent.set(detail::k_wait); // its own addresses are held until the regions of its children are
}

} // namespace rt
} // namespace weft::inline v0
