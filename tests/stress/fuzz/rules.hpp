// SPDX-License-Identifier: Apache-2.0
// What a task may do with a cell while its children run, so that every order that the model allows gives the
// serial result. The generator and the repairer keep to it.
#pragma once

#include "stress/fuzz/program.hpp"

#include <algorithm>

namespace fuzz {

/// Holds what a task may do with a cell, and which other tasks may be using the cell.
struct right {
  bool read = false, write = false; // itself
  bool child_read = false, child_write = false; // its children
  bool written = true; // holds a defined value: an out access must write first
  way share = way::none; // not none: the flags of above are false
  bool add = false; // itself, when it shares
};

/// Whether a child may name the cell so. A task that is alone with the cell may let its children share it in any way.
inline bool may_name(const right &r, access_mode m) {
  const way w = way_of(m);
  if (w == way::none)
    return is_write(m) ? r.child_write : r.child_read;
  if (r.share == way::none)
    return r.child_write && r.written;
  return w == r.share || (r.share == way::commutative && r.add);
}

inline constexpr right k_all_rights{true, true, true, true, true};
using right_map = std::map<int, right>;

/// The rights that accesses give to their task.
inline right_map rights_of(const node &n) {
  right_map rights;
  std::map<int, unsigned> ways; // a set per cell: two are an inout
  for (const use &u : n.uses)
    ways[u.cell] |= 1u << static_cast<unsigned>(way_of(u.mode));
  for (const use &u : n.uses) {
    right &r = rights[u.cell];
    if (const way w = way_of(u.mode);
        ways[u.cell] == 1u << static_cast<unsigned>(w) && w != way::none) {
      r.share = w;
      r.add = r.add || !is_weak(u.mode);
      continue;
    }
    bool fresh = !r.child_read && !r.child_write;
    bool reads = u.mode != access_mode::out && u.mode != access_mode::weak_out;
    if (fresh)
      r.written = reads;
    r.written = r.written || reads;
    r.child_read = true;
    r.child_write = r.child_write || is_write(u.mode);
    if (!is_weak(u.mode)) {
      r.read = true;
      r.write = r.write || is_write(u.mode);
    }
  }
  return rights;
}

/// The children that a body has not waited for, by what they may be touching.
class traffic {
 public:
  struct visit {
    const node *child;
    bool write;
    int group;
  };
  void add(int cell, visit v) { m_visits[cell].push_back(v); }
  [[nodiscard]] bool quiet(int cell, bool to_write) const {
    auto found = m_visits.find(cell);
    return found == m_visits.end() ||
           std::none_of(found->second.begin(), found->second.end(),
                        [&](const visit &v) { return to_write || v.write; });
  }
  [[nodiscard]] bool none() const {
    return std::all_of(m_visits.begin(), m_visits.end(),
                       [](auto &entry) { return entry.second.empty(); });
  }

  // What the waits bring to an end.
  void ungrouped_are_over() {
    forget([](int, const visit &v) { return v.group == k_no_group; });
  }
  void group_is_over(int group) {
    forget([&](int, const visit &v) { return v.group == group; });
  }
  void child_is_over(const node *child) {
    forget([&](int, const visit &v) { return v.child == child; });
  }
  /// A wait to read leaves the children of writers that only read.
  void cell_is_ready(int cell, bool to_write) {
    if (to_write)
      return forget([&](int c, const visit &) { return c == cell; });
    if (auto found = m_visits.find(cell); found != m_visits.end())
      for (visit &v : found->second)
        v.write = false;
  }

 private:
  template <class Gone>
  void forget(Gone gone) {
    for (auto &[cell, list] : m_visits)
      std::erase_if(list, [&, c = cell](const visit &v) {
        return gone(c, v);
      }); // clang 14 does not capture bindings
  }
  std::map<int, std::vector<visit>> m_visits;
};

} // namespace fuzz
