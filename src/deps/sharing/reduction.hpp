// SPDX-License-Identifier: Apache-2.0
// The private copies of a reduction: made when a task first asks for one, held by one task at a
// time, combined in the end.
//
// Roles       A holder: a task, or a branch of a join. It takes a copy on the worker that runs it:
//             take_near; else take; else a new copy and add. The ender of a holder, any thread:
//             gives back the copy. The combiner, while no task takes a copy: walks the list from
//             first(), and adds all copies to the target. It is the ender of the cohort, or a
//             taskiter, whose copies then begin anew.
// Word        holder of a copy: the task that has it, or null (the copy is free). A copy has a
//             home, the worker that it was made on. near: a table of hints; the hint of a home, at
//             the worker's number modulo the size of the table, names the copy that take or add
//             gave out last there, or is null. Workers that share a hint find each other's copies
//             in it, and compare the home. m_lock guards the list of all copies. fresh of a copy,
//             plain: no task has taken it since the combiner filled it anew; the combiner skips
//             such copies.
// Invariants  I1  Only a copy's home gives the copy out, so no two threads that find the copy free
//                 both give it out.
//             I2  Copies are taken out of the list only while no task holds one, and all hints are
//                 cleared with them. So a hint names a copy that exists. All hints are cleared,
//                 too, when the copies begin anew. So a hint names no fresh copy, and only take
//                 clears fresh.
// Orders      O1  near store release, load acquire, with each other: the copy's home and data are
//                 written before a worker finds the copy.
//             O2  holder store release when the copy is given back, load acquire when it is taken:
//                 the next holder goes on where the last one left. Relaxed when the copy is taken
//                 (I1), and when a holder looks for itself.
//             The combiner loads no holder: it runs after the holders have released their accesses.
// Progress    Wait-free: to take the copy that is near, and to give back what a task has. All else:
//             a spin lock, and a walk over all copies.
// Reclamation With the store, which its cohort or taskiter frees; or when the copies cannot begin
//             anew because a combination or filling has thrown.
// Source      own
// Checked by  tests/model/cohort_models.cpp: reduction_*
#pragma once

#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"
#include "task/task.hpp"
#include "weft/detail/reduction.hpp"

namespace weft::inline v0 {
namespace rt {

/// Returns whether the two add up in the same way, so that their tasks may share copies.
[[nodiscard]] inline bool is_same(const detail::reduction_spec &a,
                                  const detail::reduction_spec &b) noexcept {
  return a.ops == b.ops && a.count == b.count && a.bytes == b.bytes &&
         (!a.ops->is_same || a.ops->is_same(a.how, b.how));
}
/// Does the same as far as that is possible without a call.
[[nodiscard]] WEFT_INLINE bool is_trivially_same(const detail::reduction_spec &a,
                                                 const detail::reduction_spec &b) noexcept {
  return a.ops == b.ops && a.count == b.count && a.bytes == b.bytes && !a.ops->is_same;
}
/// Holds copies in the order in which they were made. A task holds a copy, or the copy is free. P
/// is for the models.
template <class P, class Copy>
class copy_shelf {
 public:
  /// Takes a free copy of the home for a holder that has none, if the hint names one; else returns
  /// null. `id`: the number of the home.
  [[nodiscard]] Copy *take_near(const void *holder, const void *home, unsigned id) noexcept {
    Copy *c = near(id).load(std::memory_order_acquire); // O1
    if (!c || c->home.get() != home || c->holder.load(std::memory_order_acquire)) // O2
      return nullptr;
    c->holder.store(holder, std::memory_order_relaxed); // O2
    return c;
  }

  /// Returns the copy that `holder` has, else takes a free one of its home. Returns null if there
  /// is none.
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
      near(id).store(found, std::memory_order_release); // O1
    }
    return found;
  }

  /// Adds a new copy, held by `holder`.
  void add(Copy &partial, const void *holder, const void *home, unsigned id) noexcept {
    partial.holder.store(holder, std::memory_order_relaxed); // O2
    partial.home.set(home);
    m_lock.lock();
    if (Copy *last = m_last.get())
      last->next.set(&partial);
    else
      m_first.set(&partial);
    m_last.set(&partial);
    m_lock.unlock();
    near(id).store(&partial, std::memory_order_release); // O1
  }

  static void give_back(Copy &partial) noexcept {
    partial.holder.store(
        nullptr, order_unless(bug::copy_given_back_relaxed, std::memory_order_release)); // O2
  }
  /// Gives back the copy of a holder whose copy the caller does not know.
  void give_back_of(const void *holder) noexcept {
    m_lock.lock();
    for (Copy *c = m_first.get(); c; c = c->next.get())
      if (c->holder.load(std::memory_order_relaxed) == holder) // O2
        give_back(*c);
    m_lock.unlock();
  }

