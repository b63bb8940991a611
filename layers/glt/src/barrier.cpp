// SPDX-License-Identifier: Apache-2.0
#include "object.hpp"
#include "waiters.hpp"

#include <mutex>

using namespace weft_glt;

namespace {

struct barrier {
  static constexpr kind_of_object k_kind{"a barrier", "glt_barrier_create()"};

  /// Adds the caller. Returns the waiters that may go on, if the caller is the last to arrive.
  [[nodiscard]] waiter *arrive(waiter &newcomer) {
    const std::lock_guard here(guard);
    waiting.add(newcomer);
    if (++arrived < needed)
      return nullptr;
    arrived = 0;
    return waiting.take_all();
  }
  std::mutex guard; // held for a few instructions, never while a caller waits
  int needed = 0;
  int arrived = 0; // suspended callers
  waiters waiting;
};

} // namespace

void glt_barrier_create(int num_waiters, GLT_barrier *barrier_to_make) {
  require_session("glt_barrier_create");
  if (num_waiters < 1)
    misuse("glt_barrier_create", "a barrier for %d callers; pass at least 1", num_waiters);
  barrier &b = new_object<barrier>("glt_barrier_create", barrier_to_make);
  b.needed = num_waiters;
  b.arrived = 0;
}

void glt_barrier_free(GLT_barrier *barrier_to_free) {
  require("glt_barrier_free", barrier_to_free, "barrier");
  barrier &b = object_of<barrier>("glt_barrier_free", number_of(*barrier_to_free));
  {
    const std::lock_guard here(b.guard);
    if (!b.waiting.empty())
      misuse("glt_barrier_free",
             "%d of %d callers wait at the barrier; free it when all have gone on", b.arrived,
             b.needed);
  }
  free_object<barrier>(barrier_to_free);
}

void glt_barrier_wait(GLT_barrier *barrier_to_wait_at) {
  require("glt_barrier_wait", barrier_to_wait_at, "barrier");
  barrier &b = object_of<barrier>("glt_barrier_wait", number_of(*barrier_to_wait_at));
  in_weft("glt_barrier_wait", [&] {
    auto left = [&b](waiter &w) { waiters::resume_all(b.arrive(w)); };
    wait_until_resumed(left);
  });
}
