// SPDX-License-Identifier: Apache-2.0
// The private copies of a reduction: made when a task first asks for one, held by one task at a time, combined in the end.
//
// Roles       A holder: a task, or a branch of a join, on the worker that it runs on. Who ends it, on any thread: gives back. Who ends
//             the cohort: first, when nobody takes a copy any more.
// Word        holder of a copy: who has it, or null. A copy has a home, the worker that it was made on; what is near to a
//             home, a hint to one of its copies, is in a table by the number of the worker. The list of all is guarded by m_lock.
// Invariants  I1  Only the worker that is its home gives out a copy, so of those that find it free nobody else gives it out as well.
//             I2  Copies are taken out only while nobody holds one, with all hints: a hint is good.
// Orders      O1  near store release, load acquire, with each other: the copy's home and data are written before it is found.
//             O2  holder store release when it is given back, load acquire when it is taken: the next holder goes on where the last
//                 one left. Relaxed when it is taken (I1), and when a holder looks for itself.
// Progress    To take the copy that is near, and to give back what a task has: wait-free. Else a spin lock, and a walk over all copies.
// Reclamation With the store, by who ends the cohort.
// Source      own
// Checked by  tests/model/cohort_models.cpp: reduction_*
#pragma once

#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"
#include "task/task.hpp"
#include "weft/detail/reduction.hpp"

namespace weft::inline v0 {
namespace rt {

/// The two add up in the same way, so their tasks may share copies.
[[nodiscard]] inline bool is_same(const detail::reduction_spec &a, const detail::reduction_spec &b) noexcept {
  return a.ops == b.ops && a.count == b.count && a.bytes == b.bytes && (!a.ops->is_same || a.ops->is_same(a.how, b.how));
}
/// The same as far as it can be told without a call.
[[nodiscard]] WEFT_INLINE bool is_trivially_same(const detail::reduction_spec &a, const detail::reduction_spec &b) noexcept {
  return a.ops == b.ops && a.count == b.count && a.bytes == b.bytes && !a.ops->is_same;
}
/// Throws weft::error when they do not, and the task names both for one address.
void check_same(const task &t, const detail::reduction_spec &a, const detail::reduction_spec &b);
/// Throws weft::error for a number of elements that cannot be.
void check_extent(const task &t, const detail::reduction_spec &r);

/// Copies in the order in which they were made. A copy is held by a task, or is free; P for the models.
template <class P, class Copy>
class copy_shelf {
 public:
  /// For a holder that has none: a free copy of its home that is known without a look at all. `id`: the number of the home.
  [[nodiscard]] Copy *take_near(const void *holder, const void *home, unsigned id) noexcept {
    Copy *c = near(id).load(std::memory_order_acquire); // O1
    if (!c || c->home.get() != home || c->holder.load(std::memory_order_acquire)) // O2
      return nullptr;
    c->holder.store(holder, std::memory_order_relaxed); // O2
    return c;
  }

  /// The copy that `holder` has, else a free one of its home; null: there is none.
  [[nodiscard]] Copy *take(const void *holder, const void *home, unsigned id) noexcept {
    m_lock.lock();
    Copy *found = nullptr;
    for (Copy *c = m_first.get(); c; c = c->next.get()) {
      if (c->holder.load(std::memory_order_relaxed) == holder) { // O2
        found = c;
        break;
      }
      if (!found && c->home.get() == home && !c->holder.load(std::memory_order_acquire)) // O2
        found = c;
    }
    m_lock.unlock();
    if (found) {
      found->fresh.set(false);
      found->holder.store(holder, std::memory_order_relaxed); // O2
      near(id).store(found, std::memory_order_release);       // O1
    }
    return found;
  }

  /// A new copy, held by `holder`.
  void add(Copy &c, const void *holder, const void *home, unsigned id) noexcept {
    c.holder.store(holder, std::memory_order_relaxed); // O2
    c.home.set(home);
    m_lock.lock();
    if (Copy *last = m_last.get())
      last->next.set(&c);
    else
      m_first.set(&c);
    m_last.set(&c);
    m_lock.unlock();
    near(id).store(&c, std::memory_order_release); // O1
  }

  static void give_back(Copy &c) noexcept {
    c.holder.store(nullptr, order_unless(bug::copy_given_back_relaxed, std::memory_order_release)); // O2
  }
  /// What a holder has whose copy is not known.
  void give_back_of(const void *holder) noexcept {
    m_lock.lock();
    for (Copy *c = m_first.get(); c; c = c->next.get())
      if (c->holder.load(std::memory_order_relaxed) == holder) // O2
        give_back(*c);
    m_lock.unlock();
  }

