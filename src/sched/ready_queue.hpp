// SPDX-License-Identifier: Apache-2.0
// Plain code, for use behind a lock: larger priorities first; first in, first out among equals. A
// waiting frame takes from an end of its own: the newest task that its worker added. So a recursion
// goes in depth and not in breadth. Each item is in the list of its priority. A task that a worker
// added is also in the list of that worker.
#pragma once

#include "base/intrusive_list.hpp"
#include "sched/policy.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Holds 256 bits, and finds the lowest one that is set in a few steps.
class bits_of_256 {
 public:
  static constexpr unsigned k_none = 256;
  void set(unsigned i) noexcept { m_words[i / 64] |= std::uint64_t{1} << (i % 64); }
  void clear(unsigned i) noexcept { m_words[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  [[nodiscard]] unsigned first() const noexcept {
    for (unsigned w = 0; w != 4; ++w)
      if (m_words[w] != 0)
        return 64 * w + static_cast<unsigned>(std::countr_zero(m_words[w]));
    return k_none;
  }

 private:
  std::uint64_t m_words[4] = {};
};

/// Holds a list for each of 65,536 keys. Finds the smallest key in use in the same time, however
/// many there are. The first use of a list makes a page of 256 lists.
template <class List>
class lists_by_key {
 public:
  static constexpr std::uint32_t k_none = 1 << 16;
  /// Returns the list of a key. Throws std::bad_alloc. The caller marks the key as used or empty.
  List &at(std::uint32_t key) {
    std::unique_ptr<page> &p = m_pages[key >> 8];
    if (!p) [[unlikely]]
      p = std::make_unique<page>();
    return p->lists[key & 255];
  }
  void mark_used(std::uint32_t key) noexcept {
    m_pages[key >> 8]->used.set(key & 255);
    m_used.set(key >> 8);
  }
  void mark_empty(std::uint32_t key) noexcept {
    bits_of_256 &used = m_pages[key >> 8]->used;
    used.clear(key & 255);
    if (used.first() == bits_of_256::k_none)
      m_used.clear(key >> 8);
  }
  /// Returns the smallest key in use, or k_none.
  [[nodiscard]] std::uint32_t first() const noexcept {
    const unsigned p = m_used.first();
    return p == bits_of_256::k_none ? k_none : (p << 8) + m_pages[p]->used.first();
  }

 private:
  struct page {
    bits_of_256 used;
    std::array<List, 256> lists;
  };
  bits_of_256 m_used;
  std::array<std::unique_ptr<page>, 256> m_pages;
};

class ready_queue {
 public:
  /// Adds an item. If there is no memory for its place, the item is the next to be given, whatever
  /// its priority.
  void add(runnable *item, unsigned adder = k_outside) noexcept {
    if (item->what != runnable::kind::task)
      adder = k_outside;
    try {
      grow(adder);
      if (item->priority == 0) {
        link_in(item, adder, m_normal);
      } else {
        link_in(item, adder, m_other.at(key_of(*item)));
        m_other.mark_used(key_of(*item));
      }
    } catch (const std::bad_alloc &) {
      if (!keep_from_waiters(*item))
        return;
      m_without_place.push_back(item);
    }
    ++m_size;
  }

  /// Takes the oldest item of the largest priority.
  runnable *get() {
    if (m_size == 0)
      return nullptr;
    if (runnable *r = m_without_place.pop_front()) [[unlikely]] {
      --m_size;
      return r;
    }
    const std::uint32_t first = m_other.first();
    const bool other = first < k_key_of_0 || !m_normal.oldest;
    return remove(other ? m_other.at(first).oldest : m_normal.oldest);
  }

  /// Takes the newest task of `adder`, if the task is of the lineage and nothing of a larger
  /// priority is ready.
  runnable *take_newest(unsigned adder, const lineage &waited_for) {
    const link n = adder < m_tops.size() ? m_tops[adder] : k_none;
    if (!n || is_outranked(*at(n).item) || !waited_for.includes(*at(n).item))
      return nullptr;
    return remove(n);
  }

  [[nodiscard]] std::size_t size() const noexcept { return m_size; }
  /// Returns the largest priority in the queue if that is positive, else 0.
  [[nodiscard]] std::int32_t top() const noexcept {
    const std::uint32_t first = m_other.first();
    return first < k_key_of_0 ? static_cast<std::int32_t>(k_key_of_0 - first) : 0;
  }

 private:
  /// Keeps waiters from a task, which needs its link itself when it runs. False: a waiter has begun
  /// the task, and this entry is used up: a later one, which destroys the closure, is run. The
  /// task's block is never freed, because no code of the user may run here.
  static bool keep_from_waiters(runnable &item) noexcept {
    if (item.base() != runnable::kind::task ||
        !static_cast<task &>(item).has_meanwhile(detail::k_tracked))
      return true;
    auto &word = static_cast<task &>(item).unsatisfied;
    return hold(word) || take_entry(word);
  }

  using link = std::uint32_t; // an index into m_nodes
  static constexpr link k_none = 0;

  struct node {
    runnable *item = nullptr;
    link older = k_none, newer = k_none; // of the same priority; newer also links what is free
    link below = k_none, above = k_none; // of the same adder
    unsigned adder = k_outside;
  };
  struct list {
    link oldest = k_none, newest = k_none;
  };

  node &at(link place) noexcept { return m_nodes[place]; }
  static constexpr std::uint32_t k_key_of_0 = INT16_MAX; // the smaller the more urgent
  static std::uint32_t key_of(const runnable &item) noexcept {
    return k_key_of_0 - static_cast<std::uint32_t>(std::int32_t{item.priority});
  }

  [[nodiscard]] bool is_outranked(const runnable &item) const noexcept {
    return m_other.first() < key_of(item) || (item.priority < 0 && m_normal.oldest);
  }

  void grow(unsigned adder) {
    if (adder != k_outside && adder >= m_tops.size())
      m_tops.resize(adder + 1, k_none);
    if (!m_free) {
      m_nodes.emplace_back();
      m_free = static_cast<link>(m_nodes.size() - 1);
    }
  }

  void link_in(runnable *item, unsigned adder, list &to) noexcept {
    const link n = std::exchange(m_free, at(m_free).newer);
    at(n) = {item, to.newest, k_none, k_none, k_none, adder};
    (to.newest ? at(to.newest).newer : to.oldest) = n;
    to.newest = n;
    if (adder == k_outside)
      return;
    const link below = std::exchange(m_tops[adder], n);
    at(n).below = below;
    if (below)
      at(below).above = n;
  }

  runnable *remove(link place) {
    const node gone = at(place);
    const bool normal = gone.item->priority == 0;
    list &l = normal ? m_normal : m_other.at(key_of(*gone.item));
    (gone.older ? at(gone.older).newer : l.oldest) = gone.newer;
    (gone.newer ? at(gone.newer).older : l.newest) = gone.older;
    if (!normal && !l.oldest)
      m_other.mark_empty(key_of(*gone.item));
    if (gone.adder != k_outside) {
      (gone.above ? at(gone.above).below : m_tops[gone.adder]) = gone.below;
      if (gone.below)
        at(gone.below).above = gone.above;
    }
    at(place).newer = m_free;
    m_free = place;
    --m_size;
    return gone.item;
  }

  std::vector<node> m_nodes = std::vector<node>(1); // the first stands for none
  std::vector<link> m_tops; // by adder
  intrusive_queue<runnable> m_without_place;
  list m_normal;
  lists_by_key<list> m_other; // of all other priorities
  link m_free = k_none;
  std::size_t m_size = 0;
};

} // namespace rt
} // namespace weft::inline v0
