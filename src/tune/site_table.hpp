// SPDX-License-Identifier: Apache-2.0
// What is known of functions that have no type of their own, those of the C interface: each has a site
// of its own, found by its address.
//
// Roles       Any thread finds the site of a function, and enters the function if it is new.
// Word        slot.key: the function's address; 0: the slot is free.
// Invariants  I1  A key is written once, and never changes. So a function whose slots on the way are all
//                 taken by others has been entered in none of them, nor will be.
//             I2  A function is in one slot at most: all threads look at its slots in the same order, and
//                 enter it in the first one that is free.
// Orders      None: a site is made before the threads are, and its words order themselves.
// Progress    wait-free: k_probes steps at most.
// Reclamation None: the table lives as long as the process. A function of a library that was unloaded
//             keeps its slot, and another one at its address takes it over.
// Checked by  tests/model/site_models.cpp; tests/unit/tune/site_table_test.cpp
#pragma once

#include "atomic/atomic.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

template <class Site, std::size_t Slots, class P = real_atomics>
class site_table {
 public:
  static constexpr std::size_t k_probes = Slots < 64 ? Slots : 64;

  /// Returns the site of a function; null if the slots that it may have are full.
  [[nodiscard]] Site *find(const void *function) noexcept {
    const auto key = reinterpret_cast<std::uintptr_t>(function);
    if (key == 0)
      return nullptr;
    for (std::size_t i = 0, at = (key >> 4 ^ key >> 12) % Slots; i != k_probes; ++i) {
      slot &of = m_slots[at];
      std::uintptr_t seen = of.key.load(std::memory_order_relaxed);
      if (seen == key || (seen == 0 && enter(of, seen, key))) [[likely]]
        return &of.site;
      at = at + 1 == Slots ? 0 : at + 1;
    }
    return nullptr;
  }

 private:
  struct slot {
    typename P::template atomic<std::uintptr_t> key{0};
    Site site;
  };

  /// Says whether the slot, which was free, is the function's now.
  static bool enter(slot &of, std::uintptr_t seen, std::uintptr_t key) noexcept {
    return of.key.compare_exchange_strong(seen, key, std::memory_order_relaxed,
                                          std::memory_order_relaxed) ||
           seen == key; // I2: another thread has entered it
  }

  slot m_slots[Slots]{};
};

} // namespace rt
} // namespace weft::inline v0
