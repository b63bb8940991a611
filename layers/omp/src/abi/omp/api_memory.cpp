// SPDX-License-Identifier: Apache-2.0
// omp_*: allocators. There is one memory, that of the process. The traits of alignment, pool size
// and fallback have their effect.
#include "abi/api.hpp"
#include "team/team.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace weft_omp;

namespace {

enum trait_key {
  k_sync_hint = 1,
  k_alignment,
  k_access,
  k_pool_size,
  k_fallback,
  k_fb_data,
  k_pinned,
  k_partition
};
enum trait_value { k_default_mem_fb = 11, k_null_fb = 12, k_abort_fb = 13, k_allocator_fb = 14 };
constexpr std::uintptr_t k_predefined = 8; // handles up to this one are names, others are addresses

struct trait {
  int key;
  std::uintptr_t value;
};

struct allocator {
  std::uintptr_t space;
  std::size_t alignment = sizeof(void *);
  std::size_t pool = ~std::size_t{0};
  std::uintptr_t fallback = k_default_mem_fb, fallback_data = 0;
  std::atomic<std::size_t> used{0};
};

/// Describes a piece of memory; it lies in front of the piece, and counts in its pool.
struct head {
  void *block;
  std::size_t bytes;
  std::size_t charged;
  std::uintptr_t handle;
};

allocator *made(std::uintptr_t handle) noexcept {
  return handle > k_predefined ? reinterpret_cast<allocator *>(handle) : nullptr;
}
head *head_of(void *p) noexcept { return static_cast<head *>(p) - 1; }

bool charge(allocator &from, std::size_t bytes) noexcept {
  std::size_t used = from.used.load(std::memory_order_relaxed);
  do
    if (bytes > from.pool || used > from.pool - bytes)
      return false;
  while (!from.used.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

/// Says what is in new memory.
enum class contents : bool { any, zeros };
void *take(std::size_t bytes, std::size_t alignment, std::uintptr_t handle, contents filled);

void *fall_back(const allocator *from, std::size_t bytes, std::size_t alignment, contents filled) {
  switch (from ? from->fallback : static_cast<std::uintptr_t>(k_null_fb)) {
  case k_default_mem_fb:
    return take(bytes, std::max(alignment, from->alignment), 1, filled);
  case k_allocator_fb:
    return take(bytes, alignment, from->fallback_data, filled);
  case k_abort_fb:
    fatal("an allocator has no memory left for %zu bytes, and its fallback trait is abort_fb",
          bytes);
  default:
    return nullptr;
  }
}

void *take(std::size_t bytes, std::size_t alignment, std::uintptr_t handle, contents filled) {
  if (bytes == 0)
    return nullptr;
  if (handle == 0)
    handle = my_icvs().allocator;
  allocator *const a = made(handle);
  const std::size_t align = std::max(
      {alignment, a ? a->alignment : alignof(std::max_align_t), alignof(std::max_align_t)});
  const std::size_t whole = bytes + sizeof(head) + align;
  if (whole < bytes)
    return fall_back(a, bytes, alignment, filled);
  const std::size_t charged = a ? bytes + sizeof(head) : 0;
  if (a && !charge(*a, charged))
    return fall_back(a, bytes, alignment, filled);
  void *const block = filled == contents::zeros ? std::calloc(1, whole) : std::malloc(whole);
  if (!block) {
    if (a)
      a->used.fetch_sub(charged, std::memory_order_relaxed);
    return fall_back(a, bytes, alignment, filled);
  }
  const auto at =
      (reinterpret_cast<std::uintptr_t>(block) + sizeof(head) + align - 1) & ~(align - 1);
  *head_of(reinterpret_cast<void *>(at)) = {block, bytes, charged, handle};
  return reinterpret_cast<void *>(at);
}

bool read_trait(allocator &from, const trait &asked) noexcept {
  switch (asked.key) {
  case k_alignment:
    from.alignment = std::max<std::size_t>(asked.value, sizeof(void *));
    return asked.value != 0 && (asked.value & (asked.value - 1)) == 0;
  case k_pool_size:
    from.pool = asked.value;
    return asked.value != 0;
  case k_fallback:
    from.fallback = asked.value == ~std::uintptr_t{0}
                        ? static_cast<std::uintptr_t>(k_default_mem_fb)
                        : asked.value;
    return from.fallback >= k_default_mem_fb && from.fallback <= k_allocator_fb;
  case k_fb_data:
    from.fallback_data = asked.value;
    return true;
  case k_pinned:
    return asked.value != 1; // omp_atv_true: memory is not pinned
  case k_sync_hint:
  case k_access:
  case k_partition:
    return true;
  default:
    return false;
  }
}

} // namespace

OMP_API std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const trait *traits) {
  auto *a = new (std::nothrow) allocator{space};
  if (!a)
    return 0;
  for (int i = 0; i < count; ++i)
    if (!read_trait(*a, traits[i])) {
      delete a;
      return 0;
    }
  return reinterpret_cast<std::uintptr_t>(a);
}
OMP_API void omp_destroy_allocator(std::uintptr_t handle) { delete made(handle); }
OMP_API void omp_set_default_allocator(std::uintptr_t handle) {
  own_icvs().allocator = handle ? handle : 1;
}
OMP_API std::uintptr_t omp_get_default_allocator() { return my_icvs().allocator; }

OMP_API void *omp_aligned_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t handle) {
  return take(bytes, alignment, handle, contents::any);
}
OMP_API void *omp_alloc(std::size_t bytes, std::uintptr_t handle) {
  return take(bytes, 1, handle, contents::any);
}
OMP_API void *omp_aligned_calloc(std::size_t alignment, std::size_t n, std::size_t bytes,
                                 std::uintptr_t handle) {
  std::size_t all = 0;
  return __builtin_mul_overflow(n, bytes, &all) ? nullptr
                                                : take(all, alignment, handle, contents::zeros);
}
OMP_API void *omp_calloc(std::size_t n, std::size_t bytes, std::uintptr_t handle) {
  return omp_aligned_calloc(1, n, bytes, handle);
}
OMP_API void omp_free(void *p, std::uintptr_t) {
  if (!p)
    return;
  const head h = *head_of(p);
  if (allocator *const a = made(h.handle))
    a->used.fetch_sub(h.charged, std::memory_order_relaxed);
  std::free(h.block);
}
OMP_API void *omp_realloc(void *p, std::size_t bytes, std::uintptr_t handle,
                          std::uintptr_t free_handle) {
  if (!p)
    return take(bytes, 1, handle, contents::any);
  if (bytes == 0) {
    omp_free(p, free_handle);
    return nullptr;
  }
  const head h = *head_of(p);
  const std::uintptr_t into = handle ? handle : h.handle;
  allocator *const same = into == h.handle ? made(into) : nullptr;
  if (same) // the piece moves within its pool, which needs space for the difference only
    same->used.fetch_sub(h.charged, std::memory_order_relaxed);
  void *const q = take(bytes, 1, into, contents::any);
  if (!q) {
    if (same)
      same->used.fetch_add(h.charged, std::memory_order_relaxed);
    return nullptr;
  }
  if (same)
    head_of(p)->charged = 0;
  std::memcpy(q, p, std::min(bytes, h.bytes));
  omp_free(p, free_handle);
  return q;
}

