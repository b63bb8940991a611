// SPDX-License-Identifier: Apache-2.0
// The bytes that the children of a task have touched, in fragments: who came last to each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class region_scope;

/// What a task does with a byte. Accesses of one kind other than `write` do not wait for each other.
enum class touch : std::uint8_t { write, read, concurrent };
inline bool shares(touch a, touch b) noexcept { return a == b && a != touch::write; }

/// A part of what a task accesses. Those of one task are sorted, and have no byte in common.
struct region_piece {
  std::uintptr_t low, end; // end: the first byte behind it
  touch kind;
  bool weak;
};

/// Tasks that a fragment names. Naming one keeps its memory, not its place in the order: those that have ended count as gone.
class crew {
public:
  crew() noexcept = default;
  crew(const crew &other);
  crew(crew &&other) noexcept;
  crew &operator=(crew &&other) noexcept;
  crew &operator=(const crew &) = delete;
  ~crew() { clear(); }

  /// Makes room for one more; may drop those that have ended. Throws std::bad_alloc, with nothing changed.
  void reserve_one();
  void add(region_scope &s) noexcept; // room was reserved
  void clear() noexcept;
  void drop_ended() noexcept;
  [[nodiscard]] bool any_live() const noexcept;
  [[nodiscard]] bool contains(const region_scope &s) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return m_first ? 1 + m_more.size() : 0; }

  /// f(scope) for those that have not ended.
  template <class F>
  void for_each(F &&f) const;

private:
  region_scope *m_first = nullptr; // most have one
  std::vector<region_scope *> m_more;
};

/// One run of bytes with one history.
struct fragment {
  std::uintptr_t end = 0;
  touch kind = touch::write; // of `last`
  crew last;                 // who touched it last: one writer, or all that share it; who does not share waits for these
  crew before;               // who came before those that share it; who joins them waits for these
};

/// Fragments by their first byte; they have no byte in common.
class region_map {
public:
  using map = std::map<std::uintptr_t, fragment>;
  using iterator = map::iterator;

  [[nodiscard]] bool empty() const noexcept { return m_fragments.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return m_fragments.size(); }
  [[nodiscard]] iterator begin() noexcept { return m_fragments.begin(); }
  [[nodiscard]] iterator end() noexcept { return m_fragments.end(); }

  /// To be called before fragments are added: forgets some when they have become many.
  void make_room() noexcept {
    if (m_fragments.size() >= m_prune_at) [[unlikely]]
      prune();
  }
  /// Adds one behind all others.
  void append(std::uintptr_t low, fragment &&f) { m_fragments.emplace_hint(m_fragments.end(), low, std::move(f)); }
  /// Lets fragments begin at `low` and end at `high`, and fills what is free in between: the first of them. Throws std::bad_alloc;
  /// what was split until then stays split, which means the same.
  iterator cover(std::uintptr_t low, std::uintptr_t high);
  /// The same without filling: the first fragment at or behind `low`.
  iterator cut(std::uintptr_t low, std::uintptr_t high);
  /// The first fragment with a byte at or behind `low`.
  [[nodiscard]] iterator find(std::uintptr_t low) noexcept;
  /// Makes one of those from `first` up to `high`.
  void unite(iterator first, std::uintptr_t high) noexcept;
  /// Forgets what nobody waits for any more.
  void prune() noexcept;
  void clear() noexcept { m_fragments.clear(); }

private:
  iterator split(iterator at, std::uintptr_t where);

  static constexpr std::size_t k_least_to_prune = 64;
  map m_fragments;
  std::size_t m_prune_at = k_least_to_prune; // doubles with what is needed, so that a look at all costs little per fragment
};

} // namespace rt
} // namespace weft::inline v0
