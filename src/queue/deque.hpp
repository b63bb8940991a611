// SPDX-License-Identifier: Apache-2.0
// A worker's own tasks: the owner pushes and pops at the bottom, thieves steal at the top.
//
// Roles       The owner: push, try_push, pop, pop_if. Any thread: steal; empty, size and extent, which are
//             guesses. An observer, while no thread changes the deque: for_each.
// Word        Items [m_top, m_bottom) of an unbounded array, which is kept in a ring. The size of
//             the ring is a power of two, and item i is in slot i modulo the size. m_seen_top, of
//             the owner: a past m_top, which push compares in place of m_top.
// Invariants  I1  m_top only grows, by one at a time, with a compare-exchange: of a thief that
//                 takes an item, or of the owner that takes the last one. Only the owner writes
//                 m_bottom: push raises it by one; pop lowers it by one, and restores it if the
//                 popped item was the last one or there was none.
//             I2  The owner takes item b without a compare-exchange only if it saw m_top < b after
//                 it had stored m_bottom = b. If it saw m_top == b, it races the thieves for the
//                 last item. A thief takes item t only if it saw m_bottom > t after it had read
//                 m_top = t. For t == b, one of the two m_top loads comes first in the single order
//                 of the O3 operations. If it is the owner's, the thief then reads m_bottom = b,
//                 and finds the deque empty, unless the owner has pushed a new item b since. If it
//                 is the thief's, the owner sees m_top >= b, and needs the compare-exchange. So
//                 only one of the two threads takes the item.
//             I3  The owner writes item i over item i - size only after it saw m_top > i - size.
//                 The next item i may at once replace an item i that the owner popped: no thief
//                 takes the popped one (I2).
// Orders      O1  m_bottom store release (push), with O4: the owner writes the slot before the
//                 thief reads it.
//             O2  m_top load acquire (push, when full), with O5: a thief has read its slot before
//                 the owner overwrites it. No model shows that this order is needed, because the
//                 model has no load that reads from a later store.
//             O3  m_bottom store and m_top load (pop); m_top load, m_bottom load and m_top
//                 compare-exchange (steal): sequentially consistent (I2). If a thread sees a store
//                 late, two threads take one item. C++20 needs the thief's m_top load in this
//                 order, too. No model shows that need, because the model has one order for all
//                 operations.
//             O4  m_bottom load (steal) also acquires, with O1.
//             O5  m_top compare-exchange (steal) also releases, with O2.
//             O6  m_ring store release (grow), load acquire (steal): the thief sees the copied
//                 slots.
//             O7  m_top compare-exchange (pop) release, with O3's m_top load: a thief that sees the
//                 new m_top sees m_bottom as the owner had stored it. An older, larger m_bottom
//                 would let the thief take an item that the owner has popped. The compare-exchange
//                 needs no place in O3's order: m_top alone decides which thread takes the last
//                 item. The model's one order hides the need for release, too.
//             The store that restores m_bottom in pop is relaxed: m_top has passed every item that
//             the store could announce. So is the first look of pop at m_top: m_top only grows, so
//             a deque that looks empty to its owner is empty, and pop changes nothing.
// Progress    push and pop are wait-free except when push grows the ring. steal is lock-free and
//             does not retry: `lost` means that another thread took the item.
// Reclamation Old rings are kept until destruction, because a thief may still read one. Together
//             they are smaller than the current one.
// Source      Chase and Lev 2005 as corrected for weak memory by Le et al., PPoPP 2013. Here
//             operations have the orders, not fences, which a thread sanitizer cannot see. The
//             published resize lacks the release on the array.
// Checked by  tests/model/queue_models.cpp: deque_*
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "weft/config.hpp"

namespace weft::inline v0 {
namespace rt {

enum class steal_outcome { taken, empty, lost };

template <class T>
struct stolen {
  T item;
  steal_outcome outcome;
  explicit operator bool() const noexcept { return outcome == steal_outcome::taken; }
};

/// Holds items of the pointer type T.
template <class T, class P = real_atomics>
class work_deque {
  static_assert(std::is_pointer_v<T>, "work_deque holds pointers");

 public:
  /// Makes an empty deque that holds `capacity` items, a power of two, before it grows.
  explicit work_deque(std::int64_t capacity = 256) : m_ring(new ring(capacity, nullptr)) {
    m_own_ring.set(m_ring.load(std::memory_order_relaxed));
  }

  ~work_deque() {
    for (ring *r = m_own_ring.get(); r != nullptr;) {
      ring *older = r->older;
      delete r;
      r = older;
    }
  }

  work_deque(const work_deque &) = delete;
  work_deque &operator=(const work_deque &) = delete;

  /// Adds an item at the bottom. Owner only. Throws std::bad_alloc, with nothing changed, if the
  /// ring must grow and cannot.
  void push(T item) {
    if (!try_push(item)) [[unlikely]] {
      grow();
      try_push(item);
    }
  }

  /// Adds an item if there is room. Owner only. Returns false, with nothing changed, if the ring
  /// must grow.
  bool try_push(T item) noexcept {
    const std::int64_t bottom = m_bottom.load(std::memory_order_relaxed);
    ring *r = m_own_ring.get();
    if (unless(bug::deque_full_unnoticed, bottom - m_seen_top.get() > r->mask)) [[unlikely]]
      return false;
    r->at(bottom).store(item, std::memory_order_relaxed);
    m_bottom.store(bottom + 1, std::memory_order_release); // O1
    return true;
  }

  /// Takes the newest item; returns null if there is none. Owner only.
  T pop() noexcept {
    const std::int64_t bottom = m_bottom.load(std::memory_order_relaxed);
    if (m_top.load(std::memory_order_relaxed) >= bottom) // m_top only grows: surely empty, no need for O3
      return nullptr;
    return take_below(bottom) ? m_own_ring.get()->at(bottom - 1).load(std::memory_order_relaxed)
                              : nullptr;
  }

