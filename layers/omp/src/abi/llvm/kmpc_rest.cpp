// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: allocators, the error directive, functions that target regions on the host
// call, and the kmp_* functions of <omp.h>.
#include "abi/llvm/kmpc.hpp"
#include "team/barrier.hpp"
#include "tool/enter.hpp"

#include <cstdlib>
#include <cstring>

using namespace weft_omp;

extern "C" {
void *omp_alloc(std::size_t, std::uintptr_t);
void *omp_aligned_alloc(std::size_t, std::size_t, std::uintptr_t);
void *omp_calloc(std::size_t, std::size_t, std::uintptr_t);
void *omp_realloc(void *, std::size_t, std::uintptr_t, std::uintptr_t);
void omp_free(void *, std::uintptr_t);
}

KMP_API void *__kmpc_alloc(int, std::size_t bytes, std::uintptr_t handle) {
  return omp_alloc(bytes, handle);
}
KMP_API void *__kmpc_aligned_alloc(int, std::size_t alignment, std::size_t bytes,
                                   std::uintptr_t handle) {
  return omp_aligned_alloc(alignment, bytes, handle);
}
KMP_API void *__kmpc_calloc(int, std::size_t n, std::size_t bytes, std::uintptr_t handle) {
  return omp_calloc(n, bytes, handle);
}
KMP_API void *__kmpc_realloc(int, void *p, std::size_t bytes, std::uintptr_t handle,
                             std::uintptr_t before) {
  return omp_realloc(p, bytes, handle, before);
}
KMP_API void __kmpc_free(int, void *p, std::uintptr_t handle) { omp_free(p, handle); }

KMP_API void __kmpc_error(location *, int severity, const char *message) {
  constexpr int k_fatal = 2;
  report_if_watched([=](thread &, const call_site &at) {
    report(ompt::event::error, severity, message, message ? std::strlen(message) : std::size_t{0},
           at.return_address);
  });
  warn("error directive encountered: %s", message ? message : "(no message)");
  if (severity == k_fatal)
    std::exit(1);
}
KMP_API void __kmpc_set_thread_limit(location *, std::int32_t, std::int32_t limit) {
  if (limit > 0)
    own_icvs().thread_limit = static_cast<unsigned>(limit);
}
KMP_API int __kmpc_get_target_offload() {
  const int said = of_process().target_offload;
  return said == 1 ? 2 : said == 2 ? 0 : 1;
}

// Old compilers call these under names of their own.
extern "C" {
std::uintptr_t omp_init_allocator(std::uintptr_t, int, const void *);
void omp_destroy_allocator(std::uintptr_t);
void omp_set_default_allocator(std::uintptr_t);
std::uintptr_t omp_get_default_allocator();
int omp_pause_resource(int, int);
}
KMP_API std::uintptr_t __kmpc_init_allocator(int, std::uintptr_t space, int count,
                                             const void *traits) {
  return omp_init_allocator(space, count, traits);
}
KMP_API void __kmpc_destroy_allocator(int, std::uintptr_t handle) { omp_destroy_allocator(handle); }
KMP_API void __kmpc_set_default_allocator(int, std::uintptr_t handle) {
  omp_set_default_allocator(handle);
}
KMP_API std::uintptr_t __kmpc_get_default_allocator(int) { return omp_get_default_allocator(); }
KMP_API int __kmpc_pause_resource(int kind, int device) { return omp_pause_resource(kind, device); }

namespace {

void report_section(watched_thread &me, const void *return_address) {
  ompt::data where;
  where.pointer = const_cast<void *>(return_address);
  report_dispatch(me, ompt::dispatch_kind::section, where);
}

} // namespace

/// Begins sections. They are a loop with a chunk of one; each step passes the number of sections.
KMP_API std::int32_t __kmpc_sections_init(location *, std::int32_t) {
  return enter(
      [](thread &self) {
        if (const workshare_entry entry(self); entry.is_first())
          set_loop(self, *self.workshare.current, {INT32_MAX, 0, 1, INT32_MAX}, k_dynamic, 1);
        return next_chunk(self) ? static_cast<std::int32_t>(self.workshare.first) : INT32_MAX;
      },
      [](thread &self, const call_site &at, auto plain) {
        watched_thread &me = watched_self(self);
        begin_work(me, ompt::work_kind::sections, 0, at.return_address);
        const std::int32_t number = plain(self);
        if (number != INT32_MAX)
          report_section(me, at.return_address);
        return number;
      });
}
KMP_API std::int32_t __kmpc_next_section(location *, std::int32_t, std::int32_t count) {
  return enter(
      [=](thread &self) {
        return next_chunk(self) && self.workshare.first < static_cast<std::uint64_t>(count)
                   ? static_cast<std::int32_t>(self.workshare.first)
                   : count;
      },
      [=](thread &self, const call_site &at, auto plain) {
        const std::int32_t number = plain(self);
        if (number != count)
          report_section(watched_self(self), at.return_address);
        return number;
      });
}
KMP_API void __kmpc_end_sections(location *, std::int32_t) {
  enter([](thread &self) { leave_workshare(self); }, as_work_end);
}

/// Gives the address that one member passes to all members. The compiler emits the barrier that
/// ends the construct.
KMP_API void *__kmpc_copyprivate_light(location *, std::int32_t, void *data) {
  return enter(
      [=](thread &self) -> void * {
        if (data)
          self.team->copied.store(data, std::memory_order_release); // O5
        team_barrier(self);
        return self.team->copied.load(std::memory_order_acquire); // O5
      },
      as_barrier(ompt::sync_kind::barrier_implicit_workshare));
}
KMP_API void __kmpc_pop_num_threads(location *, std::int32_t) { self().asked.threads = 0; }
