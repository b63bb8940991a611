// SPDX-License-Identifier: Apache-2.0
#include "share.hpp"

#include "event.hpp"
#include "team.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace weft_omp {

loop_shape shape_of(long first, long last, long step) noexcept {
  const auto a = static_cast<std::uint64_t>(first), b = static_cast<std::uint64_t>(last), s = static_cast<std::uint64_t>(step);
  const bool none = step > 0 ? first >= last : first <= last;
  return {none ? 0 : step > 0 ? (b - a - 1) / s + 1 : (a - b - 1) / (0 - s) + 1, a, s, b};
}

loop_shape shape_of(bool up, unsigned long long first, unsigned long long last, unsigned long long step) noexcept {
  const bool none = up ? first >= last : first <= last;
  return {none ? 0 : up ? (last - first - 1) / step + 1 : (first - last - 1) / (0 - step) + 1, first, step, last};
}

void work_share::begin(std::uint64_t n) noexcept {
  number = n;
  left = 0;
  busy = true;
  memory = nullptr;
  reductions = nullptr;
  steps = nullptr;
  ordered.store(0, std::memory_order_relaxed);
  next.store(0, std::memory_order_relaxed);
}

void work_share::end() noexcept {
  std::free(std::exchange(memory, nullptr));
  free_doacross(*this);
  busy = false;
}

void work_share::forget() noexcept {
  for (work_share *s = this; s; s = s->more) {
    if (s->busy)
      s->end();
    s->number = 0;
  }
}

namespace {

/// With the lock: where region `number` stands, else a free place, made when there is none.
work_share &find_place(work_share &first, std::uint64_t number) noexcept {
  work_share *free = nullptr, *last = &first;
  for (work_share *s = &first; s; last = s, s = s->more) {
    if (s->number == number)
      return *s;
    if (!s->busy && !free)
      free = s;
  }
  if (free)
    return *free;
  auto *const made = new (std::nothrow) work_share;
  if (!made)
    fatal("no memory for a worksharing region");
  made->place = &first;
  last->more = made;
  return *made;
}

} // namespace

bool enter_share(thread &t) noexcept {
  share_state &mine = t.share;
  const std::uint64_t number = ++mine.entered;
  work_share &first = t.crew->shares[number % k_open_shares];
  mine.trip = 0;
  mine.has_chunk = false;
  first.lock.lock();
  work_share &s = find_place(first, number);
  mine.current = &s;
  if (s.number == number) {
    first.lock.unlock();
    return false;
  }
  s.begin(number);
  t.crew->used_shares.store(true, std::memory_order_relaxed);
  return true; // with the lock: the others wait for shared()
}

void shared(thread &t) noexcept { t.share.current->place->lock.unlock(); }

void leave_share(thread &t) noexcept {
  work_share *const s = std::exchange(t.share.current, nullptr);
  if (!s)
    return;
  std::lock_guard lock(s->place->lock);
  if (++s->left == t.crew->size)
    s->end();
}

void set_loop(work_share &s, const loop_shape &shape, long schedule, std::uint64_t chunk) noexcept {
  int kind = static_cast<int>(schedule & 7);
  if (kind == k_runtime) {
    const icvs &v = my_icvs();
    kind = v.schedule;
    chunk = static_cast<std::uint64_t>(v.chunk);
  }
  if (kind == k_auto)
    kind = k_static, chunk = 0;
  if (kind == k_trapezoidal) // chunks that become smaller
    kind = k_guided;
  s.schedule = kind;
  s.total = shape.total;
  s.first = shape.first;
  s.step = shape.step;
  s.last = shape.last;
  s.chunk = kind == k_static ? chunk : std::max<std::uint64_t>(chunk, 1);
  s.multiple = 1;
  s.adds = s.total < UINT64_C(1) << 62 && s.chunk < UINT64_C(1) << 32; // once per thread
}

