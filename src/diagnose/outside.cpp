// SPDX-License-Identifier: Apache-2.0
#include "diagnose/outside.hpp"

#include "diagnose/sources.hpp"
#include "diagnose/wait_graph.hpp"

#include <weft/layer/outside_wait.hpp>

#include <set>

namespace weft::inline v0 {
namespace rt {
namespace {

sources<list_outside> &sources_of_waits() {
  static auto *const only = new sources<list_outside>;
  return *only;
}

} // namespace

void add_outside_waits(void *source, list_outside *list) { sources_of_waits().add(source, list); }

void remove_outside_waits(const void *source) noexcept { sources_of_waits().remove(source); }

std::vector<layer::outside_wait> all_outside_waits() {
  std::vector<layer::outside_wait> waits;
  (void)sources_of_waits().visit([&](void *source, list_outside *list) {
    list(source, waits);
    return true;
  });
  return waits;
}

void add_named_waits(wait_graph &graph) {
  std::set<std::string> owners; // the address of a name stands for its node
  for (const layer::outside_wait &wait : all_outside_waits()) {
    if (wait.waiter_name.empty())
      continue;
    const std::string &owner = *owners.insert(wait.owner).first;
    const std::size_t from = graph.add(node_kind::task, wait.waiter, wait.waiter_name);
    graph.wait(from, graph.add(node_kind::outside, &owner, owner), "waits for " + wait.what);
  }
}

} // namespace rt
} // namespace weft::inline v0
