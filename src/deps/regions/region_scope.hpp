// SPDX-License-Identifier: Apache-2.0
// The second system of dependencies: accesses are sets of bytes, and tasks are ordered where their
// bytes overlap. docs/design/regions.md says what that means, and why it is right.
#pragma once

#include "deps/domain.hpp"
#include "deps/regions/region_map.hpp"
#include "deps/regions/region_shape.hpp"
#include "deps/regions/run_index.hpp"
#include "queue/spin_lock.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Holds what one lock guards: a task whose own accesses are no regions, and all tasks below it
/// whose accesses are.
struct region_tree {
  spin_lock<> lock;
  region_scope *spare = nullptr; // scopes to be used again
  region_scope *deferred =
      nullptr; // scopes whose task is over, and that there was no memory to end
  std::size_t live = 0;          // scopes that are in use; with the last one the tree goes
};

/// Holds the lock of a tree.
class tree_guard {
 public:
  explicit tree_guard(region_tree &tree) noexcept : m_tree(tree) { tree.lock.lock(); }
  ~tree_guard() {
    const bool over = m_tree.live == 0;
    m_tree.lock.unlock();
    if (over) [[unlikely]]
      fell();
  }
  tree_guard(const tree_guard &) = delete;
  tree_guard &operator=(const tree_guard &) = delete;

 private:
  WEFT_NOINLINE void fell() noexcept; // no scope is left below the task
  region_tree &m_tree;
};

/// Represents a task in this system: what it accesses, which tasks wait for it, and what its
/// children have touched. The lock of the tree guards all of this. The scope is the domain of the
/// task's children, one without addresses, so that a thread that looks for an address takes the
/// slow way.
class region_scope : public domain {
 public:
  explicit region_scope(region_tree &tree) noexcept : m_tree(tree) {}

  [[nodiscard]] region_tree &tree() const noexcept { return m_tree; }
  [[nodiscard]] bool has_ended() const noexcept { return m_ended; }
  /// Returns whether no child that named a region is left, and none of the task's own accesses is a
  /// region.
  [[nodiscard]] bool is_idle_root() const noexcept { return !m_in && m_map.empty(); }
  void retain() noexcept { ++m_uses; }
  void drop() noexcept {
    if (--m_uses == 0)
      put_back();
  }

  /// Makes a scope for the task, which end() drops. Throws std::bad_alloc.
  static region_scope &take(region_tree &tree, task &owner) {
    region_scope *const s = tree.spare ? tree.spare : new region_scope(tree);
    tree.spare = s->m_next_spare;
    ++tree.live;
    s->m_task = &owner;
    s->m_in = nullptr;
    s->m_uses = 1;
    s->m_missing = 0;
    s->m_ended = false;
    s->addresses_before = nullptr;
    return *s;
  }
  void abandon() noexcept; // drops a scope that was not entered

  /// Adds an access of the task. After the last access sort_pieces() makes pieces of them. Throws
  /// std::bad_alloc.
  void add(std::uintptr_t low, std::uintptr_t end, touch kind, bool weak) {
    m_pieces.push_back({low, end, kind, weak});
  }
  void sort_pieces();
  /// Returns whether the running task writes all of these bytes itself, so that no other task
  /// touches them meanwhile.
  [[nodiscard]] bool writes(std::uintptr_t low, std::uintptr_t end) const noexcept;
  /// Returns the accesses of the task, for an observer that looks while they do not change.
  [[nodiscard]] const piece_list &pieces() const noexcept { return m_pieces; }
  /// Returns the access that has the byte, or null if none has.
  [[nodiscard]] const region_piece *piece_at(std::uintptr_t byte) const noexcept;
  /// Returns whether the accesses of the running task have all of these bytes, given up or not.
  [[nodiscard]] bool covers(std::uintptr_t low, std::uintptr_t end) const noexcept;
  [[nodiscard]] bool touches_nothing() const noexcept { return m_pieces.empty(); }

