// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: barrier, critical, atomic, sections, single, scope.
#include "abi/gnu/gomp.hpp"
#include "thread/event.hpp"

using namespace weft_omp;

namespace {

word_lock g_critical, g_atomic;

/// Returns the number of a section, counted from 1; 0 when there is none.
unsigned section(thread &self, bool found) noexcept {
  return found ? static_cast<unsigned>(self.workshare.first + 1) : 0;
}

void leave_and_wait(thread &self) {
  leave_workshare(self);
  team_barrier(self);
}

} // namespace

extern "C" {

GOMP_API void GOMP_barrier() { team_barrier(self()); }
GOMP_API bool GOMP_barrier_cancel() { return !team_barrier(self(), barrier_kind::cancellable); }

GOMP_API void GOMP_critical_start() { g_critical.lock(self()); }
GOMP_API void GOMP_critical_end() { g_critical.unlock(self()); }
GOMP_API void GOMP_critical_name_start(void **name) { word_lock::at(name).lock(self()); }
GOMP_API void GOMP_critical_name_end(void **name) { word_lock::at(name).unlock(self()); }
GOMP_API void GOMP_atomic_start() { g_atomic.lock(self()); }
GOMP_API void GOMP_atomic_end() { g_atomic.unlock(self()); }

GOMP_API unsigned GOMP_sections_start(unsigned count) {
  thread &self = weft_omp::self();
  begin_workshare(self, nullptr, nullptr, [&](workshare &s) {
    set_loop(self, s, {count, 1, 1, count + 1ull}, k_dynamic, 1);
  });
  return section(self, next_chunk(self));
}
GOMP_API unsigned GOMP_sections2_start(unsigned count, std::uintptr_t *reductions, void **memory) {
  thread &self = weft_omp::self();
  begin_workshare(self, reductions, memory, [&](workshare &s) {
    set_loop(self, s, {count, 1, 1, count + 1ull}, k_dynamic, 1);
  });
  return section(self, next_chunk(self));
}
GOMP_API unsigned GOMP_sections_next() {
  thread &self = weft_omp::self();
  return section(self, next_chunk(self));
}
GOMP_API void GOMP_sections_end() { leave_and_wait(self()); }
GOMP_API void GOMP_sections_end_nowait() { leave_workshare(self()); }
GOMP_API bool GOMP_sections_end_cancel() {
  thread &self = weft_omp::self();
  leave_workshare(self);
  return !team_barrier(self, barrier_kind::cancellable);
}

GOMP_API bool GOMP_single_start() {
  thread &self = weft_omp::self();
  std::uint64_t mine = self.workshare.singles++;
  return self.team->singles.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed);
}

// The member that runs the single region publishes an address. The other members read the address
// between two barriers; the compiler emits the second one.
GOMP_API void *GOMP_single_copy_start() {
  thread &self = weft_omp::self();
  if (GOMP_single_start())
    return nullptr;
  team_barrier(self);
  return self.team->copied.load(std::memory_order_acquire); // O5
}
GOMP_API void GOMP_single_copy_end(void *data) {
  thread &self = weft_omp::self();
  self.team->copied.store(data, std::memory_order_release); // O5
  team_barrier(self);
}

GOMP_API void GOMP_scope_start(std::uintptr_t *reductions) {
  thread &self = weft_omp::self();
  begin_workshare(self, reductions, nullptr, [](workshare &) {});
  leave_workshare(self); // at once, because the end of a scope needs nothing of its workshare
}

} // extern "C"
