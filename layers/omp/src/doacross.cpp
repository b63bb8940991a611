// SPDX-License-Identifier: Apache-2.0
// Sinks and sources: for each outermost iteration, how many of its inner ones are posted, in the order of the nest.
//
// Orders      O1  store and load seq_cst of an entry, with `waiting`: either the poster sees who waits, or who waits sees the post.
//             O2  load acquire of an entry, with O1: what was done before the post. turns fetch_add release, load acquire: see share.hpp.
#include "event.hpp"
#include "team.hpp"

#include <cstdlib>
#include <new>

namespace weft_omp {

struct doacross {
  unsigned count;
  std::uint64_t *extents; // of the inner loops
  std::atomic<std::uint64_t> *posted;
  std::atomic<std::uint32_t> waiting{0};
};

void set_doacross(thread &t, work_share &s, unsigned count, const std::uint64_t *counts) {
  s.steps = nullptr;
  if (t.crew->size == 1)
    return;
  for (unsigned i = 0; i < count; ++i)
    if (counts[i] == 0)
      return; // nothing runs
  auto *d = new (std::nothrow) doacross{count, nullptr, nullptr};
  if (d) {
    d->extents = static_cast<std::uint64_t *>(std::malloc(count * sizeof *counts));
    d->posted = static_cast<std::atomic<std::uint64_t> *>(std::calloc(counts[0], sizeof *d->posted));
  }
  if (!d || !d->extents || !d->posted)
    fatal("no memory for an ordered(%u) loop of %llu iterations", count, static_cast<unsigned long long>(counts[0]));
  for (unsigned i = 0; i < count; ++i)
    d->extents[i] = counts[i];
  s.steps = d;
}

void free_doacross(work_share &s) noexcept {
  doacross *const d = std::exchange(s.steps, nullptr);
  if (!d)
    return;
  std::free(d->extents);
  std::free(d->posted);
  delete d;
}

namespace {

work_share *nest_of(const thread &t) noexcept { return t.share.nest ? t.share.nest : t.share.current; }

} // namespace

unsigned depth_of_doacross(const thread &t) noexcept {
  const work_share *const s = nest_of(t);
  return s && s->steps ? s->steps->count : 0;
}

namespace {

/// The inner iterations of a nest are numbered from 1.
std::uint64_t inner_number(const doacross &d, const std::uint64_t *where) noexcept {
  std::uint64_t n = 0;
  for (unsigned i = 1; i < d.count; ++i)
    n = n * d.extents[i] + where[i];
  return n + 1;
}

} // namespace

void post(thread &t, const std::uint64_t *where) noexcept {
  work_share *const s = nest_of(t);
  doacross *const d = s ? s->steps : nullptr;
  if (!d)
    return;
  d->posted[where[0]].store(inner_number(*d, where), std::memory_order_seq_cst); // O1
  if (d->waiting.load(std::memory_order_seq_cst) == 0)
    return;
  s->turns.fetch_add(1, std::memory_order_release);
  wake_all(&t, s->turns);
}

void wait_for(thread &t, const std::uint64_t *where) noexcept {
  work_share *const s = nest_of(t);
  doacross *const d = s ? s->steps : nullptr;
  if (!d || where[0] >= d->extents[0])
    return;
  const std::uint64_t wanted = inner_number(*d, where);
  if (d->posted[where[0]].load(std::memory_order_acquire) >= wanted) // O2
    return;
  d->waiting.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    const std::uint32_t seen = s->turns.load(std::memory_order_acquire);
    if (d->posted[where[0]].load(std::memory_order_seq_cst) >= wanted) // O1
      break;
    wait_while(t, s->turns, seen);
  }
  d->waiting.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace weft_omp
