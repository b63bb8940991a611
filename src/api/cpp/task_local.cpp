// SPDX-License-Identifier: Apache-2.0
#include "task/locals.hpp"

#include "base/error.hpp"
#include "task/destructor.hpp"
#include "task/hooks.hpp"
#include "task/in_place_task.hpp"
#include "worker/runtime.hpp"

#include <weft/layer/task.hpp>

namespace weft::inline v0 {
namespace detail {

using namespace rt;

namespace {

std::atomic<std::uint64_t> g_last_key{0};

/// Returns the task whose values a task sees: a branch of a join is part of the task that called
/// join().
task &owner_of_locals(task &running) noexcept {
  task *t = &running;
  while (t->has(k_implicit) && t->parent && !is_over(*t))
    t = t->parent;
  return *t;
}

/// Returns the task whose values the caller sees.
task &owner_of_locals() {
  worker &w = this_worker();
  task *t = w.current;
  if (!t || w.in_callback)
    throw_error(
        errc::not_a_task,
        "a task_local is used outside of a task (in a service, or in an onready function); use a "
        "plain variable there");
  return owner_of_locals(*t);
}

} // namespace

std::uint64_t local_key() noexcept {
  return g_last_key.fetch_add(1, std::memory_order_relaxed) + 1;
}

void *local_value(std::uint64_t key, const local_ops &ops, const void *variable) {
  task &t = owner_of_locals();
  if (task_extra *x = peek_extra(t))
    if (void *found = find_local(*x, key))
      return found;
  return add_local(extra_of(t), key, ops, variable);
}

} // namespace detail

namespace layer {

namespace {

/// Returns whether the task stands for a branch of a join that another worker runs.
bool is_branch(const rt::task &t) noexcept {
  return t.has(detail::k_implicit) && t.parent && !rt::is_root_of_functions(*t.parent) &&
         !rt::is_over(t);
}

/// Returns the part of a task that `running` belongs to; null: it is a thread, or a posted call.
rt::task *part_of(rt::task &running) noexcept {
  rt::task *t = &running;
  while (rt::is_in_place(*t))
    t = t->parent;
  return !t->has(detail::k_implicit) || rt::is_over(*t) || is_branch(*t) ? t : nullptr;
}

/// Returns the caller's part; null: the caller is in none.
rt::task *part_of_caller() noexcept {
  const rt::thread_context *const e = rt::this_thread_context();
  return e && e->current && !e->in_callback ? part_of(*e->current) : nullptr;
}

} // namespace

bool find_part_value(std::uint64_t key, void *&value, std::size_t outwards) noexcept {
  const rt::task *part = part_of_caller();
  for (; part && outwards != 0; --outwards)
    part = is_branch(*part) ? part_of(*part->parent) : nullptr;
  if (!part)
    return false;
  const rt::task_extra *const x = rt::peek_extra(*part);
  value = x ? rt::find_local(*x, key) : nullptr;
  return true;
}

void *make_part_value(std::uint64_t key, const detail::local_ops &ops) {
  return rt::add_local(rt::extra_of(*part_of_caller()), key, ops, nullptr);
}

bool find_task_value(std::uint64_t key, void *&value) noexcept {
  const rt::thread_context *const e = rt::this_thread_context();
  if (!e || !e->current || e->in_callback)
    return false;
  rt::task &t = detail::owner_of_locals(*e->current);
  if (t.has(detail::k_implicit) && !rt::is_over(t))
    return false; // a thread's own
  const rt::task_extra *const x = rt::peek_extra(t);
  value = x ? rt::find_local(*x, key) : nullptr;
  return true;
}

} // namespace layer
} // namespace weft::inline v0
