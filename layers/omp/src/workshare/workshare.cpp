// SPDX-License-Identifier: Apache-2.0
#include "workshare/workshare.hpp"

#include "team/team.hpp"
#include "thread/event.hpp"
#include "workshare/doacross.hpp"
#include "workshare/even_part.hpp"
#include "workshare/fair_share.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace weft_omp {

loop_shape shape_of(long first, long last, long step) noexcept {
  const auto a = static_cast<std::uint64_t>(first), b = static_cast<std::uint64_t>(last),
             s = static_cast<std::uint64_t>(step);
  const bool none = step > 0 ? first >= last : first <= last;
  return {none ? 0 : step > 0 ? (b - a - 1) / s + 1 : (a - b - 1) / (0 - s) + 1, a, s, b};
}

loop_shape shape_of(bool up, unsigned long long first, unsigned long long last,
                    unsigned long long step) noexcept {
  const bool none = up ? first >= last : first <= last;
  return {none ? 0
          : up ? (last - first - 1) / step + 1
               : (first - last - 1) / (0 - step) + 1,
          first, step, last};
}

void workshare::begin(std::uint64_t n) noexcept {
  number = slot->begun = n;
  left = 0;
  busy = true;
  memory = nullptr;
  reductions = nullptr;
  steps = nullptr;
  ordered.begin();
  next.store(0, std::memory_order_relaxed);
}

void workshare::end() noexcept {
  std::free(std::exchange(memory, nullptr));
  free_doacross(*this);
  busy = false;
  if (slot != this)
    next_spare = std::exchange(slot->spare, this);
}

void workshare::forget() noexcept {
  if (busy)
    end();
  while (workshare *const s = more) {
    more = s->more;
    if (s->busy)
      s->end();
    delete s;
  }
  last_made = last_found = spare = nullptr;
  number = begun = 0;
}

namespace {

/// Returns the record of a region that has begun. A member's next region of a slot is often in the
/// next record.
workshare &record_of(workshare &slot, std::uint64_t number) noexcept {
  workshare *s = slot.last_found ? slot.last_found : &slot;
  while (s->number != number)
    s = s->more ? s->more : &slot;
  slot.last_found = s;
  return *s;
}

/// Returns a free record, which it makes if there is none.
workshare &free_record(workshare &slot) noexcept {
  if (!slot.busy)
    return slot;
  if (workshare *const s = slot.spare) {
    slot.spare = s->next_spare;
    return *s;
  }
  auto *const made = new (std::nothrow) workshare;
  if (!made)
    fatal("no memory for a worksharing region");
  made->slot = &slot;
  (slot.last_made ? slot.last_made : &slot)->more = made;
  slot.last_made = made;
  return *made;
}

} // namespace

/// Makes the region current. Returns the lock, held, for the first member that enters; else null.
spin_lock *workshare_entry::enter(thread &self) noexcept {
  workshare_state &mine = self.workshare;
  if (mine.current) [[unlikely]] // a loop of Clang that was cancelled: no request has ended it
    leave_workshare(self);
  const std::uint64_t number = ++mine.entered;
  workshare &first = self.team->workshares[number % k_open_workshares];
  mine.trip = 0;
  mine.has_chunk = false;
  mine.range = nullptr;
  std::unique_lock lock(first.lock);
  if (number <= first.begun) {
    mine.current = &record_of(first, number);
    return nullptr;
  }
  workshare &s = free_record(first);
  mine.current = &s;
  s.begin(number);
  if (!self.team->used_workshares.load(std::memory_order_relaxed))
    self.team->used_workshares.store(true, std::memory_order_relaxed);
  return lock.release();
}

void leave_workshare(thread &self) noexcept {
  workshare *const s = std::exchange(self.workshare.current, nullptr);
  if (!s)
    return;
  self.workshare.range = nullptr;
  std::lock_guard lock(s->slot->lock);
  if (++s->left == self.team->size)
    s->end();
}