  /// Puts the task behind the earlier children in `parents`, the scope of its parent. Returns
  /// whether it waits for no task. Throws std::bad_alloc with nothing changed.
  bool enter(region_scope &parents);
  /// Does what enter() does in the common shape: one access, a writer of bytes that one writer
  /// before it had, and no other task. Returns false if nothing was done.
  bool enter_exactly(region_scope &parents) noexcept;
  [[nodiscard]] bool waits() const noexcept { return m_missing != 0; }
  /// Ends the scope of a task that has given up its accesses: what its children still hold takes
  /// their place. Appends tasks that may run now to `ready`. If there is no memory for that, the
  /// scope holds the accesses until other scopes of the tree have ended.
  void end(ready_list &ready) {
    region_tree &tree = m_tree;
    if (!try_to_end(ready)) [[unlikely]]
      defer();
    else if (tree.deferred) [[unlikely]]
      end_deferred(tree, ready);
  }
  /// Tries to end the scope. Returns false if there is no memory: the scope then holds what it has
  /// not passed on.
  [[nodiscard]] bool try_to_end(ready_list &ready) {
    if (m_in && !m_map.empty() && !pass_to_successors()) [[unlikely]]
      return false;
    m_ended = true;
    for (region_scope *s : m_successors)
      if (--s->m_missing == 0)
        ready.push_back(s->m_task);
    if (m_successors.size() > 1 || m_pieces.size() > 1 || !m_map.empty() || !m_copies.empty())
        [[unlikely]]
      forget();
    m_successors.clear();
    m_pieces.clear();
    if (m_in)
      std::exchange(m_in, nullptr)->drop();
    drop();
    return true;
  }
  /// Gives up what the running task has of these bytes. Appends tasks that may run now to `ready`.
  /// Throws std::bad_alloc with nothing given up.
  void give_up(std::uintptr_t low, std::uintptr_t end, ready_list &ready);
  /// Calls f for each task that waits until this task has given up its accesses. Called while
  /// nothing runs.
  template <class F>
  void for_each_successor(F &&f) const {
    for (const region_scope *s : m_successors)
      f(*s->m_task);
  }

  /// Calls f(address) where runs of bytes begin that the task's children have touched.
  template <class F>
  void for_each_begin(F &&f) {
    for (const auto &[low, run] : m_map)
      f(reinterpret_cast<const void *>(low));
  }

  /// Forgets what no task can wait for any more.
  void prune() noexcept { m_map.prune(); }

  domain *addresses_before =
      nullptr; // what the task's children had entered by address before the first region came

 private:
  struct remainder;
  void put_back() noexcept {
    m_next_spare = m_tree.spare;
    m_tree.spare = this;
    --m_tree.live;
  }
  WEFT_COLD void defer() noexcept {
    m_next_spare = m_tree.deferred;
    m_tree.deferred = this;
  }
  WEFT_COLD static void end_deferred(region_tree &tree, ready_list &ready);
  WEFT_NOINLINE void forget() noexcept;
  WEFT_NOINLINE bool pass_to_successors() noexcept;
  void reserve_links(const fragment &part, const region_piece &piece);
  void inherit(const fragment &part, std::uintptr_t low, bool joins);
  void link(fragment &part, const region_piece &piece) noexcept;
  std::vector<remainder> remainders();
  std::vector<remainder> all_of(std::uintptr_t low, std::uintptr_t end);
  [[nodiscard]] bool waits_for_any(const std::vector<remainder> &parts) const noexcept;
  [[nodiscard]] std::vector<region_scope *> successors_at(const std::vector<remainder> &parts);
  void index_successors();
  /// Says why heirs take the place of the task: it has ended, or gives up a part.
  enum class because { it_ends, it_gives_up };
  void pass_on(const std::vector<remainder> &left, const std::vector<region_scope *> &successors,
               because why);
  void pass_to(region_scope &successor, const std::vector<remainder> &left);
  [[nodiscard]] bool holds_back(const region_scope &successor) const noexcept;
  void count_down(const std::vector<region_scope *> &successors, ready_list &ready) noexcept;
  void replace_me_in(region_scope &where, const std::vector<remainder> &left, because why);
  void replace_me_in(fragment &part, const fragment *mine, region_scope &where, because why);
  void gain(region_scope &successor);
  void note_copy(region_scope &where);

  friend class tree_guard;
  region_tree &m_tree;
  region_scope *m_next_spare = nullptr; // or the next deferred one
  task *m_task = nullptr;
  region_scope *m_in = nullptr; // scope of the parent; null: the task's own accesses are no regions
  std::uint32_t m_uses = 0;
  std::uint32_t m_missing = 0; // edges that lead to the task
  bool m_ended = false;
  piece_list m_pieces;
  std::vector<region_scope *> m_successors; // they wait for this scope, so they are alive
  std::vector<region_scope *> m_copies; // scopes beside m_in whose map may name this one; retained
  region_map m_map;
  /// Finds successors by their bytes.
  struct successor_index {
    struct entry {
      region_scope *scope;
      std::size_t place; // among the successors when the index was made
    };
    run_index<entry> runs;
    std::size_t known = 0; // so many successors, the first ones, are in it
  };
  std::unique_ptr<successor_index> m_index; // while parts of the accesses are given up
};

template <class F>
void accessor_set::for_each(F &&f) const {
  if (m_first && !m_first->has_ended())
    f(*m_first);
  for (region_scope *s : m_more)
    if (!s->has_ended())
      f(*s);
}

} // namespace rt
} // namespace weft::inline v0