  /// Takes the newest item if it is this one. Returns whether it was taken. Owner only.
  [[nodiscard]] WEFT_INLINE bool pop_if(T item) noexcept {
    const std::int64_t bottom = m_bottom.load(std::memory_order_relaxed);
    return m_own_ring.get()->at(bottom - 1).load(std::memory_order_relaxed) == item && // or it was the item there
           m_top.load(std::memory_order_relaxed) < bottom && take_below(bottom);
  }

  /// Returns the newest item, which a thief may have taken, or null. Owner only.
  [[nodiscard]] T newest() const noexcept {
    const std::int64_t bottom = m_bottom.load(std::memory_order_relaxed);
    if (m_top.load(std::memory_order_relaxed) >= bottom)
      return nullptr;
    return m_own_ring.get()->at(bottom - 1).load(std::memory_order_relaxed);
  }

  /// Returns the number behind that of the newest item: another one after each push or pop. Owner
  /// only.
  [[nodiscard]] std::int64_t bottom() const noexcept {
    return m_bottom.load(std::memory_order_relaxed);
  }

  /// Takes the oldest item. Any thread. Returns `lost` if another thread took that item first;
  /// there may be more items.
  stolen<T> steal() noexcept {
    std::int64_t top = m_top.load(std::memory_order_seq_cst); // O3, C++20
    const std::int64_t bottom = m_bottom.load(std::memory_order_seq_cst); // O3, O4
    if (top >= bottom)
      return {nullptr, steal_outcome::empty};
    T item = m_ring.load(std::memory_order_acquire)->at(top).load(std::memory_order_relaxed); // O6
    if (!m_top.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                       std::memory_order_relaxed)) // O3, O5
      return {nullptr, steal_outcome::lost};
    return {item, steal_outcome::taken};
  }

  /// Holds the numbers of the items in the deque: [top, bottom). The thread that takes the last
  /// item retires its number. The owner gives the numbers of other items that it popped again.
  struct extent_type {
    std::int64_t top, bottom;
    [[nodiscard]] std::size_t size() const noexcept {
      return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
    }
    /// Returns whether there is one item, and none of the items of `before`.
    [[nodiscard]] bool is_one_new_since(const extent_type &before) const noexcept {
      return size() == 1 && bottom > before.bottom;
    }
  };

  /// Guesses whether the deque is empty. Exact if the owner calls and the answer is true.
  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept { return extent().size(); }
  extent_type extent() const noexcept {
    const std::int64_t top = m_top.load(std::memory_order_relaxed);
    return {top, m_bottom.load(std::memory_order_relaxed)};
  }

  /// Calls f(item) for each item, the oldest first. No thread may push, pop or steal meanwhile.
  template <class F>
  void for_each(F f) const {
    const extent_type e = extent();
    for (std::int64_t i = e.top; i < e.bottom; ++i)
      f(m_ring.load(std::memory_order_acquire)->at(i).load(std::memory_order_relaxed)); // O6
  }

 private:
  using slot = typename P::template atomic<T>;
  using index = typename P::template atomic<std::int64_t>;

  struct ring {
    ring(std::int64_t capacity, ring *older_ring)
        : mask(capacity - 1), older(older_ring),
          slots(std::make_unique<slot[]>(static_cast<std::size_t>(capacity))) {}
    slot &at(std::int64_t i) noexcept { return slots[static_cast<std::size_t>(i & mask)]; }
    const std::int64_t mask;
    ring *const older;
    const std::unique_ptr<slot[]> slots;
  };

  /// Takes the newest item, whose number is one less than `old_bottom`. Returns whether no thief was first; the
  /// slot keeps the item until the next push.
  WEFT_INLINE bool take_below(std::int64_t old_bottom) noexcept {
    const std::int64_t bottom = old_bottom - 1;
    m_bottom.store(bottom, order_unless(bug::deque_pop_unordered, std::memory_order_seq_cst)); // O3
    std::int64_t top = m_top.load(std::memory_order_seq_cst); // O3
    if (top < bottom) [[likely]]
      return true;
    const auto win = [&] { // one item is left, or none: the owner races the thieves for it
      return m_top.compare_exchange_strong(top, top + 1, std::memory_order_release, // O7
                                           std::memory_order_relaxed);
    };
    const bool is_taken =
        top == bottom && unless(bug::deque_last_item_unraced, [&] { return win(); }, true);
    m_bottom.store(old_bottom, std::memory_order_relaxed);
    return is_taken;
  }

  [[gnu::noinline, gnu::cold]] void grow() {
    const std::int64_t bottom = m_bottom.load(std::memory_order_relaxed);
    const std::int64_t top = m_top.load(std::memory_order_acquire); // O2
    m_seen_top.set(top);
    ring *old = m_own_ring.get();
    if (bottom - top <= old->mask)
      return;
    ring *grown = new ring(2 * (old->mask + 1), old);
    for (std::int64_t i = top; i < bottom; ++i)
      grown->at(i).store(old->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    m_own_ring.set(grown);
    m_ring.store(grown, order_unless(bug::deque_grow_relaxed, std::memory_order_release)); // O6
  }

  alignas(k_apart) index m_bottom{0}; // written by the owner
  typename P::template var<ring *> m_own_ring{}; // owner only: m_ring without sharing its line
  typename P::template var<std::int64_t> m_seen_top{0}; // owner only: a past m_top
  alignas(k_apart) index m_top{0}; // written by thieves, and by the owner for the last item
  alignas(k_apart) typename P::template atomic<ring *> m_ring; // written by the owner when it grows
};

} // namespace rt
} // namespace weft::inline v0
