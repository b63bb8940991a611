// SPDX-License-Identifier: Apache-2.0
// Setting deps.check: what a task names must be covered by what its parent declares.
#pragma once

#include "task/task.hpp"

#include <weft/access.hpp>

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

class region_scope;

/// Reports the accesses of `t`, filled and not yet entered, that its parent does not cover. A
/// parent that declares nothing covers all of them.
WEFT_COLD void report_undeclared(task &t) noexcept;
/// Does the same where accesses are regions: `its` are those of `t`.
WEFT_COLD void report_undeclared(const task &t, const region_scope &its) noexcept;

/// Reports objects of the list that overlap an object of another address, if an earlier child of
/// the same parent has named that object and one of the two is written. Accesses are ordered by
/// address alone, so nothing orders these. The names are forgotten when the children are over.
WEFT_COLD void report_overlaps(const task &t, const access *list, std::size_t count) noexcept;
WEFT_COLD void forget_objects(const task &parent) noexcept;
/// Forgets all objects in the child of a fork(): their tasks are those of the parent process.
void forget_objects_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
