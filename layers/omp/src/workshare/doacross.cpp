// SPDX-License-Identifier: Apache-2.0
#include "workshare/doacross.hpp"

#include "team/team.hpp"
#include "thread/event.hpp"

#include <cstdlib>
#include <new>

namespace weft_omp {

struct doacross {
  unsigned count;
  std::uint64_t *extents; // of the inner loops
  basic_ordered<>::post_word *posted;
};

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
    d->posted =
        static_cast<basic_ordered<>::post_word *>(std::calloc(counts[0], sizeof *d->posted));
  }
  if (!d || !d->extents || !d->posted)
    fatal("no memory for an ordered(%u) loop of %llu iterations", count,
          static_cast<unsigned long long>(counts[0]));
  for (unsigned i = 0; i < count; ++i)
    d->extents[i] = counts[i];
  share.steps = d;
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

/// Returns the number of an inner iteration of a nest, from 1.
std::uint64_t inner_number(const doacross &loop, const std::uint64_t *where) noexcept {
  std::uint64_t n = 0;
  for (unsigned i = 1; i < loop.count; ++i)
    n = n * loop.extents[i] + where[i];
  return n + 1;
}

} // namespace

void post(thread &self, const std::uint64_t *where) noexcept {
  workshare *const s = nest_of(self);
  doacross *const d = s ? s->steps : nullptr;
  if (d)
    s->ordered.post(d->posted[where[0]], inner_number(*d, where),
                    [&self](const auto &word) { wake_all(&self, word); });
}

void wait_for(thread &self, const std::uint64_t *where) noexcept {
  workshare *const s = nest_of(self);
  doacross *const d = s ? s->steps : nullptr;
  if (d && where[0] < d->extents[0])
    s->ordered.wait_for_post(
        d->posted[where[0]], inner_number(*d, where),
        [&self](const auto &word, std::uint32_t seen) { wait_while(self, word, seen); });
}

} // namespace weft_omp
