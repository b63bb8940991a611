// SPDX-License-Identifier: Apache-2.0
// reduction_local(): finds the object that the running task reduces, and its copy.
#include "base/error.hpp"
#include "deps/regions/region_scope.hpp"
#include "deps/regions/regions.hpp"
#include "deps/sharing/cohort.hpp"
#include "task/destructor.hpp"
#include "task/hooks.hpp"
#include "worker/runtime.hpp"

#include <weft/layer/reduction_origin.hpp>
#include <weft/reduction.hpp>
#include <weft/taskfor.hpp>

#include <algorithm>
#include <cstdint>
#include <new>

namespace weft::inline v0 {
namespace detail {
namespace {

using namespace rt;

WEFT_INLINE data_access *find_access(task &t, const void *address, std::uint32_t count) noexcept {
  for (data_access *a = t.accesses(), *const end = a + count; a != end; ++a)
    if (a->address == address && !is_finished(*a))
      return a;
  return nullptr;
}

bool is_entered(const task &t) noexcept {
  const task *at = &t;
  while (at->has(k_implicit) && at->parent)
    at = at->parent;
  return !at->has(k_final) || !at->parent->has(k_final);
}

/// Returns the task that holds the copy for the code that runs as `t`: the branch of a join that it
/// is part of, if another worker has taken that branch; otherwise `covering`.
const task &holder_of(const task &t, const task &covering) noexcept {
  const task *at = &t;
  while (at != &covering && !at->has(k_implicit))
    at = at->parent;
  return *at;
}

bool has_for_itself(const data_access &a) noexcept {
  const std::uint32_t kind =
      a.flags.load(std::memory_order_relaxed); // O4 of access_state.hpp: the kind never changes
  const bool shares = a.joined && a.joined->how != sharing::commutative;
  return !(kind & k_kind) && !shares;
}

bool reduces(const data_access &a) noexcept {
  return a.joined && a.joined->how == sharing::reduction &&
         !(a.flags.load(std::memory_order_relaxed) & k_weak); // O4 of access_state.hpp
}

void *take_copy(data_access &a, const task &t, const task &covering, const worker &w,
                std::size_t bytes) {
  reduction_store &store = *a.joined->copies;
  const reduction_spec &how = store.how();
  const std::size_t all = static_cast<std::size_t>(how.count) * how.bytes;
  if (bytes > all)
    throw_error(
        errc::invalid_argument,
        "task '%s' has asked for its copy of %zu bytes at %p, of which it reduces %zu; ask for no "
        "more than it names",
        label_of(t), bytes, how.address, all);
  const task &holder = holder_of(t, covering);
  const bool by_task = &holder == &covering;
  if (by_task && copy_of(a))
    return copy_of(a)->data;
  try {
    reduction_store::copy &c = store.copy_for(&holder, &w, w.id);
    if (by_task)
      set_copy(a, &c);
    return c.data;
  } catch (const std::bad_alloc &) {
    throw_error(errc::out_of_resources,
                "no memory for a copy of what task '%s' reduces (%zu bytes)", label_of(t), all);
  }
}

WEFT_NOINLINE void *find_copy(const void *address, std::ptrdiff_t count, std::size_t bytes) {
  worker &w = this_worker();
  task &asking = *w.current;
  if (is_over(asking))
    throw_error(
        errc::not_a_task,
        "reduction_local() in the destructor of the callable of task '%s', whose accesses are released; call it in the body",
        label_of(asking));
  if (const task *operation = operation_of(asking))
    throw_error(errc::not_a_task,
                "reduction_local() in the operation of a reduction below task '%s', which is called between tasks; use what the operation is given",
                label_of(*operation->parent));
  task &t = covering_task(asking);
  if (t.has(k_implicit))
    throw_error(errc::not_a_task,
                "reduction_local() outside of a task; spawn a task that names weft::reduction()");
  if (data_access *a = find_access(t, address, known_accesses(t))) {
    if (reduces(*a))
      return take_copy(*a, asking, t, w, bytes * static_cast<std::size_t>(count));
    if (has_for_itself(*a))
      return const_cast<void *>(address);
  } else if (writes_region(
                 t, address,
                 bytes * static_cast<std::size_t>(count))) { // reductions of regions are in place
    return const_cast<void *>(address);
  } else if (!is_entered(asking) || (is_recorded(t) && recorded_as_writer(t, address))) {
    // The final task does not name the data: its children touch the data in place.
    return const_cast<void *>(address);
  }
  throw_error(
      errc::invalid_argument,
      "task '%s' has asked for its copy of %p, which it does not reduce; name weft::reduction() "
      "among its accesses",
      label_of(asking), address);
}

} // namespace

bool reduces_in_place() noexcept {
  task &t = covering_task(*this_worker().current);
  const std::uint32_t count = known_accesses(t);
  return std::none_of(t.accesses(), t.accesses() + count, reduces);
}

void *reduction_copy(const void *address, std::ptrdiff_t count, std::size_t bytes) {
  worker *w = this_worker_or_null();
  if (!w || w->current->has(k_implicit | k_final)) [[unlikely]]
    return find_copy(address, count, bytes);
  data_access *a = find_access(*w->current, address, w->current->extent);
  if (!a || !reduces(*a) || !a->joined->copies->holds(count, bytes)) [[unlikely]]
    return find_copy(address, count, bytes);
  reduction_store::copy *c = copy_of(*a);
  if (!c) {
    c = a->joined->copies->take_near(w->current, w, w->id);
    if (!c) [[unlikely]]
      return find_copy(address, count, bytes);
    set_copy(*a, c);
  }
  return c->data;
}

} // namespace detail

namespace layer {

using namespace rt;

namespace {

WEFT_NOINLINE reduction_part find_origin(worker &w, const void *address, std::size_t bytes,
                                         reduced_object *object) {
  if (is_over(*w.current) || operation_of(*w.current))
    return reduction_part::none;
  task &t = covering_task(*w.current);
  if (t.has(detail::k_implicit))
    return reduction_part::none;
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  for (data_access *a = t.accesses(), *const end = a + known_accesses(t); a != end; ++a) {
    if (is_finished(*a) || !detail::reduces(*a))
      continue;
    const detail::reduction_spec &how = a->joined->copies->how();
    const std::size_t all = static_cast<std::size_t>(how.count) * how.bytes;
    const void *const copy = detail::take_copy(*a, *w.current, t, w, all);
    const auto begin = reinterpret_cast<std::uintptr_t>(copy);
    if (first + bytes <= begin || first >= begin + all)
      continue;
    if (first < begin || bytes > begin + all - first)
      return reduction_part::beyond;
    *object = {const_cast<void *>(how.address), all, how.bytes, copy};
    return reduction_part::whole_or_part;
  }
  return reduction_part::none;
}

} // namespace

reduction_part reduction_origin(const void *address, std::size_t bytes, reduced_object *object) {
  worker *const w = this_worker_or_null();
  if (!w || !w->current->parent) // most creators: the program's main function, which has no accesses
    return reduction_part::none;
  return find_origin(*w, address, bytes, object);
}

} // namespace layer
} // namespace weft::inline v0