  /// Returns the oldest copy. Called when no task takes a copy any more.
  [[nodiscard]] Copy *first() const noexcept { return m_first.get(); }
  /// Clears all hints, so that take() sees which copies are used from then on. Called while no task
  /// takes a copy; operations after that time see the change.
  void forget_hints() noexcept {
    for (hint &h : m_near)
      h.store(nullptr, std::memory_order_relaxed); // O1: nothing is passed on
  }
  /// Forgets all copies, which are gone.
  void clear() noexcept {
    forget_hints();
    m_first.set(nullptr);
    m_last.set(nullptr);
  }

 private:
  static constexpr unsigned k_near =
      16; // a power of two; with more workers, those of one number take turns with the lock
  using hint = typename P::template atomic<Copy *>;
  hint &near(unsigned id) noexcept { return m_near[id % k_near]; }

  hint m_near[k_near] = {};
  spin_lock<P> m_lock;
  typename P::template var<Copy *> m_first{};
  typename P::template var<Copy *> m_last{};
};

/// Precedes the data of a copy, in one block with them.
template <class P>
struct basic_reduction_copy {
  typename P::template var<basic_reduction_copy *> next{};
  typename P::template atomic<const void *> holder{nullptr}; // null: free
  typename P::template var<const void *> home{}; // the worker that it was made on
  void *data = nullptr;
  typename P::template var<bool> fresh{}; // no task has taken it since it was filled
};

class reduction_store {
 public:
  using copy = basic_reduction_copy<real_atomics>;
  explicit reduction_store(const detail::reduction_spec &spec); // keeps a copy of what adds up
  ~reduction_store();
  reduction_store(const reduction_store &) = delete;
  reduction_store &operator=(const reduction_store &) = delete;

  [[nodiscard]] const detail::reduction_spec &how() const noexcept { return m_how; }
  [[nodiscard]] bool holds(std::ptrdiff_t count, std::size_t bytes) const noexcept {
    return m_how.count == count && m_how.bytes == bytes;
  }
  /// Does what the function of copy_shelf does.
  [[nodiscard]] copy *take_near(const void *holder, const void *home, unsigned id) noexcept {
    return m_shelf.take_near(holder, home, id);
  }
  /// Returns the holder's copy, and makes one if needed. Throws what the identity throws, or
  /// std::bad_alloc.
  [[nodiscard]] copy &copy_for(const void *holder, const void *home, unsigned id);
  void give_back_of(const void *holder) noexcept { m_shelf.give_back_of(holder); }
  /// Adds all copies to the target, oldest copy first. Called when no task takes a copy any more.
  /// Throws what the operation throws.
  void combine();
  /// Does the same, after which the copies begin anew. Called while no task takes a copy. Throws
  /// also what the identity throws; copies that were not added are dropped then.
  void combine_and_begin_anew();

 private:
  copy *make();
  void free(copy *partial, bool is_filled) noexcept;
  void free_all(const copy *unfilled) noexcept;
  void add(const copy &partial) {
    m_how.ops->combine(const_cast<void *>(m_how.address), partial.data,
                       static_cast<std::size_t>(m_how.count), m_how.how);
  }

  detail::reduction_spec m_how;
  copy_shelf<real_atomics, copy> m_shelf;
};

/// Combines the copies, after all tasks that reduce have released. An exception is the failure of
/// `parent`, whose children these tasks were.
void combine_copies(reduction_store &store, task &parent) noexcept;
/// Combines the copies of all tasks that have reduced so far below `whole`. These tasks have
/// released; more may come. Throws.
void combine_copies_so_far(reduction_store &store, task &whole);
/// Returns the task that stands for the operation of a reduction if `t` is that task, or a branch of a
/// join in it; else null. Its parent is the task below which the copies were made.
[[nodiscard]] const task *operation_of(const task &t) noexcept;

/// Lets a thread that has no context until the operation of a reduction uses Weft go on in the
/// operation.
void enter_operation(thread_context &adopted) noexcept;

/// Returns the copy that a task has taken by a strong access of its own. The copy is kept where a
/// weak access has the link to a child: a child below a strong access is satisfied at once, and
/// needs no link.
[[nodiscard]] inline reduction_store::copy *copy_of(const data_access &a) noexcept {
  return reinterpret_cast<reduction_store::copy *>(a.child.get());
}
inline void set_copy(data_access &a, reduction_store::copy *partial) noexcept {
  a.child.set(reinterpret_cast<data_access *>(partial));
}

/// Gives back the copy that a task has taken by a strong access to what it reduces.
inline void give_back_copy_of(data_access &a) noexcept {
  if (reduction_store::copy *c = copy_of(a)) {
    set_copy(a, nullptr);
    copy_shelf<real_atomics, reduction_store::copy>::give_back(*c);
  }
}
/// Give back what a task has taken by any access, and by all of its accesses.
void give_back_copy(data_access &a) noexcept;
void give_back_copies(task &t) noexcept;
/// Gives back the copies of a branch of a join that ends, and that another worker has run.
void give_back_copies_of_branch(task &branch) noexcept;

} // namespace rt
} // namespace weft::inline v0
