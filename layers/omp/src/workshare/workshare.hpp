// SPDX-License-Identifier: Apache-2.0
// Worksharing regions: what the members of a team share of one loop, one sections region, one
// scope.
//
// Iterations are counted from 0 to `total`. A chunk is a run of these numbers. The entry points
// turn them into values of the loop's variable.
#pragma once

#include "sync/spin.hpp"
#include "workshare/ordered.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace weft_omp {

struct thread;
struct omp_team;
struct doacross;

/// A worksharing region. The members' n-th region is in slot n modulo the number of slots. If a
/// member is that many regions behind, the region is in a further record that is linked to the
/// slot.
/// No member waits for one that is behind, because that one may never come (a cancelled region), or
/// may wait itself.
struct workshare {
  workshare *slot = this; // its lock guards all records that are linked to it
  workshare *more = nullptr;
  spin_lock lock;
  // Of a slot: the record that was made last, the one that was found last, those that are free, and
  // the newest region that has begun. So a member that runs ahead, and one behind it, walk no list.
  workshare *last_made = nullptr, *last_found = nullptr, *spare = nullptr;
  std::uint64_t begun = 0;
  workshare *next_spare = nullptr;
  std::uint64_t number = 0; // of the region in this record, counted per thread from 1; 0: none
  unsigned left = 0; // members that are done with it
  bool busy = false;

  int schedule = 0;
  bool static_steal = false; // each member has a range of the chunks to itself: static_steal.hpp
  bool adds = false; // `next` may run past the end without an overflow
  std::uint64_t total = 0, chunk = 1, multiple = 1; // guided chunks are multiples of the last
  std::uint64_t chunks = 0, span = 1; // equal chunks, and how far the loop's variable goes in one
  std::uint64_t
      first = 0,
      step = 1,
      last =
          0; // of the loop's variable: its value in iteration 0, its step, and where the loop stops
  char apart[64]; // keeps what all members read out of the line that all write
  // The first equal chunk, or guided iteration, that no member has. Of a static_steal loop: the
  // number of chunks when a member has the last chunk; until then 0 or, of a guided one, the first
  // chunk that is in no member's share (fair_share.hpp).
  std::atomic<std::uint64_t> next{0};
  char apart_again[64];
  basic_ordered<> ordered;
  void *memory = nullptr; // of the region, for the program
  std::uintptr_t *reductions = nullptr;
  doacross *steps = nullptr;

  void begin(std::uint64_t n) noexcept;
  void end() noexcept;
  /// Forgets the regions in this record, which is a slot, and frees the records that are linked to it.
  void forget() noexcept;
};

/// The shape of a loop.
struct loop_shape {
  std::uint64_t total, first, step, last;
};
[[nodiscard]] loop_shape shape_of(long first, long last, long step) noexcept;
[[nodiscard]] loop_shape shape_of(bool up, unsigned long long first, unsigned long long last,
                                  unsigned long long step) noexcept;

/// The calling member's entry into its next region. The first member that enters sets the region up,
/// with the region's lock; the others enter when this object of the first member is gone.
class workshare_entry {
 public:
  explicit workshare_entry(thread &self) noexcept : m_locked(enter(self)) {}
  ~workshare_entry() {
    if (m_locked)
      m_locked->unlock();
  }
  workshare_entry(const workshare_entry &) = delete;
  workshare_entry &operator=(const workshare_entry &) = delete;

  /// Returns whether the member is the first one there, and sets the region up.
  [[nodiscard]] bool is_first() const noexcept { return m_locked != nullptr; }

 private:
  static spin_lock *enter(thread &self) noexcept;
  spin_lock *const m_locked; // null: another member has set the region up
};
/// Leaves the member's region. The last member ends it.
void leave_workshare(thread &self) noexcept;

/// A flag in `schedule`, besides its kind: a member's chunks may come in any order.
inline constexpr long k_nonmonotonic = 8;
void set_loop(const thread &self, workshare &share, const loop_shape &shape, long schedule,
              std::uint64_t chunk) noexcept;
void set_memory(workshare &share, void **memory);

/// Finds the member's next chunk, and puts it into self.workshare.first and end. Returns false if
/// there is none.
[[nodiscard]] bool next_chunk(thread &self) noexcept;
/// Does the same for a loop with ordered regions, and first passes the ticket on.
[[nodiscard]] bool next_ordered_chunk(thread &self) noexcept;
void wait_for_ordered_ticket(thread &self) noexcept;

/// Values of the loop's variable in equal chunks of which none is the last one: at their begin, and
/// where they stop.
struct chunk_values {
  std::uint64_t first, stop;
  bool is_last;
};
[[nodiscard]] inline chunk_values values_of(const workshare &share, std::uint64_t chunk,
                                            std::uint64_t count) noexcept {
  const std::uint64_t first = share.first + chunk * share.span;
  return {first, first + count * share.span, false};
}

} // namespace weft_omp
