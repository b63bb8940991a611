// SPDX-License-Identifier: Apache-2.0
#include "diagnose/external.hpp"

#include "diagnose/sources.hpp"
#include "diagnose/wait_graph.hpp"
#include "os/thread_state.hpp"

#include <unordered_map>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constinit sources<list_external> g_sources; // a child of a fork uses it as it is

constexpr const void *k_not_listed = nullptr; // the id of what no report knows

/// Asks the kernel about a thread that may run.
void look_at_thread(const layer::external_report::thread &one, seen_externals &seen) {
  const std::optional<std::uint64_t> switches = thread_switches(one.tid); // before it is asked
  const thread_wait wait = wait_of_thread(one.tid);
  if (!switches || !wait.for_word || !wait.in_process) {
    seen.report.goes_on = true;
    return;
  }
  seen.in_kernel.emplace(one.tid, *switches);
  if (one.id)
    seen.report.waits.push_back(
        {one.id, k_not_listed, "sleeps in the kernel, and can only be woken by"});
}

} // namespace

void add_external_reports(void *source, list_external *list) {
  g_sources.add(source, list);
}

void remove_external_reports(const void *source) noexcept {
  g_sources.remove(source);
}

void forget_external_reports_in_child() noexcept { g_sources.forget_lock_in_child(); }

std::optional<seen_externals> look_at_externals() {
  seen_externals seen;
  if (!g_sources.visit(
          [&](void *source, list_external *list) { return list(source, seen.report); }))
    return std::nullopt;
  std::erase_if(seen.report.threads,
                [](const auto &one) { return !one.sleeps && thread_is_gone(one.tid); });
  for (const layer::external_report::thread &one : seen.report.threads)
    if (!one.sleeps)
      look_at_thread(one, seen);
  if (seen.report.goes_on) // then what may end a wait is not of interest
    std::erase_if(seen.report.waits, [](const auto &wait) { return !wait.is_certain; });
  return seen;
}

std::size_t add_node(const layer::external_report::task &one, wait_graph &graph) {
  const std::size_t known = graph.find(one.id);
  if (known != graph.nodes().size())
    return known;
  const std::size_t n =
      graph.add(one.is_thread ? node_kind::thread : node_kind::task, one.id, one.name);
  graph.at(n).spawned = one.spawned;
  if (!one.where.empty())
    graph.at(n).stack.push_back(one.where);
  return n;
}

void add_to_graph(const layer::external_report &report, wait_graph &graph) {
  std::unordered_map<const void *, const layer::external_report::task *> by_id;
  for (const layer::external_report::task &one : report.tasks)
    by_id.emplace(one.id, &one);
  for (const layer::external_report::wait &wait : report.waits) {
    const auto waiter = by_id.find(wait.waiter), awaited = by_id.find(wait.awaited);
    if (waiter == by_id.end())
      continue;
    const std::size_t from = add_node(*waiter->second, graph);
    const std::size_t to = awaited != by_id.end()
                               ? add_node(*awaited->second, graph)
                               : graph.add(node_kind::outside, &k_not_listed, "a thread outside of Weft");
    graph.wait(from, to, wait.reason, wait.is_certain ? wait_graph::certain : wait_graph::guess);
  }
}

std::vector<std::string> add_states(const layer::external_report &report, wait_graph &graph) {
  constexpr std::size_t k_most = 10'000;
  std::vector<bool> waits(graph.nodes().size());
  for (const wait_graph::edge &e : graph.edges())
    waits[e.from] = true;
  std::size_t shown = 0, left = 0;
  for (const layer::external_report::task &one : report.tasks) {
    const std::size_t known = graph.find(one.id);
    if (one.state.empty() || (known < waits.size() && waits[known]))
      continue;
    if (++shown <= k_most)
      graph.at(add_node(one, graph)).state = one.state;
    else
      ++left;
  }
  if (left == 0)
    return {};
  return {std::to_string(left) + " more tasks of a layer are ready or run"};
}

} // namespace rt
} // namespace weft::inline v0
