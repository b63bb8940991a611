// SPDX-License-Identifier: Apache-2.0
#include "mem/slab.hpp"

#include "arch/sanitizer.hpp"
#include "base/leak.hpp"
#include "base/mutant.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <malloc.h>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_region_bytes = 2 << 20; // one mapping holds 32 chunks
constexpr std::size_t k_page =
    4096; // untouched blocks are linked a page at a time, so that no more than a page is touched

alignas(k_apart) std::atomic<std::int64_t> g_live{0};
void (*g_hook)(std::int64_t) = nullptr;

std::mutex g_region_mutex;
char *g_region = nullptr; // guarded by the mutex
std::size_t g_region_left = 0;

std::mutex g_heaps_mutex;
std::vector<heap *> *g_heaps =
    nullptr; // guarded by the mutex; never destroyed: threads may outlive static objects

/// Maps 2 MiB of address space, aligned to chunks.
char *map_region() noexcept {
  constexpr std::size_t alignment = heap::k_chunk_bytes;
  void *p = mmap(nullptr, k_region_bytes + alignment, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t from = (at + alignment - 1) & ~(alignment - 1);
  if (from != at)
    munmap(p, from - at);
  if (const std::uintptr_t tail = at + alignment - from)
    munmap(reinterpret_cast<void *>(from + k_region_bytes), tail);
  return reinterpret_cast<char *>(from);
}

char *take_chunk() noexcept {
  std::lock_guard lock(g_region_mutex);
  if (g_region_left == 0) {
    g_region = map_region();
    if (!g_region)
      return nullptr;
    g_region_left = k_region_bytes;
  }
  char *c = g_region;
  g_region += heap::k_chunk_bytes;
  g_region_left -= heap::k_chunk_bytes;
  return c;
}

void report(std::int64_t change) noexcept {
  const std::int64_t live =
      g_live.fetch_add(change, std::memory_order_seq_cst) + change; // O3: against throttle::publish
  if (g_hook)
    g_hook(live);
}

} // namespace

std::int64_t live_bytes() noexcept { return g_live.load(std::memory_order_seq_cst); } // O3
void set_live_bytes_hook(void (*hook)(std::int64_t)) noexcept { g_hook = hook; }

void set_allocator(allocator_kind kind) noexcept {
#if defined(WEFT_ASAN) || defined(WEFT_TSAN)
  static_cast<void>(kind);
  heap::s_system = true; // the sanitizers see each block's life
#else
  heap::s_system = kind == allocator_kind::system;
#endif
}

void heap::flush_accounting() noexcept {
  if (m_unreported == 0)
    return;
  const std::int64_t change = m_unreported;
  m_unreported = 0;
  report(change);
}

void heap::account_for(heap *mine, std::int64_t bytes) noexcept {
  if (mine)
    mine->account(bytes);
  else
    report(bytes);
}

void *heap::allocate_slow(std::size_t bytes) noexcept {
  if (s_system)
    return allocate_with_malloc(bytes);
  if (bytes > k_most)
    return allocate_large(bytes);
  std::size_t c = std::max<std::size_t>((bytes + k_align - 1) / k_align, 1);
  std::size_t block_bytes = c * k_align;
  if (c > k_fine) {
    block_bytes = std::bit_ceil(bytes);
    c = k_fine + static_cast<std::size_t>(std::countr_zero(block_bytes / (k_fine * k_align)));
  }
  if (!m_free[c] && !refill(c, block_bytes))
    return nullptr;
  block *b = m_free[c];
  m_free[c] = b->next.get();
  account(static_cast<std::int64_t>(block_bytes));
  return b;
}

/// Refills an empty list: with returned blocks, else with a page of the newest chunk, else of a new
/// chunk.
bool heap::refill(std::size_t size_class, std::size_t size) noexcept {
  m_free[size_class] = m_returned[size_class].take();
  if (m_free[size_class])
    return true;
  if (m_fresh[size_class] == m_fresh_end[size_class]) {
    char *raw = take_chunk();
    if (!raw)
      return false;
    ::new (static_cast<void *>(raw))
        chunk{this, static_cast<std::uint32_t>(size_class), m_slot, size};
    const std::size_t header =
        k_chunk_bytes % size == 0 ? size : k_align; // blocks of 2^n bytes are aligned to 2^n
    m_fresh[size_class] = raw + header;
    m_fresh_end[size_class] = m_fresh[size_class] + (k_chunk_bytes - header) / size * size;
  }
  char *at = m_fresh[size_class];
  const auto left = static_cast<std::size_t>(m_fresh_end[size_class] - at);
  char *end = at + std::min(left, std::max(k_page / size * size, size));
  m_fresh[size_class] = end;
  block *next = nullptr;
  while (end != at) {
    end -= size;
    next = ::new (static_cast<void *>(end)) block{{next}};
  }
  m_free[size_class] = next;
  return true;
}

