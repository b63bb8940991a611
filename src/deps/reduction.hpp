// SPDX-License-Identifier: Apache-2.0
// The private copies of a reduction: made when a task first asks for one, lent to one task at a time, combined in the end.
#pragma once

#include "queue/spin_lock.hpp"
#include "task/task.hpp"
#include "weft/detail/reduction.hpp"

namespace weft::inline v0 {
namespace rt {

/// The two add up in the same way, so their tasks may share copies.
[[nodiscard]] bool is_same(const detail::reduction_spec &a, const detail::reduction_spec &b) noexcept;
/// Throws weft::error when they do not, and the task names both for one address.
void check_same(const task &t, const detail::reduction_spec &a, const detail::reduction_spec &b);
/// Throws weft::error for a number of elements that cannot be.
void check_extent(const task &t, const detail::reduction_spec &r);

/// Copies in the order in which they were made. A copy is lent to a task, or is free; P for the models.
template <class P, class Copy>
class copy_shelf {
public:
  /// The copy that `holder` has, else a free one, if possible the one that was last used in this `place`; null: there is none.
  [[nodiscard]] Copy *borrow(const void *holder, const void *place) noexcept {
    m_lock.lock();
    Copy *found = nullptr;
    bool near = false;
    for (Copy *c = m_first.get(); c; c = c->next.get()) {
      if (c->holder.get() == holder) {
        found = c;
        break;
      }
      if (!c->holder.get() && !near) {
        near = c->place.get() == place;
        if (near || !found)
          found = c;
      }
    }
    if (found)
      lend(*found, holder, place);
    m_lock.unlock();
    return found;
  }

  /// A new copy, lent to `holder`.
  void add(Copy &c, const void *holder, const void *place) noexcept {
    m_lock.lock();
    lend(c, holder, place);
    if (Copy *last = m_last.get())
      last->next.set(&c);
    else
      m_first.set(&c);
    m_last.set(&c);
    m_lock.unlock();
  }

  void give_back(const void *holder) noexcept {
    m_lock.lock();
    for (Copy *c = m_first.get(); c; c = c->next.get())
      if (c->holder.get() == holder)
        c->holder.set(nullptr);
    m_lock.unlock();
  }

  /// When nobody borrows any more: the oldest copy.
  [[nodiscard]] Copy *first() const noexcept { return m_first.get(); }

private:
  static void lend(Copy &c, const void *holder, const void *place) noexcept {
    c.holder.set(holder);
    c.place.set(place);
  }

  spin_lock<P> m_lock;
  typename P::template var<Copy *> m_first{};
  typename P::template var<Copy *> m_last{};
};

/// Stands in front of the data, in one block.
template <class P>
struct basic_reduction_copy {
  typename P::template var<basic_reduction_copy *> next{};
  typename P::template var<const void *> holder{}; // null: free
  typename P::template var<const void *> place{};  // the worker that used it last
  void *data = nullptr;
};

class reduction_store {
public:
  explicit reduction_store(const detail::reduction_spec &spec); // keeps a copy of what adds up
  ~reduction_store();
  reduction_store(const reduction_store &) = delete;
  reduction_store &operator=(const reduction_store &) = delete;

  [[nodiscard]] const detail::reduction_spec &how() const noexcept { return m_how; }
  /// The holder's copy. Throws what the identity throws, or std::bad_alloc.
  [[nodiscard]] void *copy_for(const void *holder, const void *place);
  void give_back(const void *holder) noexcept { m_shelf.give_back(holder); }
  /// Adds all copies to the target, oldest copy first. When nobody borrows any more. Throws what the operation throws.
  void combine();

private:
  using copy = basic_reduction_copy<real_atomics>;
  copy *make();
  void free(copy *c) noexcept;

  detail::reduction_spec m_how;
  copy_shelf<real_atomics, copy> m_shelf;
};

/// Everything that reduces has released. An exception is the failure of `parent`, whose children they were.
void combine_copies(reduction_store &store, task &parent) noexcept;

/// Gives back what `holder` has borrowed by an access that was not released.
void give_back_copy(const data_access &a, const void *holder) noexcept;
/// Gives back what `holder`, the task or a branch of it, has borrowed by the accesses of `t`.
void give_back_copies(task &t, const void *holder) noexcept;
/// A branch of a join ends that another worker has run.
void give_back_copies_of_branch(task &branch) noexcept;

} // namespace rt
} // namespace weft::inline v0