  /// When nobody takes a copy any more: the oldest copy.
  [[nodiscard]] Copy *first() const noexcept { return m_first.get(); }
  /// When nobody takes a copy for a while: no copy is near, so take() sees which are used from then on. What follows that while sees it.
  void forget_hints() noexcept {
    for (hint &h : m_near)
      h.store(nullptr, std::memory_order_relaxed); // O1: nothing is passed on
  }
  /// The copies are gone.
  void clear() noexcept {
    forget_hints();
    m_first.set(nullptr);
    m_last.set(nullptr);
  }

 private:
  static constexpr unsigned k_near = 16; // a power of two; with more workers, those of one number take turns with the lock
  using hint = typename P::template atomic<Copy *>;
  hint &near(unsigned id) noexcept { return m_near[id % k_near]; }

  hint m_near[k_near] = {};
  spin_lock<P> m_lock;
  typename P::template var<Copy *> m_first{};
  typename P::template var<Copy *> m_last{};
};

/// Stands in front of the data, in one block.
template <class P>
struct basic_reduction_copy {
  typename P::template var<basic_reduction_copy *> next{};
  typename P::template atomic<const void *> holder{nullptr}; // null: free
  typename P::template var<const void *> home{};            // the worker that it was made on
  void *data = nullptr;
  typename P::template var<bool> fresh{}; // nobody has taken it since it was filled
};

class reduction_store {
 public:
  using copy = basic_reduction_copy<real_atomics>;
  explicit reduction_store(const detail::reduction_spec &spec); // keeps a copy of what adds up
  ~reduction_store();
  reduction_store(const reduction_store &) = delete;
  reduction_store &operator=(const reduction_store &) = delete;

  [[nodiscard]] const detail::reduction_spec &how() const noexcept { return m_how; }
  [[nodiscard]] bool holds(std::ptrdiff_t count, std::size_t bytes) const noexcept { return m_how.count == count && m_how.bytes == bytes; }
  /// As in copy_shelf.
  [[nodiscard]] copy *take_near(const void *holder, const void *home, unsigned id) noexcept { return m_shelf.take_near(holder, home, id); }
  /// The holder's copy. Throws what the identity throws, or std::bad_alloc.
  [[nodiscard]] copy &copy_for(const void *holder, const void *home, unsigned id);
  void give_back_of(const void *holder) noexcept { m_shelf.give_back_of(holder); }
  /// Adds all copies to the target, oldest copy first. When nobody takes a copy any more. Throws what the operation throws.
  void combine();
  /// The same, after which the copies begin anew. When nobody takes a copy for a while. Throws also what the identity throws; copies that
  /// were not added are dropped then.
  void combine_and_begin_anew();

 private:
  copy *make();
  void free(copy *c, bool is_filled) noexcept;
  void free_all(const copy *unfilled) noexcept;
  void add(const copy &c) { m_how.ops->combine(const_cast<void *>(m_how.address), c.data, static_cast<std::size_t>(m_how.count), m_how.how); }

  detail::reduction_spec m_how;
  copy_shelf<real_atomics, copy> m_shelf;
};

/// Everything that reduces has released. An exception is the failure of `parent`, whose children they were.
void combine_copies(reduction_store &store, task &parent) noexcept;
/// All that has reduced so far below `whole` has released; more may come. Throws.
void combine_copies_so_far(reduction_store &store, const task &whole);

/// The copy that a task has taken by a strong access of its own. It is where a weak access has the link to a child: a child
/// below a strong access is satisfied at once, and needs none.
[[nodiscard]] inline reduction_store::copy *copy_of(const data_access &a) noexcept {
  return reinterpret_cast<reduction_store::copy *>(a.child.get());
}
inline void set_copy(data_access &a, reduction_store::copy *c) noexcept { a.child.set(reinterpret_cast<data_access *>(c)); }

/// Gives back what a task has taken by a strong access to what it reduces.
inline void give_back_copy_of(data_access &a) noexcept {
  if (reduction_store::copy *c = copy_of(a)) {
    set_copy(a, nullptr);
    copy_shelf<real_atomics, reduction_store::copy>::give_back(*c);
  }
}
/// By any access; by all of its accesses.
void give_back_copy(data_access &a) noexcept;
void give_back_copies(task &t) noexcept;
/// A branch of a join ends that another worker has run.
void give_back_copies_of_branch(task &branch) noexcept;

} // namespace rt
} // namespace weft::inline v0
