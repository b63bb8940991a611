// SPDX-License-Identifier: Apache-2.0
// Plain code, for use behind a lock: larger priorities first, first in, first out among equals. A waiting frame has an
// end of its own: it takes the newest task that its worker added, so that a recursion goes in depth and not in breadth.
// Each item stands in two lists: that of its priority, and, for tasks that a worker added, that of the worker.
#pragma once

#include "base/intrusive_list.hpp"
#include "sched/policy.hpp"

#include <cstdint>
#include <map>
#include <new>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class ready_queue {
 public:
  /// Without memory for its place an item is the next to be given, whatever its priority.
  void add(runnable *r, unsigned adder = k_outside) noexcept {
    if (r->what != runnable::kind::task)
      adder = k_outside;
    try {
      make_room(adder);
      link_in(r, adder, r->priority == 0 ? m_normal : m_other[key_of(*r)]);
    } catch (const std::bad_alloc &) {
      m_without_place.push_back(r);
    }
    ++m_size;
  }

  /// The oldest of the largest priority.
  runnable *get() {
    if (m_size == 0)
      return nullptr;
    if (runnable *r = m_without_place.pop_front()) [[unlikely]] {
      --m_size;
      return r;
    }
    const auto first = m_other.begin();
    const bool other = first != m_other.end() && (first->first < 0 || !m_normal.oldest);
    return remove(other ? first->second.oldest : m_normal.oldest);
  }

  /// The newest task of `adder`, if it is of the lineage and nothing of a larger priority is ready.
  runnable *take_newest(unsigned adder, const lineage &l) {
    const link n = adder < m_tops.size() ? m_tops[adder] : k_none;
    if (!n || is_outranked(*at(n).item) || !l.includes(*at(n).item))
      return nullptr;
    return remove(n);
  }

  [[nodiscard]] std::size_t size() const noexcept { return m_size; }
  /// The largest priority in it, if that is positive; else 0.
  [[nodiscard]] std::int32_t top() const noexcept { return m_other.empty() || m_other.begin()->first > 0 ? 0 : -m_other.begin()->first; }

 private:
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

  node &at(link n) noexcept { return m_nodes[n]; }
  static std::int32_t key_of(const runnable &r) noexcept { return -std::int32_t{r.priority}; }

  [[nodiscard]] bool is_outranked(const runnable &r) const noexcept {
    return (!m_other.empty() && m_other.begin()->first < key_of(r)) || (r.priority < 0 && m_normal.oldest);
  }

  void make_room(unsigned adder) {
    if (adder != k_outside && adder >= m_tops.size())
      m_tops.resize(adder + 1, k_none);
    if (!m_free) {
      m_nodes.emplace_back();
      m_free = static_cast<link>(m_nodes.size() - 1);
    }
  }

  void link_in(runnable *r, unsigned adder, list &l) noexcept {
    const link n = std::exchange(m_free, at(m_free).newer);
    at(n) = {r, l.newest, k_none, k_none, k_none, adder};
    (l.newest ? at(l.newest).newer : l.oldest) = n;
    l.newest = n;
    if (adder == k_outside)
      return;
    const link below = std::exchange(m_tops[adder], n);
    at(n).below = below;
    if (below)
      at(below).above = n;
  }

  runnable *remove(link n) {
    const node gone = at(n);
    const auto other = gone.item->priority == 0 ? m_other.end() : m_other.find(key_of(*gone.item));
    list &l = other == m_other.end() ? m_normal : other->second;
    (gone.older ? at(gone.older).newer : l.oldest) = gone.newer;
    (gone.newer ? at(gone.newer).older : l.newest) = gone.older;
    if (other != m_other.end() && !l.oldest)
      m_other.erase(other);
    if (gone.adder != k_outside) {
      (gone.above ? at(gone.above).below : m_tops[gone.adder]) = gone.below;
      if (gone.below)
        at(gone.below).above = gone.above;
    }
    at(n).newer = m_free;
    m_free = n;
    --m_size;
    return gone.item;
  }

  std::vector<node> m_nodes = std::vector<node>(1); // the first stands for none
  std::vector<link> m_tops;                         // by adder
  intrusive_queue<runnable> m_without_place;
  list m_normal;
  std::map<std::int32_t, list> m_other; // by negated priority; none is empty
  link m_free = k_none;
  std::size_t m_size = 0;
};

} // namespace rt
} // namespace weft::inline v0
