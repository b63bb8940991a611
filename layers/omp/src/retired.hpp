// SPDX-License-Identifier: Apache-2.0
// What is no longer used and never freed, for somebody who is late may still look at it (team.hpp): the next who needs one takes the newest.
#pragma once

#include "spin.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace weft_omp {

/// Linked by `next_retired`.
template <class T>
class retired {
 public:
  void put(T &x) noexcept {
    std::lock_guard lock(m_lock);
    x.next_retired = std::exchange(m_newest, &x);
  }
  /// Null: there is none.
  [[nodiscard]] T *take() noexcept {
    std::lock_guard lock(m_lock);
    return m_newest ? std::exchange(m_newest, m_newest->next_retired) : nullptr;
  }
  /// In the child of a fork: the list may have been in somebody's hands.
  void forget() noexcept { new (this) retired; }

 private:
  spin_lock m_lock;
  T *m_newest = nullptr;
};

} // namespace weft_omp
