// SPDX-License-Identifier: Apache-2.0
// The ends of a body that are not fast, by case; the table is in execute.cpp. Each makes `outer` the
// current task again, and returns what execute() returns. The body ran on `where`.
#pragma once

#include "task/execute.hpp"

namespace weft::inline v0 {
namespace rt {

/// Ends a task that shares its only access, and whose closure needs no destructor.
WEFT_NOINLINE runnable *end_member(task &self, task *outer, body_on where);
/// Ends a task that has several accesses, regions, or had children with accesses.
WEFT_NOINLINE runnable *end_with_accesses(task &self, task *outer, body_on where);
/// Ends a task that has an extra block or children, or whose end is signalled.
WEFT_NOINLINE runnable *end_general(task &self, task *outer, body_on where);

} // namespace rt
} // namespace weft::inline v0
