// SPDX-License-Identifier: Apache-2.0
// The bytes that the children of a task have touched, in fragments: which tasks came last to each
// of them.
#pragma once

#include <weft/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class region_scope;

/// Says what a task does with a byte. Accesses of one kind other than `write` do not wait for each
/// other.
enum class touch : std::uint8_t { write, read, concurrent };
inline bool shares(touch a, touch b) noexcept { return a == b && a != touch::write; }

/// Describes a part of what a task accesses. The pieces of one task are sorted, and have no byte in
/// common.
struct region_piece {
  std::uintptr_t low, end; // end: the first byte behind it
  touch kind;
  bool weak;
  bool released = false; // given up by the running task
};

/// Holds the pieces of one task. Most tasks have one piece, which needs no memory of its own.
class piece_list {
 public:
  void push_back(const region_piece &piece) { // may throw std::bad_alloc
    if (m_count == 0) [[likely]]
      m_one = piece;
    else
      push_more(piece);
    ++m_count;
  }
  void clear() noexcept { m_count = 0; }
  void assign(std::vector<region_piece> &&all) noexcept {
    m_count = all.size();
    if (m_count == 1)
      m_one = all.front();
    m_more = std::move(all);
  }
  /// Makes room for the pieces that one call of give_up() adds. Throws std::bad_alloc.
  void reserve_for_give_up();
  /// Marks what the pieces, at least one, have of these bytes as released. Released bytes without a
  /// gap between them make one piece, whatever was done with them.
  void give_up(std::uintptr_t low, std::uintptr_t end) noexcept;
  /// Returns the first piece with a byte at or behind `low`.
  [[nodiscard]] const region_piece *first_behind(std::uintptr_t low) const noexcept {
    return std::partition_point(begin(), end(),
                                [=](const region_piece &p) { return p.end <= low; });
  }
  /// Takes all pieces, if there is more than one, for assign().
  [[nodiscard]] std::vector<region_piece> take() noexcept { return std::exchange(m_more, {}); }
  [[nodiscard]] bool empty() const noexcept { return m_count == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return m_count; }
  [[nodiscard]] const region_piece &front() const noexcept { return *begin(); }
  [[nodiscard]] const region_piece *begin() const noexcept {
    return m_count <= 1 ? &m_one : m_more.data();
  }
  [[nodiscard]] const region_piece *end() const noexcept { return begin() + m_count; }

 private:
  WEFT_NOINLINE void push_more(const region_piece &piece) {
    if (m_count == 1)
      m_more.assign(1, m_one);
    m_more.push_back(piece);
  }
  region_piece m_one{};
  std::vector<region_piece> m_more; // all pieces when there is more than one
  std::size_t m_count = 0;
};

/// Holds the tasks that a fragment names. To name a task keeps its memory, not its place in the
/// order: tasks that have ended count as gone.
class accessor_set {
 public:
  accessor_set() noexcept = default;
  accessor_set(const accessor_set &other);
  accessor_set(accessor_set &&other) noexcept;
  accessor_set &operator=(accessor_set &&other) noexcept;
  accessor_set &operator=(const accessor_set &) = delete;
  ~accessor_set() { clear(); }

  /// Makes room for one more task, and may drop tasks that have ended. Throws std::bad_alloc, with
  /// nothing changed.
  void reserve_one();
  void add(region_scope &scope) noexcept; // room was reserved
  void remove(region_scope &scope) noexcept;
  void clear() noexcept;
  void drop_ended() noexcept;
  [[nodiscard]] bool any_live() const noexcept;
  /// Returns whether a task other than this one is named and has not ended.
  [[nodiscard]] bool any_live_beside(const region_scope &scope) const noexcept;
  /// Returns whether the task is named. May change the order of the others, so that the next call
  /// takes few steps.
  [[nodiscard]] bool contains(const region_scope &scope) noexcept {
    return m_first == &scope || find(scope) != m_more.end();
  }
  [[nodiscard]] bool has_more() const noexcept { return !m_more.empty(); }
  [[nodiscard]] region_scope *first() const noexcept { return m_first; }
  /// Puts `scope` in the place of the only task, and returns that task: its naming passes to the
  /// caller.
  region_scope *replace_first(region_scope &scope) noexcept {
    return std::exchange(m_first, &scope);
  }

