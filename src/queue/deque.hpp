// SPDX-License-Identifier: Apache-2.0
// A worker's own tasks: the owner pushes and pops at the bottom, thieves steal at the top.
//
// Roles       The owner: push, pop. Any thread: steal, empty, size.
// Word        Items [m_top, m_bottom) of an unbounded array that is kept in a ring of a power of two.
// Invariants  I1  m_top only grows, by one, by whoever takes that item. m_bottom is written by the owner
// only.
//             I2  The owner takes item b without a compare-exchange only if it saw m_top < b after it had
//             stored
//                 m_bottom = b; a thief takes item t only if it saw m_bottom > t after it had read m_top = t.
//                 In the single order of the O3 operations one of the two comes first, so nobody else can
//                 have b.
//             I3  A ring slot is reused only after the owner saw m_top beyond the item in it.
// Orders      O1  m_bottom store release (push), with O4: the slot is written before the thief reads it.
//             O2  m_top load acquire (push, when full), with O5: a thief has read its slot before it is
//             overwritten.
//                 The model cannot show a load that reads from a later store, so it does not miss this one.
//             O3  m_bottom store, m_top load (pop), m_top load, m_bottom load and m_top compare-exchange
//             (steal) are
//                 sequentially consistent (I2): a store that is seen late makes two threads take one item.
//                 The thief's m_top load must be in that order too for C++20; the model has one order for all
//                 and does not miss it.
//             O4  m_bottom load (steal) also acquires, with O1.
//             O5  m_top compare-exchange (steal) also releases, with O2.
//             O6  m_ring store release (grow), load acquire (steal): the copied slots are seen.
//             O7  m_top compare-exchange (pop) release, with O3's m_top load: a thief that sees it sees
//             m_bottom as the
//                 owner had stored it. The last item is settled by m_top alone. The model's one order hides
//                 this one, too.
//             The store that restores m_bottom in pop is relaxed: m_top has passed everything it could
//             announce.
// Progress    push and pop wait-free but for growth; steal lock-free, and it does not retry: `lost` means
// that another
//             thread took the item.
// Reclamation Old rings are kept until destruction (together smaller than the current one): a thief may still
// read one. Source      Chase and Lev 2005 as corrected for weak memory by Le et al., PPoPP 2013; operations
// in place of fences,
//             which a thread sanitizer cannot see. Their published resize lacks the release on the array.
// Checked by  tests/model/queue_models.cpp: deque_*
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

enum class steal_outcome { taken, empty, lost };

template <class T>
struct stolen {
  T item;
  steal_outcome outcome;
  explicit operator bool() const noexcept { return outcome == steal_outcome::taken; }
};

/// T is a pointer.
template <class T, class P = real_atomics>
class work_deque {
  static_assert(std::is_pointer_v<T>, "work_deque holds pointers");

 public:
  /// `capacity` (a power of two) is what it holds before it grows for the first time.
  explicit work_deque(std::int64_t capacity = 256) : m_ring(new ring(capacity, nullptr)) { m_own_ring.set(m_ring.load(std::memory_order_relaxed)); }

  ~work_deque() {
    for (ring *r = m_own_ring.get(); r != nullptr;) {
      ring *older = r->older;
      delete r;
      r = older;
    }
  }

  work_deque(const work_deque &) = delete;
  work_deque &operator=(const work_deque &) = delete;

  /// Owner. Throws std::bad_alloc, with nothing changed, if it must grow and cannot.
  void push(T item) {
    if (!try_push(item)) [[unlikely]] {
      grow();
      try_push(item);
    }
  }

  /// Owner. False, with nothing changed, if it must grow.
  bool try_push(T item) noexcept {
    const std::int64_t bottom = m_bottom.load(std::memory_order_relaxed);
    ring *r = m_own_ring.get();
    if (bottom - m_seen_top.get() > r->mask && !mutant(bug::deque_full_unnoticed)) [[unlikely]]
      return false;
    r->at(bottom).store(item, std::memory_order_relaxed);
    m_bottom.store(bottom + 1, std::memory_order_release); // O1
    return true;
  }

  /// Owner: the newest item, or null.
  T pop() noexcept {
    const std::int64_t old_bottom = m_bottom.load(std::memory_order_relaxed);
    if (m_top.load(std::memory_order_relaxed) >= old_bottom) // m_top only grows: surely empty, no need for O3
      return nullptr;
    const std::int64_t bottom = old_bottom - 1;
    m_bottom.store(bottom, order_unless(bug::deque_pop_unordered, std::memory_order_seq_cst)); // O3
    std::int64_t top = m_top.load(std::memory_order_seq_cst); // O3
    if (top < bottom) [[likely]]
      return m_own_ring.get()->at(bottom).load(std::memory_order_relaxed);
    T item = nullptr; // one item is left, or none: race the thieves for it
    if (top == bottom && (mutant(bug::deque_last_item_unraced) || m_top.compare_exchange_strong(top, top + 1, std::memory_order_release, // O7
                                                                                                std::memory_order_relaxed)))
      item = m_own_ring.get()->at(bottom).load(std::memory_order_relaxed);
    m_bottom.store(old_bottom, std::memory_order_relaxed);
    return item;
  }

  /// Anyone: the oldest item; `lost` when another thread was faster (there may be more).
  stolen<T> steal() noexcept {
    std::int64_t top = m_top.load(std::memory_order_seq_cst);             // O3, C++20
    const std::int64_t bottom = m_bottom.load(std::memory_order_seq_cst); // O3, O4
    if (top >= bottom)
      return {nullptr, steal_outcome::empty};
    T item = m_ring.load(std::memory_order_acquire)->at(top).load(std::memory_order_relaxed); // O6
    if (!m_top.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                       std::memory_order_relaxed)) // O3, O5
      return {nullptr, steal_outcome::lost};
    return {item, steal_outcome::taken};
  }

  /// The numbers of the items that are in it: [top, bottom). Who takes the last item takes its number out of use; other numbers that the
  /// owner took back are given again.
  struct extent_type {
    std::int64_t top, bottom;
    [[nodiscard]] std::size_t size() const noexcept { return bottom > top ? static_cast<std::size_t>(bottom - top) : 0; }
    /// One item, and none of those that were there at `before`.
    [[nodiscard]] bool is_one_new_since(const extent_type &before) const noexcept { return size() == 1 && bottom > before.bottom; }
  };

  /// Guesses, unless the owner asks and gets true.
  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept { return extent().size(); }
  extent_type extent() const noexcept {
    const std::int64_t top = m_top.load(std::memory_order_relaxed);
    return {top, m_bottom.load(std::memory_order_relaxed)};
  }

  /// While nobody pushes, pops or steals: f(item) for each, the oldest first.
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
        : mask(capacity - 1), older(older_ring), slots(std::make_unique<slot[]>(static_cast<std::size_t>(capacity))) {}
    slot &at(std::int64_t i) noexcept { return slots[static_cast<std::size_t>(i & mask)]; }
    const std::int64_t mask;
    ring *const older;
    const std::unique_ptr<slot[]> slots;
  };

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

  alignas(k_apart) index m_bottom{0};                   // written by the owner
  typename P::template var<ring *> m_own_ring{};        // owner only: m_ring without sharing its line
  typename P::template var<std::int64_t> m_seen_top{0}; // owner only: a past m_top
  alignas(k_apart) index m_top{0}; // written by thieves, and by the owner for the last item
  alignas(k_apart) typename P::template atomic<ring *> m_ring; // written by the owner when it grows
};

} // namespace rt
} // namespace weft::inline v0
