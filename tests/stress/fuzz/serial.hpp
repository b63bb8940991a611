// SPDX-License-Identifier: Apache-2.0
// What a program means: its serial run.
#pragma once

#include "stress/fuzz/program.hpp"

namespace fuzz {

/// Order matters: mix(mix(h, a), b) != mix(mix(h, b), a).
inline std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

using data = std::vector<std::uint64_t>;
inline data initial(const program &p) {
  data d(static_cast<std::size_t>(p.cells));
  for (std::size_t i = 0; i != d.size(); ++i)
    d[i] = mix(p.seed, i);
  return d;
}
inline void touch(act what, std::uint64_t &cell, std::uint64_t &digest, int id) {
  switch (what) {
  case act::read:
    digest = mix(digest, cell);
    break;
  case act::write:
    cell = mix(digest, static_cast<std::uint64_t>(id));
    break;
  case act::update:
    digest = cell = mix(mix(cell, digest), static_cast<std::uint64_t>(id));
    break;
  default:
    break;
  }
}
/// Operations that do not care for order; a cell has one of them.
inline std::uint64_t combined(int cell, std::uint64_t a, std::uint64_t b) {
  switch (cell % 4) {
  case 0:
    return a + b;
  case 1:
    return a ^ b;
  case 2:
    return a * b;
  default:
    return a < b ? b : a;
  }
}
inline std::uint64_t addend(int cell, int id) {
  return mix(static_cast<std::uint64_t>(cell), static_cast<std::uint64_t>(id)) |
         1; // odd: a product stays what it is worth
}
inline void event(std::uint64_t &cell, int id) {
  cell = mix(cell, ~static_cast<std::uint64_t>(id));
}
inline std::uint64_t first_digest(const node &n) {
  return mix(0x77656674, static_cast<std::uint64_t>(n.id));
}
inline std::uint64_t branch_digest(std::uint64_t digest, std::uint64_t which) {
  return mix(digest, 17 + which);
}

/// The meaning of a program: depth first, in the order of creation.
class serial_run {
 public:
  explicit serial_run(const program &p)
      : m_data(initial(p)), m_results(static_cast<std::size_t>(p.ids)) {
    body(*p.root);
  }
  const data &result() const { return m_data; }

 private:
  void body(const node &n) {
    std::uint64_t digest = first_digest(n);
    for (const node *before : n.inputs)
      if (!before->fails)
        digest = mix(digest, m_results[static_cast<std::size_t>(before->id)]);
    steps(n, n.steps, digest);
    m_results[static_cast<std::size_t>(n.id)] = digest;
  }
  void steps(const node &n, const std::vector<step> &list, std::uint64_t &digest) {
    for (const step &s : list) {
      auto cell = static_cast<std::size_t>(s.cell);
      if (s.what <= act::update) {
        touch(s.what, m_data[cell], digest, n.id);
      } else if (s.what == act::add) {
        m_data[cell] = combined(s.cell, m_data[cell], addend(s.cell, n.id));
      } else if (s.what == act::spawn) {
        body(*s.child);
      } else if (s.what == act::flood) {
        for (int i = 0; i != s.amount; ++i)
          m_data[cell] = mix(m_data[cell], static_cast<std::uint64_t>(i));
      } else if (s.what == act::hold) {
        event(m_data[cell], n.id);
      } else if ((s.what == act::get || s.what == act::look) && !s.flag) {
        digest = mix(digest, m_results[static_cast<std::size_t>(s.child->id)]);
      } else if (s.what == act::call) {
        steps(n, s.first, digest);
      } else if (s.what == act::join) {
        std::uint64_t first = branch_digest(digest, 0), second = branch_digest(digest, 1);
        steps(n, s.first, first);
        steps(n, s.second, second);
        digest = mix(first, second);
      }
    }
  }
  data m_data;
  std::vector<std::uint64_t> m_results;
};

} // namespace fuzz
