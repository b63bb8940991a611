// SPDX-License-Identifier: Apache-2.0
// How the accesses of a task are entered into the domain of its parent, and released.
#pragma once

#include "deps/domain.hpp"
#include "task/ready.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

/// Throws weft::error if `parent` runs the destructor of its callable.
void refuse_accesses_when_over(const task &parent);

/// Makes the domain of a task's children; domain_of() does so on first use. Throws std::bad_alloc,
/// and weft::error if the task is over.
domain &make_domain(task &parent);
inline domain &domain_of(task &parent) {
  return parent.children_domain ? *parent.children_domain : make_domain(parent);
}

/// Enters the accesses of a new task into its parent's domain. Returns true if all of them are
/// satisfied: the task may run. After false a manager will enter the accesses, or the delivery that
/// satisfies the last one will put the task on a ready list. Throws weft::error for impossible
/// accesses. Throws std::bad_alloc, and what copying an identity throws, before anything is linked.
bool enter_accesses(task &t, const access *first, std::size_t first_count, const access *second,
                    std::size_t second_count);
/// Does the same for a manager: the accesses are named already, and none of them shares its
/// address.
bool enter_posted(task &t);

/// Ends cohorts, and frees what the domain still holds. Called by the parent's frame when no child
/// is left.
void children_are_complete(task &parent) noexcept;

/// Says whether everything is trimmed, or only what may be much.
enum class trim { all, if_much };
/// Frees what finished children hold. Called when memory is short.
void trim_domain(task &parent, trim how) noexcept;

/// Delivers a link to `a`, an access of `before` in a chain, that causes something at once. Returns
/// whether that satisfies `t`.
bool continue_entering(task &t, data_access &a, task &before, std::uint32_t bits) noexcept;
/// Delivers bits to `a`, an access of `t`, that cause more than one unsatisfied access less of `t`.
/// Returns a task that may run now, or null; other such tasks are enqueued.
runnable *continue_releasing(data_access &a, task &t, std::uint32_t bits) noexcept;
/// Gives up all accesses of a task whose body has ended: closes the domain of its children, then
/// releases the accesses. Appends tasks that may run now to `ready`. Returns the number of
/// references of `t` that this released; the caller drops them.
std::uint32_t release_accesses(task &t, ready_list &ready);
/// Returns whether the task has entered an access to this object.
[[nodiscard]] bool has_access(task &t, const access &a) noexcept;
/// Gives up accesses of the running task before its body ends. Passes over accesses that the task
/// has given up already. Throws std::bad_alloc; the accesses earlier in the list are given up then.
void release_some(task &t, const access *list, std::size_t count, ready_list &ready);

} // namespace rt
} // namespace weft::inline v0