  /// Calls f(scope) for each task that has not ended.
  template <class F>
  void for_each(F &&f) const;

 private:
  using list = std::vector<region_scope *>;
  [[nodiscard]] list::iterator find(const region_scope &scope) noexcept;
  void sort_behind(list::iterator sorted) noexcept;
  void take_first_from_end() noexcept;

  region_scope *m_first = nullptr; // most sets have one task
  list m_more;
  std::size_t m_sorted = 0; // so many of them, the first ones, are sorted by their addresses
};

/// Describes one run of bytes with one history.
struct fragment {
  std::uintptr_t end = 0;
  touch kind = touch::write; // of `last`
  accessor_set
      last; // the last tasks: one writer, or all that share the bytes; a task that does not share waits for these
  accessor_set
      before; // the tasks before the sharing ones; a task that joins in sharing waits for these
};

/// Holds fragments by their first byte; they have no byte in common. Beside the tree there is a
/// table of some fragments, by the hash of their first byte: a lookup finds regions that do not
/// overlap partly there.
class region_map {
 public:
  region_map() noexcept = default;
  ~region_map();
  region_map(const region_map &) = delete;
  region_map &operator=(const region_map &) = delete;

  using map = std::map<std::uintptr_t, fragment>;
  using iterator = map::iterator;

  [[nodiscard]] bool empty() const noexcept { return m_fragments.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return m_fragments.size(); }
  [[nodiscard]] iterator begin() noexcept { return m_fragments.begin(); }
  [[nodiscard]] iterator end() noexcept { return m_fragments.end(); }

  /// Forgets some fragments if they have become many. Called before fragments are added.
  void reserve_one() noexcept {
    if (m_fragments.size() >= m_prune_at) [[unlikely]]
      prune();
  }
  /// Returns the fragment of exactly these bytes, or null if there is none, or the table does not
  /// know the fragment.
  [[nodiscard]] fragment *exact(std::uintptr_t low, std::uintptr_t high) const noexcept {
    const noted &n = m_noted[slot_of(low)];
    return n.low == low && n.at->second.end == high ? &n.at->second : nullptr;
  }
  /// Enters a fragment into the table.
  void note(iterator at) noexcept;
  /// Adds a fragment behind all others.
  void append(std::uintptr_t low, fragment &&part) {
    m_fragments.emplace_hint(m_fragments.end(), low, std::move(part));
  }
  /// Lets fragments begin at `low` and end at `high`, fills the free bytes in between, and returns
  /// the first fragment. Throws std::bad_alloc; fragments that were split until then stay split,
  /// which means the same.
  iterator cover(std::uintptr_t low, std::uintptr_t high);
  /// Does the same without filling, and returns the first fragment at or behind `low`.
  iterator cut(std::uintptr_t low, std::uintptr_t high);
  /// Returns the first fragment with a byte at or behind `low`.
  [[nodiscard]] iterator find(std::uintptr_t low) noexcept;
  /// Makes one fragment of those from `first` up to `high`.
  void unite(iterator first, std::uintptr_t high) noexcept;
  /// Forgets fragments that no task can wait for any more.
  void prune() noexcept;
  void clear() noexcept {
    if (!m_fragments.empty())
      forget_all();
  }

 private:
  struct noted {
    std::uintptr_t low = 0; // 0: nothing; no region begins there
    iterator at{};
  };
  iterator split(iterator at, std::uintptr_t where);
  iterator erase(iterator at) noexcept;
  void forget_all() noexcept;
  void make_table(unsigned shift) noexcept;
  [[nodiscard]] std::size_t slot_of(std::uintptr_t low) const noexcept {
    return static_cast<std::size_t>((std::uint64_t{low} * 0x9E3779B97F4A7C15u) >> m_shift);
  }

  static constexpr std::size_t k_least_to_prune = 64;
  static constexpr unsigned k_most_shift = 63,
                            k_first_shift = 60; // a table has 2^(64 - shift) slots
  static noted s_nothing_noted[2]; // never written
  noted *m_noted = s_nothing_noted;
  unsigned m_shift = k_most_shift;
  map m_fragments;
  std::size_t m_prune_at =
      k_least_to_prune; // doubles with the fragments needed, so that a look at all of them costs little per fragment
};

} // namespace rt
} // namespace weft::inline v0
