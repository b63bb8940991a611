// SPDX-License-Identifier: Apache-2.0
#include "workshare/doacross.hpp"

#include "team/team.hpp"
#include "thread/event.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace weft_omp {

struct doacross {
  unsigned count;
  std::uint64_t *extents; // of all loops
  basic_ordered<>::post_word *posted;
  unsigned shared = 1; // so many outer loops share their iterations
  bool is_shared = false; // share_doacross() has been called
};

namespace {

basic_ordered<>::post_word *make_words(std::uint64_t count) noexcept {
  return static_cast<basic_ordered<>::post_word *>(
      std::calloc(count, sizeof(basic_ordered<>::post_word)));
}

[[noreturn]] void no_memory(unsigned depth, std::uint64_t iterations) {
  fatal("no memory for an ordered(%u) loop of %llu iterations", depth,
        static_cast<unsigned long long>(iterations));
}

/// Returns how many outer loops have so many iterations together, where each extent is `over` too
/// large; 0 if no number of them has.
unsigned outer_loops(const doacross &loop, std::uint64_t iterations, std::uint64_t over) noexcept {
  std::uint64_t product = 1;
  for (unsigned i = 0; i < loop.count; ++i)
    if (__builtin_mul_overflow(product, loop.extents[i] - over, &product))
      return 0;
    else if (product == iterations)
      return i + 1;
  return 0;
}

} // namespace

void set_doacross(thread &self, workshare &share, unsigned count, const std::uint64_t *counts) {
  share.steps = nullptr;
  if (self.team->size == 1)
    return;
  for (unsigned i = 0; i < count; ++i)
    if (counts[i] == 0)
      return; // no iteration runs
  auto *d = new (std::nothrow) doacross{count, nullptr, nullptr};
  if (d) {
    d->extents = static_cast<std::uint64_t *>(std::malloc(count * sizeof *counts));
    d->posted = make_words(counts[0]);
  }
  if (!d || !d->extents || !d->posted)
    no_memory(count, counts[0]);
  for (unsigned i = 0; i < count; ++i)
    d->extents[i] = counts[i];
  share.steps = d;
}

void share_doacross(thread &self, std::uint64_t iterations, bool may_be_numbers) {
  workshare *const s = self.workshare.nest;
  doacross *const d = s ? s->steps : nullptr;
  if (!d || iterations == 0)
    return;
  const std::lock_guard lock(s->slot->lock);
  if (std::exchange(d->is_shared, true))
    return;
  const unsigned exact = may_be_numbers ? outer_loops(*d, iterations, 1) : 0;
  if (exact != 0)
    for (unsigned i = 0; i < d->count; ++i)
      --d->extents[i];
  d->shared = std::max(exact != 0 ? exact : outer_loops(*d, iterations, 0), 1u);
  if (d->shared == 1)
    return;
  std::free(d->posted);
  if (!(d->posted = make_words(iterations)))
    no_memory(d->count, iterations);
}

void free_doacross(workshare &share) noexcept {
  doacross *const d = std::exchange(share.steps, nullptr);
  if (!d)
    return;
  std::free(d->extents);
  std::free(d->posted);
  delete d;
}

namespace {

workshare *nest_of(const thread &self) noexcept {
  return self.workshare.nest ? self.workshare.nest : self.workshare.current;
}

} // namespace

unsigned depth_of_doacross(const thread &self) noexcept {
  const workshare *const s = nest_of(self);
  return s && s->steps ? s->steps->count : 0;
}

namespace {

/// Returns the number of an iteration among those of the loops [first, end) of a nest, from 0.
std::uint64_t number_in(const doacross &loop, const std::uint64_t *where, unsigned first,
                        unsigned end) noexcept {
  std::uint64_t n = 0;
  for (unsigned i = first; i < end; ++i)
    n = n * loop.extents[i] + where[i];
  return n;
}
std::uint64_t row_of(const doacross &loop, const std::uint64_t *where) noexcept {
  return number_in(loop, where, 0, loop.shared);
}
std::uint64_t inner_number(const doacross &loop, const std::uint64_t *where) noexcept {
  return number_in(loop, where, loop.shared, loop.count) + 1;
}
bool is_iteration(const doacross &loop, const std::uint64_t *where) noexcept {
  for (unsigned i = 0; i < loop.count; ++i)
    if (where[i] >= loop.extents[i])
      return false;
  return true;
}

} // namespace

void post(thread &self, const std::uint64_t *where) noexcept {
  workshare *const s = nest_of(self);
  doacross *const d = s ? s->steps : nullptr;
  if (d)
    s->ordered.post(d->posted[row_of(*d, where)], inner_number(*d, where),
                    [&self](const auto &word) { wake_all(&self, word); });
}

void wait_for(thread &self, const std::uint64_t *where) noexcept {
  workshare *const s = nest_of(self);
  doacross *const d = s ? s->steps : nullptr;
  if (d && is_iteration(*d, where))
    s->ordered.wait_for_post(
        d->posted[row_of(*d, where)], inner_number(*d, where),
        [&self](const auto &word, std::uint32_t seen) { wait_while(self, word, seen); });
}

} // namespace weft_omp
