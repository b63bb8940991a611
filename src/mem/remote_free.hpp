// SPDX-License-Identifier: Apache-2.0
// Blocks that threads give back to the heap from which they came: pushed as chains, taken all at
// once.
//
// Roles       Freer: any thread; it pushes.
//             Owner: the thread of the heap; it takes.
// Word        That of mpsc_stack: the newest block, or null.
// Invariants  I1  A block is in one chain only, and no thread but the owner reuses it.
// Orders      O1, O2 of mpsc_stack: everything done with a block comes before its reuse.
// Progress    push is lock-free, take is wait-free.
// Reclamation None: blocks are memory, and heaps live for ever.
// Source      Treiber 1986, as in every thread-caching allocator.
// Checked by  tests/model/queue_models.cpp: remote_free_*
#pragma once

#include "base/mutant.hpp"
#include "queue/mpsc_stack.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class remote_free {
 public:
  struct block {
    typename P::template var<block *> next{};
  };

  /// Pushes blocks that are linked from first to last.
  void push(block *first, block *last) noexcept {
    m_stack.push_chain(first, unless(bug::remote_free_loses_chain, last, first));
  }

  /// Takes all blocks, linked; returns null when there are none.
  [[nodiscard]] block *take() noexcept { return m_stack.take_all(); }

 private:
  mpsc_stack<block, P> m_stack;
};

} // namespace rt
} // namespace weft::inline v0