OMP_API void *GOMP_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t handle) {
  void *const p = take(bytes, alignment, handle, contents::any);
  if (!p && bytes != 0)
    fatal("no memory for an allocate clause: %zu bytes", bytes);
  return p;
}
OMP_API void GOMP_free(void *p, std::uintptr_t handle) { omp_free(p, handle); }

// The error directive, in libgomp's words.
namespace {

/// Reports an error directive in libgomp's words, because users and tests of programs search for
/// these. `length` -1: up to the null.
void report_directive(const char *kind, const char *text, std::size_t length) {
  if (!text)
    std::fprintf(stderr, "\nlibgomp: %serror directive encountered\n", kind);
  else
    std::fprintf(stderr, "\nlibgomp: %serror directive encountered: %.*s\n", kind,
                 static_cast<int>(length == ~std::size_t{0} ? std::strlen(text) : length), text);
}

} // namespace

OMP_API void GOMP_warning(const char *text, std::size_t length) {
  report_directive("", text, length);
}
OMP_API [[noreturn]] void GOMP_error(const char *text, std::size_t length) {
  report_directive("fatal error: ", text, length);
  std::exit(1);
}

OMP_ALSO_LLVM(omp_init_allocator, OMP_5.0.1);
OMP_ALSO_LLVM(omp_destroy_allocator, OMP_5.0.1);
OMP_ALSO_LLVM(omp_set_default_allocator, OMP_5.0.1);
OMP_ALSO_LLVM(omp_get_default_allocator, OMP_5.0.1);
OMP_ALSO_LLVM(omp_aligned_alloc, OMP_5.0.2);
OMP_ALSO_LLVM(omp_alloc, OMP_5.0.1);
OMP_ALSO_LLVM(omp_aligned_calloc, OMP_5.0.2);
OMP_ALSO_LLVM(omp_calloc, OMP_5.0.2);
OMP_ALSO_LLVM(omp_free, OMP_5.0.1);
OMP_ALSO_LLVM(omp_realloc, OMP_5.0.2);