namespace {

/// Bounds the teams whose loops have ranges. The members of a larger team share a counter, because
/// a thief would read too many ranges.
constexpr unsigned k_most_ranges = 64;

/// Returns a function that gives the range of a static_steal loop by the member's number.
auto ranges_of(const thread &self, const workshare &share) noexcept {
  return [slots = static_cast<member_slot *>(self.team->slots),
          slot = share.number % k_open_workshares](unsigned member) -> chunk_range & {
    return slots[member].chunk_ranges[slot];
  };
}

/// Returns whether the member takes one chunk at a time: a tool hears of each, a request for
/// cancellation is looked at before each, and an order by a seed depends on no clock.
bool takes_single_chunks(const thread &self) noexcept {
  return self.watched || g_globals.cancellation || weft::detail::blocks_ignore_time();
}

} // namespace

void set_loop(const thread &self, workshare &share, const loop_shape &shape, long schedule,
              std::uint64_t chunk) noexcept {
  int kind = static_cast<int>(schedule & 7);
  bool in_any_order = (schedule & k_nonmonotonic) != 0;
  if (kind == k_runtime) {
    const icvs &v = my_icvs();
    kind = v.schedule;
    chunk = static_cast<std::uint64_t>(v.chunk);
    in_any_order = in_any_order && v.schedule_modifier != k_monotonic;
  }
  const unsigned members = self.team->size;
  // A record that is linked to a slot has no ranges.
  const bool may_have_ranges = in_any_order && members <= k_most_ranges && share.slot == &share;
  if (kind == k_auto) { // blocks of single iterations, where the member chooses their sizes
    const bool in_blocks = may_have_ranges && !takes_single_chunks(self);
    kind = in_blocks ? k_dynamic : k_static;
    chunk = !in_blocks ? 0 : shape.total == 0 ? 1 : (shape.total - 1) / chunk_range::k_most + 1;
  }
  if (kind == k_trapezoidal) // chunks that become smaller
    kind = k_guided;
  share.schedule = kind;
  share.total = shape.total;
  share.first = shape.first;
  share.step = shape.step;
  share.last = shape.last;
  share.chunk = kind == k_static ? chunk : std::max<std::uint64_t>(chunk, 1);
  share.multiple = 1;
  share.chunks = share.total == 0 || share.chunk == 0 ? 0 : (share.total - 1) / share.chunk + 1;
  share.span = share.chunk * share.step;
  share.adds = share.chunks < UINT64_C(1) << 62; // once per thread
  share.static_steal = may_have_ranges && share.chunks <= chunk_range::k_most &&
                       (kind == k_dynamic || (kind == k_guided && !takes_single_chunks(self)));
  if (share.static_steal) // chunks of a guided loop come into the ranges from the counter
    split_chunks(share.chunks == 0 || kind == k_guided ? 0 : share.chunks - 1, members,
                 ranges_of(self, share));
}

void set_memory(workshare &share, void **memory) {
  if (!memory)
    return;
  share.memory =
      std::calloc(1, std::max<std::size_t>(reinterpret_cast<std::uintptr_t>(*memory), 1));
  if (!share.memory)
    fatal("no memory for a worksharing region: %zu bytes", reinterpret_cast<std::size_t>(*memory));
}