void set_memory(work_share &s, void **memory) {
  if (!memory)
    return;
  s.memory = std::calloc(1, std::max<std::size_t>(reinterpret_cast<std::uintptr_t>(*memory), 1));
  if (!s.memory)
    fatal("no memory for a worksharing region: %zu bytes", reinterpret_cast<std::size_t>(*memory));
}

namespace {

bool take(share_state &mine, std::uint64_t first, std::uint64_t end) noexcept {
  mine.first = first;
  mine.end = end;
  mine.has_chunk = true;
  return true;
}

bool next_static(const thread &t, share_state &mine, const work_share &s) noexcept {
  const std::uint64_t n = t.crew->size, me = t.number;
  if (s.chunk == 0) {
    if (mine.trip++ != 0)
      return false;
    const std::uint64_t share = s.total / n, more = s.total % n;
    const std::uint64_t first = me * share + std::min(me, more), end = first + share + (me < more);
    return first < end && take(mine, first, end);
  }
  const std::uint64_t round = mine.trip++;
  const std::uint64_t chunks = (s.total - 1) / s.chunk + 1, mine_is = round * n + me;
  if (s.total == 0 || round > chunks / n || mine_is >= chunks)
    return false;
  return take(mine, mine_is * s.chunk, mine_is == chunks - 1 ? s.total : (mine_is + 1) * s.chunk);
}

bool next_dynamic(share_state &mine, work_share &s) noexcept {
  if (s.adds) [[likely]] {
    const std::uint64_t mine_is = s.next.fetch_add(s.chunk, std::memory_order_relaxed);
    return mine_is < s.total && take(mine, mine_is, std::min(mine_is + s.chunk, s.total));
  }
  std::uint64_t at = s.next.load(std::memory_order_relaxed);
  while (at < s.total) {
    const std::uint64_t end = s.total - at > s.chunk ? at + s.chunk : s.total;
    if (s.next.compare_exchange_weak(at, end, std::memory_order_relaxed))
      return take(mine, at, end);
  }
  return false;
}

bool next_guided(const thread &t, share_state &mine, work_share &s) noexcept {
  std::uint64_t at = s.next.load(std::memory_order_relaxed);
  while (at < s.total) {
    const std::uint64_t left = s.total - at, fair = (left - 1) / t.crew->size + 1;
    const std::uint64_t even = (fair + s.multiple - 1) / s.multiple * s.multiple;
    const std::uint64_t end = at + std::min(left, std::max(even, s.chunk));
    if (s.next.compare_exchange_weak(at, end, std::memory_order_relaxed))
      return take(mine, at, end);
  }
  return false;
}

} // namespace

bool next_chunk(thread &t) noexcept {
  share_state &mine = t.share;
  work_share &s = *mine.current;
  mine.has_chunk = false;
  if (t.crew->share_cancelled.load(std::memory_order_relaxed))
    return false;
  switch (s.schedule) {
  case k_static:
    return next_static(t, mine, s);
  case k_guided:
    return next_guided(t, mine, s);
  default:
    return next_dynamic(mine, s);
  }
}

// ---- ordered -----------------------------------------------------------------------------------------------------------

void wait_for_turn(thread &t) noexcept {
  work_share &s = *t.share.current;
  if (!t.share.has_chunk)
    return;
  for (;;) {
    const std::uint32_t seen = s.turns.load(std::memory_order_acquire); // O2
    if (s.ordered.load(std::memory_order_acquire) >= t.share.first) // O1
      return;
    wait_while(t, s.turns, seen);
  }
}

bool next_ordered_chunk(thread &t) noexcept {
  work_share &s = *t.share.current;
  if (t.share.has_chunk) {
    wait_for_turn(t);
    s.ordered.store(t.share.end, std::memory_order_release); // O1
    s.turns.fetch_add(1, std::memory_order_release); // O2
    wake_all(&t, s.turns);
  }
  return next_chunk(t);
}

} // namespace weft_omp
