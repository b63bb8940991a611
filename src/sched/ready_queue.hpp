// SPDX-License-Identifier: Apache-2.0
// Plain code, for use behind a lock: first in, first out per priority, larger priorities first.
#pragma once

#include "base/intrusive_list.hpp"
#include "weft/detail/core.hpp"

#include <map>

namespace weft::inline v0 {
namespace rt {

class ready_queue {
public:
  void add(detail::runnable *r) {
    if (r->priority == 0)
      m_normal.push_back(r);
    else
      m_other[static_cast<std::int16_t>(-r->priority)].push_back(r);
    ++m_size;
  }

  detail::runnable *get() {
    if (m_size == 0)
      return nullptr;
    --m_size;
    if (auto first = m_other.begin(); first != m_other.end() && (first->first < 0 || m_normal.empty()))
      return get_from(first);
    return m_normal.pop_front();
  }

  [[nodiscard]] std::size_t size() const noexcept { return m_size; }
  /// The largest priority in the queue, 0 when it is empty.
  [[nodiscard]] bool has_urgent() const noexcept { return !m_other.empty() && m_other.begin()->first < 0; }

private:
  using queue = intrusive_queue<detail::runnable>;
  detail::runnable *get_from(std::map<std::int16_t, queue>::iterator i) {
    detail::runnable *r = i->second.pop_front();
    if (i->second.empty())
      m_other.erase(i);
    return r;
  }

  queue m_normal;
  std::map<std::int16_t, queue> m_other; // by negated priority
  std::size_t m_size = 0;
};

} // namespace rt
} // namespace weft::inline v0
