// SPDX-License-Identifier: Apache-2.0
// Worksharing regions: what the members of a team share of one loop, one sections region, one scope.
//
// Iterations are counted from 0 to `total`; a chunk is a run of these numbers, which the entry points turn into values of the loop's variable.
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

/// The members' n-th worksharing region occupies slot n modulo their number, or, when somebody is that many regions behind, in one that hangs
/// on it: nobody waits for who is behind, for that one may never come (a cancelled region), or wait itself.
struct workshare {
  workshare *slot = this; // its lock guards all that hang on it
  workshare *more = nullptr;
  spin_lock lock;
  std::uint64_t number = 0; // of the region that is here, counted per thread from 1; 0: none
  unsigned left = 0;        // members that are done with it
  bool busy = false;

  int schedule = 0;
  bool static_steal = false; // each member has a range of the chunks to itself: static_steal.hpp
  bool adds = false;  // `next` may run past the end without an overflow
  std::uint64_t total = 0, chunk = 1, multiple = 1; // guided chunks are multiples of the last
  std::uint64_t chunks = 0, span = 1;               // equal ones, and how far the loop's variable goes in one
  std::uint64_t first = 0, step = 1, last = 0; // values of the loop's variable: of iteration 0, and where the loop stops
  char apart[64]; // what all read is not in the line that all write
  std::atomic<std::uint64_t> next{
      0}; // equal chunk, or guided iteration, that nobody has; all of them, when somebody has the last one of a static_steal loop
  char apart_again[64];
  basic_ordered<> ordered;
  void *memory = nullptr;                      // of the region, for the program
  std::uintptr_t *reductions = nullptr;
  doacross *steps = nullptr;

  void begin(std::uint64_t n) noexcept;
  void end() noexcept;
  /// No region is here any more.
  void forget() noexcept;
};

/// The shape of a loop.
struct loop_shape {
  std::uint64_t total, first, step, last;
};
[[nodiscard]] loop_shape shape_of(long first, long last, long step) noexcept;
[[nodiscard]] loop_shape shape_of(bool up, unsigned long long first, unsigned long long last, unsigned long long step) noexcept;

/// The calling member's next region. True: it is the first to come and must set the region up, then call publish_workshare().
[[nodiscard]] bool enter_workshare(thread &t) noexcept;
/// What the first one has set up is there for the others.
void publish_workshare(thread &t) noexcept;
/// Done with it.
void leave_workshare(thread &t) noexcept;

/// `schedule`, besides its kind: a member's chunks may come in any order.
inline constexpr long k_nonmonotonic = 8;
void set_loop(const thread &t, workshare &s, const loop_shape &shape, long schedule, std::uint64_t chunk) noexcept;
void set_memory(workshare &s, void **memory);

/// The member's next chunk, in t.workshare.first and end. False: there is none.
[[nodiscard]] bool next_chunk(thread &t) noexcept;
/// The same, and in turn for ordered regions.
[[nodiscard]] bool next_ordered_chunk(thread &t) noexcept;
void wait_for_ordered_ticket(thread &t) noexcept;

/// What the loop's variable is in an equal chunk that is not the last one: at its begin, and where it stops.
struct chunk_values {
  std::uint64_t first, stop;
  bool is_last;
};
[[nodiscard]] inline chunk_values values_of(const workshare &s, std::uint64_t chunk) noexcept {
  const std::uint64_t first = s.first + chunk * s.span;
  return {first, first + s.span, false};
}

/// Ordering by sinks and sources.
void set_doacross(thread &t, workshare &s, unsigned count, const std::uint64_t *counts);
void post(thread &t, const std::uint64_t *where) noexcept;
void wait_for(thread &t, const std::uint64_t *where) noexcept;
void free_doacross(workshare &s) noexcept;
/// Loops of the nest that the member's region orders; 0: it orders nothing.
[[nodiscard]] unsigned depth_of_doacross(const thread &t) noexcept;

} // namespace weft_omp
