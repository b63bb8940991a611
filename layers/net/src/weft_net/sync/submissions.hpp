// SPDX-License-Identifier: Apache-2.0
// Delegation to one thread at a time: items that any thread submits, and the right to be inside, where
// they are taken out. The submitter that finds no thread inside is inside itself; the others leave
// their items to the insider, and go on.
//
// Roles       A submitter: enter_free, and else push; it is the insider when one of them returns
//             true. A poller: enter_free or enter. The insider: take, leave, leave_items. Any:
//             is_empty.
// Word        m_word: the address of the newest item, and k_inside while a thread is inside.
// Invariants  I1  At most one thread is inside: only the thread that sets k_inside is.
//             I2  leave() succeeds only on a word without items. So whatever was pushed while the
//                 insider was inside, the insider takes. After leave_items() they wait for the next
//                 thread that enters, whose coming the caller of leave_items() sees to.
//             I3  take() returns the oldest first, so the items of one submitter keep their order.
// Orders      O1  push: release, with take's acquire: the insider sees an item as its submitter
//                 wrote it. Each change of the word is a read-modify-write, so a later push continues
//                 the release sequence of an earlier one.
//             O2  leave and leave_items: release, with the acquire of take and enter_free: an insider,
//                 which does one of them before all else, sees what the last one did.
// Progress    Lock-free; take, leave and both ways to enter are wait-free. An insider that always finds new items
//             may leave_items().
// Reclamation An item belongs to the submitter before push, and to the insider after take. An item
//             that comes back at the address of an older one does no harm: a push only compares the
//             address that it links to.
// Source      Flat combining (Hendler et al., SPAA 2010), with a stack in the place of slots.
// Checked by  tests/model/layers/net_models.cpp: net_submissions_*
#pragma once

#include "weft_net/sync/atomics.hpp"
#include "weft_net/sync/mutant.hpp"

#include <cstdint>

namespace weft_net {

/// Reads and writes the link of an item, here a plain pointer.
template <class Item>
struct plain_link {
  static Item *next(const Item &item) noexcept { return item.next; }
  static void set_next(Item &item, Item *next) noexcept { item.next = next; }
};

template <class Item, class Link = plain_link<Item>, class P = real_atomics>
class submissions {
 public:
  /// Submits the item. Returns whether the caller is inside now. It calls take() before all else.
  [[nodiscard]] bool push(Item &item) noexcept {
    std::uintptr_t old = m_word.load(std::memory_order_relaxed);
    std::uintptr_t fresh;
    do {
      Link::set_next(item, newest(old));
      fresh = reinterpret_cast<std::uintptr_t>(&item) | k_inside;
    } while (!m_word.compare_exchange_weak(
        old, fresh, order_unless(bug::net_push_relaxed, std::memory_order_release), // O1
        std::memory_order_relaxed));
    return (old & k_inside) == 0;
  }

  /// Enters if no thread is inside and no item waits. Returns whether the caller is inside now. A
  /// submitter then has its own item in its hands, and need not take().
  [[nodiscard]] bool enter_free() noexcept {
    std::uintptr_t free = 0;
    return m_word.load(std::memory_order_relaxed) == 0 &&
           m_word.compare_exchange_strong(
               free, k_inside, order_unless(bug::net_enters_relaxed, std::memory_order_acquire), // O2
               std::memory_order_relaxed);
  }

  /// Returns whether the caller is inside now. It calls take() before all else.
  [[nodiscard]] bool enter() noexcept {
    return (m_word.load(std::memory_order_relaxed) & k_inside) == 0 &&
           (m_word.fetch_or(k_inside, std::memory_order_relaxed) & k_inside) == 0;
  }

  /// Takes all items out, linked from the oldest to the newest; null if there are none.
  [[nodiscard]] Item *take() noexcept {
    Item *item = newest(m_word.exchange(k_inside, std::memory_order_acquire)); // O1, O2
    return unless(bug::net_newest_first, true) ? reversed(item) : item;
  }

  /// Returns whether there were no items. Orders nothing.
  [[nodiscard]] bool is_empty() const noexcept {
    return newest(m_word.load(std::memory_order_relaxed)) == nullptr;
  }

  /// Leaves. Returns false, and the caller is still inside, if there are items.
  [[nodiscard]] bool leave() noexcept {
    std::uintptr_t alone = k_inside;
    return m_word.compare_exchange_strong(alone, 0, std::memory_order_release, // O2
                                          std::memory_order_relaxed) ||
           !unless(bug::net_leaves_items, true);
  }

  /// Leaves. Items that have come wait for the next thread that enters.
  void leave_items() noexcept {
    m_word.fetch_and(~k_inside, std::memory_order_release); // O2
  }

 private:
  static constexpr std::uintptr_t k_inside = 1;
  static Item *newest(std::uintptr_t word) noexcept {
    return reinterpret_cast<Item *>(word & ~k_inside);
  }
  static Item *reversed(Item *newest) noexcept {
    Item *oldest = nullptr;
    while (newest) {
      Item *const before = Link::next(*newest);
      Link::set_next(*newest, oldest);
      oldest = newest;
      newest = before;
    }
    return oldest;
  }

  typename P::template atomic<std::uintptr_t> m_word{0};
};

} // namespace weft_net
