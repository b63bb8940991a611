// SPDX-License-Identifier: Apache-2.0
// reduction_local(): finds what the running task reduces.
#include "base/error.hpp"
#include "deps/cohort.hpp"
#include "deps/region_scope.hpp"
#include "worker/runtime.hpp"

#include <weft/reduction.hpp>

#include <new>

namespace weft::inline v0 {
namespace detail {
namespace {

using namespace rt;

data_access *find_access(task &t, const void *address) noexcept {
  for (std::uint32_t i = 0; i < t.extent; ++i)
    if (t.accesses()[i].address == address && !is_finished(t.accesses()[i]))
      return &t.accesses()[i];
  return nullptr;
}

bool is_entered(const task &t) noexcept {
  const task *at = &t;
  while (at->has(k_implicit) && at->parent)
    at = at->parent;
  return !at->has(k_final) || !at->parent->has(k_final);
}

/// Who borrows for what runs as `t`: the branch of a join that it is part of, when another worker has taken that, else `covering`.
const task &borrower(const task &t, const task &covering) noexcept {
  const task *at = &t;
  while (at != &covering && !at->has(k_implicit))
    at = at->parent;
  return *at;
}

bool has_for_itself(const task &t, const data_access &a) noexcept {
  const std::uint32_t kind = a.flags.load(std::memory_order_relaxed); // O4 of access_state.hpp: the kind never changes
  const bool shares = t.has(k_special) && a.joined && a.joined->how != sharing::commutative;
  return !(kind & k_kind) && !shares;
}

void *borrow(reduction_store &store, const task &t, const task &holder, const void *place, std::size_t bytes) {
  const reduction_spec &how = store.how();
  const std::size_t all = static_cast<std::size_t>(how.count) * how.bytes;
  if (bytes > all)
    throw_error(errc::invalid_argument, "task '%s' has asked for its copy of %zu bytes at %p, of which it reduces %zu; ask for no "
                "more than it names", label_of(t), bytes, how.address, all);
  try {
    return store.copy_for(&holder, place);
  } catch (const std::bad_alloc &) {
    throw_error(errc::out_of_resources, "no memory for a copy of what task '%s' reduces (%zu bytes)", label_of(t), all);
  }
}

} // namespace

void *reduction_copy(const void *address, std::ptrdiff_t count, std::size_t bytes) {
  worker &w = this_worker();
  task &asking = *w.current;
  task &t = covering_task(asking);
  if (t.has(k_implicit))
    throw_error(errc::not_a_task, "reduction_local() outside of a task; spawn a task that names weft::reduction()");
  if (data_access *a = find_access(t, address)) {
    if (t.has(k_special) && a->joined && a->joined->how == sharing::reduction &&
        !(a->flags.load(std::memory_order_relaxed) & k_weak)) // O4 of access_state.hpp
      return borrow(*a->joined->copies, asking, borrower(asking, t), &w, bytes * static_cast<std::size_t>(count));
    if (has_for_itself(t, *a))
      return const_cast<void *>(address);
  } else if (writes_region(t, address, bytes * static_cast<std::size_t>(count))) { // reductions of regions are in place
    return const_cast<void *>(address);
  } else if (!is_entered(asking)) { // data that the final task does not name: its children touch it in place
    return const_cast<void *>(address);
  }
  throw_error(errc::invalid_argument, "task '%s' has asked for its copy of %p, which it does not reduce; name weft::reduction() "
              "among its accesses", label_of(asking), address);
}

} // namespace detail
} // namespace weft::inline v0