void *heap::allocate_with_malloc(std::size_t bytes) noexcept {
  void *p = nullptr;
  if (posix_memalign(&p, k_align, bytes) != 0)
    return nullptr;
  account(static_cast<std::int64_t>(malloc_usable_size(p)));
  return p;
}

/// Allocates a chunk for one block. The block begins behind the chunk's header, so its address
/// finds the header as that of any other block does.
void *heap::allocate_large(std::size_t bytes) noexcept {
  const std::size_t whole = bytes + k_align;
  void *raw = nullptr;
  if (whole < bytes || posix_memalign(&raw, k_chunk_bytes, whole) != 0)
    return nullptr;
  ::new (raw) chunk{nullptr, 0, 0, whole};
  account(static_cast<std::int64_t>(whole));
  return static_cast<char *>(raw) + k_align;
}

std::size_t heap::bytes_of(void *p) noexcept {
  return s_system ? malloc_usable_size(p) : chunk_of(p)->block_bytes;
}

void heap::deallocate_slow(void *p, heap *mine) noexcept {
  if (s_system) {
    const auto bytes = static_cast<std::int64_t>(malloc_usable_size(p));
    std::free(p);
    return account_for(mine, -bytes);
  }
  chunk *k = chunk_of(p);
  const auto bytes = static_cast<std::int64_t>(k->block_bytes);
  auto *b = static_cast<block *>(p);
  if (!k->owner)
    std::free(k);
  else if (mine)
    mine->send_home(b, *k);
  else
    k->owner->m_returned[k->size_class].push(b, b);
  account_for(mine, -bytes);
}

void heap::send_home(block *freed, const chunk &home) noexcept {
  batch &t = m_batches[(home.owner_slot * 3 + home.size_class) % k_batches];
  if (t.count != 0 && (t.owner != home.owner || t.size_class != home.size_class))
    flush(t);
  if (t.count == 0) {
    t.owner = home.owner;
    t.size_class = home.size_class;
    t.last = freed;
    t.first = nullptr;
  }
  freed->next.set(t.first);
  t.first = freed;
  ++t.count;
  if (t.count == k_remote_batch || t.count * home.block_bytes >= k_remote_bytes)
    flush(t);
}

void heap::keep_instead(void *p, std::size_t bytes) noexcept {
  if (bytes == m_kept_bytes || m_kept_bytes == k_never)
    return deallocate(p);
  deallocate(std::exchange(m_kept, p));
  m_kept_bytes = bytes;
}

void heap::flush(batch &frees) noexcept {
  frees.owner->m_returned[frees.size_class].push(frees.first, frees.last);
  frees.count = unless(bug::slab_batch_sent_twice, 0u, frees.count);
}

void heap::flush_remote() noexcept {
  if (m_kept_bytes != 0 && m_kept_bytes != k_never) {
    m_kept_bytes = 0;
    deallocate(m_kept);
  }
  for (batch &b : m_batches)
    if (b.count != 0)
      flush(b);
}

heap &heap_of_slot(unsigned id) {
  std::lock_guard lock(g_heaps_mutex);
  if (!g_heaps)
    g_heaps = new std::vector<heap *>;
  if (g_heaps->size() <= id)
    g_heaps->resize(id + 1);
  heap *&h = (*g_heaps)[id];
  if (!h) {
    h = new heap;
    h->m_slot = id;
  }
  if (heap::s_system != (h->m_kept_bytes == heap::k_never)) // memory checkers see each block's life
    h->m_kept_bytes = heap::s_system ? heap::k_never : 0;
  return *h;
}

void forget_heaps_in_child() noexcept {
  ::new (&g_heaps_mutex) std::mutex;
  ::new (&g_region_mutex) std::mutex;
  ignore_leak(g_heaps);
  g_heaps = nullptr;
  g_region_left = 0;
  g_live.store(0, std::memory_order_relaxed); // the child has none of the parent's tasks
}

} // namespace rt
} // namespace weft::inline v0
