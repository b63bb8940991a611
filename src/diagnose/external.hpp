// SPDX-License-Identifier: Apache-2.0
// What layers know of the tasks that they run on threads of their own: weft/layer/external_report.hpp.
#pragma once

#include <weft/layer/external_report.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class wait_graph;

/// Lists the tasks of one source. Returns false where that cannot be just now.
using list_external = bool(void *source, layer::external_report &to);

/// Enters a source. Throws std::bad_alloc.
void add_external_reports(void *source, list_external *list);
/// Removes it. None of its calls goes on afterwards.
void remove_external_reports(const void *source) noexcept;
/// In the child of a fork: forgets the call that went on in a thread of the parent.
void forget_external_reports_in_child() noexcept;

struct seen_externals {
  layer::external_report report;
  // Threads that sleep there until another thread of the process wakes them, with how often each had
  // left its CPU. They were asked one after the other: only two looks with the same counts say that
  // all slept at one time, and until the second look.
  std::map<int, std::uint64_t> in_kernel;
};
/// Returns what all sources list; nothing where one of them cannot look just now, or is being added or
/// removed. Asks the kernel
/// about the threads that may run: one that sleeps there gets a wait, and another one has `goes_on`
/// set. Throws std::bad_alloc.
[[nodiscard]] std::optional<seen_externals> look_at_externals();

/// Adds the tasks of a report that wait, and the waits. Throws std::bad_alloc.
void add_to_graph(const layer::external_report &report, wait_graph &graph);
/// Returns the node of a task of a report; adds it if there is none yet.
std::size_t add_node(const layer::external_report::task &one, wait_graph &graph);
/// Adds the tasks that wait for nothing in the graph, with their states. Returns a note where they
/// are too many.
[[nodiscard]] std::vector<std::string> add_states(const layer::external_report &report,
                                                  wait_graph &graph);

} // namespace rt
} // namespace weft::inline v0
