// SPDX-License-Identifier: Apache-2.0
// Mode `hybrid`: decides whether a worker posts a message or acts itself. Hints only: a wrong guess
// costs time and nothing else.
// Source: Bosch Pons 2017, section 4.2, listings 4.1 and 4.2.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Decides about new tasks: the queued ones are siblings. Tasks of another parent are entered by
/// their creator, so that the manager and workers build unrelated graphs side by side.
class sibling_policy {
 public:
  /// Says whether a child of `parent` may be posted. Any thread may call it.
  [[nodiscard]] bool allows(const void *parent) noexcept {
    if (m_queued.load(std::memory_order_relaxed) == 0)
      m_parent.store(parent, std::memory_order_relaxed);
    return m_parent.load(std::memory_order_relaxed) == parent;
  }
  void pushed() noexcept { m_queued.fetch_add(1, std::memory_order_relaxed); }
  void applied() noexcept { m_queued.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t queued() const noexcept {
    const std::int64_t n = m_queued.load(std::memory_order_relaxed);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }

 private:
  std::atomic<const void *> m_parent{nullptr};
  std::atomic<std::int64_t> m_queued{0};
};

/// Decides about ends: a worker posts them as long as it has tasks to go on with and its manager
/// keeps up. Above the upper bound of queued messages the worker acts itself, until the manager has
/// come down to the lower bound. If the manager is there by the very next end, the bounds were too
/// low. Each worker has its own.
class end_policy {
 public:
  [[nodiscard]] bool allows(std::size_t queued, std::size_t ready) noexcept {
    const bool next = m_since++ == 1;
    const std::size_t upper = m_upper; // new bounds are for the next end
    if (m_waits && queued <= m_lower) {
      m_waits = false;
      scale(next);
    }
    if (queued > upper) {
      if (!m_waits)
        m_since = 1;
      m_waits = true;
      return false;
    }
    return !m_waits && ready > k_least_ready;
  }
  [[nodiscard]] std::size_t lower() const noexcept { return m_lower; }
  [[nodiscard]] std::size_t upper() const noexcept { return m_upper; }

 private:
  static constexpr std::size_t k_least_ready = 1; // these three values are the thesis's
  static constexpr std::size_t k_first_lower = 3;
  static constexpr std::size_t k_first_upper = 5;
  static constexpr std::size_t k_most_upper = 320; // of the 512 that fit into the queue

  void scale(bool doubled) noexcept {
    if (doubled && m_upper * 2 <= k_most_upper) {
      m_lower *= 2;
      m_upper *= 2;
    } else if (!doubled && m_lower > 1) {
      m_lower /= 2;
      m_upper /= 2;
    }
  }

  std::size_t m_lower = k_first_lower;
  std::size_t m_upper = k_first_upper;
  std::uint32_t m_since = 0; // calls since the loop was turned on
  bool m_waits = false;
};

} // namespace rt
} // namespace weft::inline v0
