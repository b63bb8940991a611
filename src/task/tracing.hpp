// SPDX-License-Identifier: Apache-2.0
// What a trace is told of tasks. All of it is called from places that look for something else already: a heap that gives nothing at once,
// the flag of tasks that need a look, the test for measured stacks.
#pragma once

#include "task/task.hpp"
#include "trace/session.hpp"

#include <weft/access.hpp>

namespace weft::inline v0 {
namespace rt {

struct region_entry;

/// A task is created: it gets a name, and the mark of those that are looked at, until its creation has been told.
inline void trace_birth(tracer &x, task &t) noexcept {
  t.trace_id = x.ring.fresh_id();
  t.set(detail::k_special);
}

struct traced_accesses {
  const access *first = nullptr;
  std::size_t first_count = 0;
  const access *second = nullptr;
  std::size_t second_count = 0;
  const region_entry *regions = nullptr;
  std::size_t region_count = 0;
};
/// It is entered. `recorded`: for the rounds of a taskiter.
void trace_creation(tracer &x, task &t, const traced_accesses &a, bool recorded) noexcept;
/// The same of a task of which nothing else asks for the slow way, with no access or one. False: it is not such a task, and nothing is told.
bool trace_common_creation(tracer &x, task &t, const access *only) noexcept;
WEFT_COLD void trace_abandoned(task &t) noexcept;
/// Nothing holds it.
WEFT_COLD void trace_ready(const task &t) noexcept;

/// Runs the body.
void run_traced(task &t, void (*invoke)(task &) noexcept) noexcept;
WEFT_COLD void trace_skipped(task &t) noexcept;
/// A thread stands in the worker; `root` is its task.
WEFT_COLD void trace_root(tracer &x, task &root) noexcept;
/// A join's branch that another worker has taken.
WEFT_COLD std::uint32_t trace_branch_begins(tracer &x, task &branch) noexcept;
WEFT_COLD void trace_branch_ends(tracer &x, std::uint32_t id, std::uint32_t outer) noexcept;

} // namespace rt
} // namespace weft::inline v0
