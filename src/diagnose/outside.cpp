// SPDX-License-Identifier: Apache-2.0
#include "diagnose/outside.hpp"

#include "diagnose/sources.hpp"
#include "diagnose/wait_graph.hpp"

#include <weft/layer/outside_wait.hpp>

#include <set>

namespace weft::inline v0 {
namespace rt {
namespace {

constinit sources<list_outside> g_sources_of_waits; // a child of a fork uses it as it is

} // namespace

void add_outside_waits(void *source, list_outside *list) { g_sources_of_waits.add(source, list); }

void remove_outside_waits(const void *source) noexcept { g_sources_of_waits.remove(source); }

void forget_outside_waits_in_child() noexcept { g_sources_of_waits.forget_lock_in_child(); }

std::optional<std::vector<layer::outside_wait>> all_outside_waits() {
  std::vector<layer::outside_wait> waits;
  if (!g_sources_of_waits.visit([&](void *source, list_outside *list) {
        list(source, waits);
        return true;
      }))
    return std::nullopt;
  return waits;
}

void add_named_waits(wait_graph &graph) {
  std::set<std::string> owners; // the address of a name stands for its node
  const auto waits = all_outside_waits();
  if (!waits)
    return;
  for (const layer::outside_wait &wait : *waits) {
    if (wait.waiter_name.empty())
      continue;
    const std::string &owner = *owners.insert(wait.owner).first;
    const std::size_t from = graph.add(node_kind::task, wait.waiter, wait.waiter_name);
    graph.wait(from, graph.add(node_kind::outside, &owner, owner), "waits for " + wait.what);
  }
}

} // namespace rt
} // namespace weft::inline v0