namespace {

bool take(workshare_state &mine, std::uint64_t first, std::uint64_t end) noexcept {
  mine.first = first;
  mine.end = end;
  mine.has_chunk = true;
  return true;
}

bool take_equal(workshare_state &mine, const workshare &share, std::uint64_t chunk) noexcept {
  return take(mine, chunk * share.chunk,
              chunk + 1 == share.chunks ? share.total : (chunk + 1) * share.chunk);
}

bool next_static(const thread &self, workshare_state &mine, const workshare &share) noexcept {
  const std::uint64_t n = self.team->size, me = self.number;
  if (share.chunk == 0) {
    if (mine.trip++ != 0)
      return false;
    const auto [first, end] = even_part(share.total, n, me);
    return first < end && take(mine, first, end);
  }
  const std::uint64_t round = mine.trip++, mine_is = round * n + me;
  return round <= share.chunks / n && mine_is < share.chunks && take_equal(mine, share, mine_is);
}

/// Takes the member's next chunks of a static_steal loop. The loop's last chunk is in no range: the
/// first member that finds no other chunk gets it, and no chunk after it.
/// Compilers need that for lastprivate variables: they keep what a member's last chunk left, if
/// that chunk is the loop's last one.
bool next_static_steal(thread &self, workshare_state &mine, workshare &share) noexcept {
  if (mine.trip != 0)
    return false;
  const auto range_of = ranges_of(self, share);
  if (!mine.range) {
    mine.range = &range_of(self.number);
    self.pace.begin(takes_single_chunks(self));
  }
  std::uint32_t chunk = 0;
  if (const std::uint32_t count = mine.range->take(self.pace.next(mine.range->left()), chunk))
    return take(mine, chunk * share.chunk, (chunk + count) * share.chunk);
  if (std::uint32_t end = 0;
      share.schedule == k_guided && share.chunks != 0 &&
      take_fair_share(share.next, share.chunks - 1, self.team->size, chunk, end)) {
    mine.range->put(chunk + 1, end);
    self.pace.lose_time();
    return take_equal(mine, share, chunk);
  }
  if (steal_half(self.team->size, self.number, range_of, chunk)) {
    self.pace.lose_time();
    return take_equal(mine, share, chunk);
  }
  if (share.next.load(std::memory_order_relaxed) >= share.chunks ||
      share.next.exchange(share.chunks, std::memory_order_relaxed) == share.chunks)
    return false;
  mine.trip = 1;
  return take_equal(mine, share, share.chunks - 1);
}

bool next_dynamic(workshare_state &mine, workshare &share) noexcept {
  if (share.adds) [[likely]] {
    const std::uint64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
    return chunk < share.chunks && take_equal(mine, share, chunk);
  }
  std::uint64_t chunk = share.next.load(std::memory_order_relaxed);
  while (chunk < share.chunks)
    if (share.next.compare_exchange_weak(chunk, chunk + 1, std::memory_order_relaxed))
      return take_equal(mine, share, chunk);
  return false;
}

bool next_guided(const thread &self, workshare_state &mine, workshare &share) noexcept {
  std::uint64_t at = share.next.load(std::memory_order_relaxed);
  while (at < share.total) {
    const std::uint64_t left = share.total - at, fair = (left - 1) / self.team->size + 1;
    const std::uint64_t odd = fair % share.multiple, missing = odd == 0 ? 0 : share.multiple - odd;
    const std::uint64_t even = missing <= left - fair ? fair + missing : left;
    const std::uint64_t end = at + std::min(left, std::max(even, share.chunk));
    if (share.next.compare_exchange_weak(at, end, std::memory_order_relaxed))
      return take(mine, at, end);
  }
  return false;
}

} // namespace

bool next_chunk(thread &self) noexcept {
  workshare_state &mine = self.workshare;
  workshare &s = *mine.current;
  mine.has_chunk = false;
  if (self.team->is_workshare_cancelled())
    return false;
  switch (s.schedule) {
  case k_static:
    return next_static(self, mine, s);
  case k_guided:
    return s.static_steal ? next_static_steal(self, mine, s) : next_guided(self, mine, s);
  default:
    return s.static_steal ? next_static_steal(self, mine, s) : next_dynamic(mine, s);
  }
}

// ---- ordered -----------------------------------------------------------------------------------------------------------

void wait_for_ordered_ticket(thread &self) noexcept {
  if (self.workshare.has_chunk)
    self.workshare.current->ordered.wait_for_ticket(
        self.workshare.first,
        [&self](const auto &word, std::uint32_t seen) { wait_while(self, word, seen); });
}

bool next_ordered_chunk(thread &self) noexcept {
  if (self.workshare.has_chunk) {
    wait_for_ordered_ticket(self);
    self.workshare.current->ordered.pass_ticket(
        self.workshare.end, [&self](const auto &word) { wake_all(&self, word); });
  }
  return next_chunk(self);
}

} // namespace weft_omp
