// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points: barrier, critical, atomic, sections, single, scope.
#include "abi/gnu/gomp.hpp"
#include "thread/event.hpp"
#include "tool/enter.hpp"

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
bool leave_and_wait_or_cancel(thread &self) {
  leave_workshare(self);
  return !team_barrier(self, barrier_kind::cancellable);
}

void report_section(watched_thread &me, unsigned number, const void *return_address) {
  if (number == 0)
    return;
  ompt::data where;
  where.pointer = const_cast<void *>(return_address);
  report_dispatch(me, ompt::dispatch_kind::section, where);
}

/// Begins sections, and returns the first one.
[[gnu::always_inline]] inline unsigned start_sections(unsigned count, std::uintptr_t *reductions,
                                                      void **memory) {
  return enter(
      [=](thread &self) {
        begin_workshare(self, reductions, memory, [&](workshare &s) {
          set_loop(self, s, {count, 1, 1, count + 1ull}, k_dynamic, 1);
        });
        return section(self, next_chunk(self));
      },
      [=](thread &self, const call_site &at, auto plain) {
        watched_thread &me = watched_self(self);
        begin_work(me, ompt::work_kind::sections, count, at.return_address);
        const unsigned number = plain(self);
        report_section(me, number, at.return_address);
        return number;
      });
}

constexpr auto k_explicit = ompt::sync_kind::barrier_explicit;
constexpr auto k_of_workshare = ompt::sync_kind::barrier_implicit_workshare;

bool start_single(thread &self) {
  std::uint64_t mine = self.workshare.singles++;
  return self.team->singles.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed);
}

} // namespace

extern "C" {

GOMP_API void GOMP_barrier() {
  enter([](thread &self) { team_barrier(self); }, as_barrier(k_explicit));
}
GOMP_API bool GOMP_barrier_cancel() {
  return enter([](thread &self) { return !team_barrier(self, barrier_kind::cancellable); },
               as_barrier(k_explicit));
}

GOMP_API void GOMP_critical_start() {
  enter([](thread &self) { g_critical.lock(self); },
        [](thread &self, const call_site &at, auto plain) {
          as_lock(ompt::mutex_kind::critical, &g_critical)(self, at, plain);
        });
}
GOMP_API void GOMP_critical_end() {
  enter([](thread &self) { g_critical.unlock(self); },
        [](thread &self, const call_site &at, auto plain) {
          as_unlock(ompt::mutex_kind::critical, &g_critical)(self, at, plain);
        });
}
GOMP_API void GOMP_critical_name_start(void **name) {
  enter([=](thread &self) { word_lock::at(name).lock(self); },
        as_lock(ompt::mutex_kind::critical, name));
}
GOMP_API void GOMP_critical_name_end(void **name) {
  enter([=](thread &self) { word_lock::at(name).unlock(self); },
        as_unlock(ompt::mutex_kind::critical, name));
}
GOMP_API void GOMP_atomic_start() {
  enter([](thread &self) { g_atomic.lock(self); },
        [](thread &self, const call_site &at, auto plain) {
          as_lock(ompt::mutex_kind::atomic, &g_atomic)(self, at, plain);
        });
}
GOMP_API void GOMP_atomic_end() {
  enter([](thread &self) { g_atomic.unlock(self); },
        [](thread &self, const call_site &at, auto plain) {
          as_unlock(ompt::mutex_kind::atomic, &g_atomic)(self, at, plain);
        });
}

GOMP_API unsigned GOMP_sections_start(unsigned count) {
  return start_sections(count, nullptr, nullptr);
}
GOMP_API unsigned GOMP_sections2_start(unsigned count, std::uintptr_t *reductions, void **memory) {
  return start_sections(count, reductions, memory);
}
GOMP_API unsigned GOMP_sections_next() {
  return enter([](thread &self) { return section(self, next_chunk(self)); },
               [](thread &self, const call_site &at, auto plain) {
                 const unsigned number = plain(self);
                 report_section(watched_self(self), number, at.return_address);
                 return number;
               });
}
GOMP_API void GOMP_sections_end() {
  enter([](thread &self) { leave_and_wait(self); }, as_barrier(k_of_workshare));
}
GOMP_API void GOMP_sections_end_nowait() {
  enter([](thread &self) { leave_workshare(self); }, as_work_end);
}
GOMP_API bool GOMP_sections_end_cancel() {
  return enter([](thread &self) { return leave_and_wait_or_cancel(self); },
               as_barrier(k_of_workshare));
}

GOMP_API bool GOMP_single_start() {
  return enter([](thread &self) { return start_single(self); }, as_single);
}

// The member that runs the single region publishes an address. The other members read the address
// between two barriers; the compiler emits the second one.
GOMP_API void *GOMP_single_copy_start() {
  return enter(
      [](thread &self) -> void * {
        if (start_single(self))
          return nullptr;
        team_barrier(self);
        return self.team->copied.load(std::memory_order_acquire); // O5
      },
      [](thread &self, const call_site &at, auto) -> void * {
        watched_thread &me = watched_self(self);
        const bool runs = start_single(self);
        report_single(me, runs, at.return_address);
        if (runs)
          return nullptr;
        synchronize(me, k_of_workshare, at.return_address, [&] { team_barrier(self); });
        return self.team->copied.load(std::memory_order_acquire); // O5
      });
}
GOMP_API void GOMP_single_copy_end(void *data) {
  enter(
      [=](thread &self) {
        self.team->copied.store(data, std::memory_order_release); // O5
        team_barrier(self);
      },
      as_barrier(k_of_workshare));
}

GOMP_API void GOMP_scope_start(std::uintptr_t *reductions) {
  enter(
      [=](thread &self) {
        begin_workshare(self, reductions, nullptr, [](workshare &) {});
        leave_workshare(self); // at once, because the end of a scope needs nothing of its workshare
      },
      [](thread &self, const call_site &at, auto plain) {
        plain(self);
        begin_work(watched_self(self), ompt::work_kind::scope, 1, at.return_address);
      });
}

} // extern "C"
