// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: allocators, the error directive, what target regions on the host ask for, and the kmp_* functions of <omp.h>.
#include "kmpc.hpp"

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

KMP_API void *__kmpc_alloc(int, std::size_t bytes, std::uintptr_t handle) { return omp_alloc(bytes, handle); }
KMP_API void *__kmpc_aligned_alloc(int, std::size_t alignment, std::size_t bytes, std::uintptr_t handle) {
  return omp_aligned_alloc(alignment, bytes, handle);
}
KMP_API void *__kmpc_calloc(int, std::size_t n, std::size_t bytes, std::uintptr_t handle) { return omp_calloc(n, bytes, handle); }
KMP_API void *__kmpc_realloc(int, void *p, std::size_t bytes, std::uintptr_t handle, std::uintptr_t before) {
  return omp_realloc(p, bytes, handle, before);
}
KMP_API void __kmpc_free(int, void *p, std::uintptr_t handle) { omp_free(p, handle); }

KMP_API void __kmpc_error(location *, int severity, const char *message) {
  constexpr int k_fatal = 2;
  warn("error directive encountered: %s", message ? message : "(no message)");
  if (severity == k_fatal)
    std::exit(1);
}
KMP_API void __kmpc_set_thread_limit(location *, std::int32_t, std::int32_t limit) {
  if (limit > 0)
    own_icvs().thread_limit = static_cast<unsigned>(limit);
}
KMP_API int __kmpc_get_target_offload() { return g_globals.target_offload == 1 ? 2 : g_globals.target_offload == 2 ? 0 : 1; }

// What kmp_malloc() gives is freed by kmp_free() only, so the C library's will do.
KMP_API void *kmp_malloc(std::size_t bytes) { return std::malloc(bytes); }
KMP_API void *kmp_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
KMP_API void *kmp_calloc(std::size_t n, std::size_t bytes) { return std::calloc(n, bytes); }
KMP_API void *kmp_realloc(void *p, std::size_t bytes) { return std::realloc(p, bytes); }
KMP_API void kmp_free(void *p) { std::free(p); }
KMP_API void *kmpc_malloc(std::size_t bytes) { return kmp_malloc(bytes); }
KMP_API void *kmpc_aligned_malloc(std::size_t bytes, std::size_t alignment) { return kmp_aligned_malloc(bytes, alignment); }
KMP_API void *kmpc_calloc(std::size_t n, std::size_t bytes) { return kmp_calloc(n, bytes); }
KMP_API void *kmpc_realloc(void *p, std::size_t bytes) { return kmp_realloc(p, bytes); }
KMP_API void kmpc_free(void *p) { kmp_free(p); }

// For threads that begin later, as in LLVM's.
KMP_API void kmp_set_stacksize_s(std::size_t bytes) { g_globals.stack_bytes = bytes; }
KMP_API std::size_t kmp_get_stacksize_s() { return g_globals.stack_bytes; }
KMP_API void kmp_set_stacksize(int bytes) {
  if (bytes > 0)
    kmp_set_stacksize_s(static_cast<std::size_t>(bytes));
}
KMP_API int kmp_get_stacksize() { return static_cast<int>(kmp_get_stacksize_s()); }

// A waiting thread spins for a moment and is parked: there is no time to choose.
KMP_API void kmp_set_blocktime(int) {}
KMP_API int kmp_get_blocktime() { return 0; }
KMP_API void kmp_set_library(int) {}
KMP_API void kmp_set_library_serial() { own_icvs().threads = 1; }
KMP_API void kmp_set_library_turnaround() {}
KMP_API void kmp_set_library_throughput() {}
KMP_API int kmp_get_library() { return 2; } // throughput: it never spins for long
KMP_API void kmp_set_warnings_on() {}
KMP_API void kmp_set_warnings_off() {}
KMP_API void kmp_set_defaults(const char *text) { warn("kmp_set_defaults(\"%s\") is ignored: set the environment before the program starts", text ? text : ""); }
KMP_API int kmp_get_cancellation_status(int) { return g_globals.cancellation; }
