// SPDX-License-Identifier: Apache-2.0
// Blocks that other threads give back to the heap they came from: chains, pushed at once, taken all at once.
//
// Roles: any thread pushes a chain; the owner takes all. Word: the newest block, linked through the blocks; null: none.
// Invariants: I1 a block is in one chain only. I2 only the owner unlinks, and only by taking everything, so there is no ABA.
// Orders: O1 push: release, the links and everything done with the block come before its reuse. O2 take: acquire, pairs with O1.
// Progress: push lock-free, take wait-free. Reclamation: none; blocks are memory. Source: Treiber 1986, as in every thread-caching
//   allocator. Checked by: tests/model (remote_free).
#pragma once

#include "atomic/atomic.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class remote_free {
public:
  struct block {
    typename P::template var<block *> next{};
  };

  void push(block *first, block *last) noexcept {
    block *newest = m_newest.load(std::memory_order_relaxed);
    do
      last->next.set(newest);
    while (!m_newest.compare_exchange_weak(newest, first, std::memory_order_release, std::memory_order_relaxed)); // O1
  }

  [[nodiscard]] block *take() noexcept {
    if (!m_newest.load(std::memory_order_relaxed)) // a hint; a block that arrives now is found next time
      return nullptr;
    return m_newest.exchange(nullptr, std::memory_order_acquire); // O2
  }

private:
  typename P::template atomic<block *> m_newest{nullptr};
};

} // namespace rt
} // namespace weft::inline v0
