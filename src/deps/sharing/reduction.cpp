// SPDX-License-Identifier: Apache-2.0
#include "deps/sharing/reduction.hpp"

#include "deps/sharing/cohort.hpp"
#include "task/destructor.hpp"
#include "task/failure.hpp"

#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {

reduction_store::reduction_store(const detail::reduction_spec &spec) : m_how(spec) {
  if (spec.how)
    m_how.how = spec.ops->keep(spec.how);
}

reduction_store::~reduction_store() {
  free_all(nullptr);
  if (m_how.how)
    m_how.ops->drop(const_cast<void *>(m_how.how));
}

namespace {

constexpr std::size_t k_least_alignment =
    128; // two lines: copies of different workers are written at once

std::align_val_t alignment_of(const detail::reduction_ops &ops) noexcept {
  return std::align_val_t{ops.alignment > k_least_alignment ? ops.alignment : k_least_alignment};
}

} // namespace

reduction_store::copy *reduction_store::make() {
  const auto count = static_cast<std::size_t>(m_how.count);
  const std::align_val_t alignment = alignment_of(*m_how.ops);
  const auto offset = (sizeof(copy) + static_cast<std::size_t>(alignment) - 1) &
                      ~(static_cast<std::size_t>(alignment) - 1);
  char *const block = static_cast<char *>(::operator new(offset + count * m_how.bytes, alignment));
  auto *c = ::new (static_cast<void *>(block)) copy;
  c->data = block + offset;
  try {
    m_how.ops->fill(c->data, count, m_how.how);
  } catch (...) {
    ::operator delete(static_cast<void *>(c), alignment);
    throw;
  }
  return c;
}

void reduction_store::free(copy *partial, bool is_filled) noexcept {
  if (m_how.ops->destroy && is_filled)
    m_how.ops->destroy(partial->data, static_cast<std::size_t>(m_how.count));
  ::operator delete(static_cast<void *>(partial), alignment_of(*m_how.ops));
}

void reduction_store::free_all(const copy *unfilled) noexcept {
  for (copy *c = m_shelf.first(); c;) {
    copy *const next = c->next.get();
    free(c, c != unfilled);
    c = next;
  }
  m_shelf.clear();
}

reduction_store::copy &reduction_store::copy_for(const void *holder, const void *home,
                                                 unsigned id) {
  copy *c = m_shelf.take(holder, home, id);
  if (!c) {
    c = make();
    m_shelf.add(*c, holder, home, id);
  }
  return *c;
}

void reduction_store::combine() {
  for (const copy *c = m_shelf.first(); c; c = c->next.get())
    add(*c);
}

void reduction_store::combine_and_begin_anew() {
  const auto count = static_cast<std::size_t>(m_how.count);
  const copy *unfilled = nullptr;
  try {
    for (copy *c = m_shelf.first(); c; c = c->next.get()) {
      if (c->fresh.get())
        continue;
      add(*c);
      if (m_how.ops->destroy)
        m_how.ops->destroy(c->data, count);
      unfilled = c;
      m_how.ops->fill(c->data, count, m_how.how);
      unfilled = nullptr;
      c->fresh.set(true);
    }
  } catch (...) {
    free_all(unfilled);
    throw;
  }
  m_shelf.forget_hints();
}

namespace {

constexpr const char *k_combining = "the operation of a reduction below task";
constexpr detail::body_ops k_operation_ops{nullptr, nullptr, nullptr, false, 0};

/// Marks the thread while it combines copies: code that it calls neither waits nor suspends. It runs
/// as a task of its own, which is final, so that each spawn takes the path that refuses it.
///
/// A thread that only takes events back, or a central manager's, has no context. It enters the
/// operation where the operation makes it a thread of Weft.
class combining {
 public:
  explicit combining(task &below) noexcept
      : m_self{k_combining, label_of(below)}, m_operation(k_operation_ops, &below, nullptr) {
    m_operation.label = "operation of a reduction";
    m_operation.trace_id = 0;
    m_operation.set(detail::k_implicit | detail::k_final);
    if (thread_context *here = this_thread_context())
      enter(*here);
    else
      m_around = std::exchange(t_without_context, this);
  }
  combining(const combining &) = delete;
  combining &operator=(const combining &) = delete;
  ~combining() {
    delete m_operation.extra.load(std::memory_order_relaxed);
    if (m_context) {
      m_context->in_callback = m_outer;
      m_context->current = m_outer_task;
    }
    if (t_without_context != this)
      return;
    t_without_context = m_around;
    if (m_around && m_context)
      m_around->enter(*m_context);
  }

  void enter(thread_context &here) noexcept {
    m_context = &here;
    m_outer = std::exchange(here.in_callback, &m_self);
    m_outer_task = std::exchange(here.current, &m_operation);
  }
  static combining *without_context() noexcept { return t_without_context; }

 private:
  static constinit thread_local combining *t_without_context;

  const callback m_self;
  task m_operation;
  combining *m_around = nullptr; // the operation that has ended the task below, without a context
  thread_context *m_context = nullptr;
  const callback *m_outer = nullptr;
  task *m_outer_task = nullptr;
};
constinit thread_local combining *combining::t_without_context = nullptr;

} // namespace

void enter_operation(thread_context &adopted) noexcept {
  if (combining *now = combining::without_context())
    now->enter(adopted);
}

const task *operation_of(const task &t) noexcept {
  const task *at = &t;
  while (at && at->ops != &k_operation_ops)
    at = at->has(detail::k_implicit) ? at->parent : nullptr;
  return at;
}

void combine_copies(reduction_store &store, task &parent) noexcept {
  const combining now(parent);
  try {
    store.combine();
  } catch (...) {
    fail_for(parent, k_combining, std::current_exception());
  }
}

void combine_copies_so_far(reduction_store &store, task &whole) {
  const combining now(whole);
  store.combine_and_begin_anew();
}

void give_back_copy(data_access &a) noexcept {
  if (!is_finished(a) && a.joined && a.joined->how == sharing::reduction &&
      !(a.flags.load(std::memory_order_relaxed) & k_weak))
    give_back_copy_of(a);
}

void give_back_copies(task &t) noexcept {
  for (std::uint32_t i = 0, count = known_accesses(t); i < count; ++i)
    give_back_copy(t.accesses()[i]);
}

namespace {

/// Returns whether the branch is part of a destructor: that has no copies, and what covers it may be
/// running elsewhere.
bool is_of_destructor(const task &branch) noexcept {
  const task *at = &branch;
  while (at->parent && at->has(detail::k_implicit) && !is_over(*at))
    at = at->parent;
  return is_over(*at);
}

} // namespace

void give_back_copies_of_branch(task &branch) noexcept {
  if (is_of_destructor(branch))
    return;
  task &t = covering_task(branch);
  for (std::uint32_t i = 0, count = known_accesses(t); i < count; ++i) {
    const data_access &a = t.accesses()[i];
    if (!is_finished(a) && a.joined && a.joined->how == sharing::reduction)
      a.joined->copies->give_back_of(&branch);
  }
}

} // namespace rt
} // namespace weft::inline v0
