// SPDX-License-Identifier: Apache-2.0
#include "mem/slab.hpp"

#include "arch/sanitizer.hpp"
#include "queue/spin_lock.hpp"

#include <cstdlib>
#include <malloc.h>
#include <mutex>
#include <sys/mman.h>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_region_bytes = 2 << 20; // one mapping holds 32 chunks (and may become one huge page)

alignas(k_apart) std::atomic<std::int64_t> g_live{0};
void (*g_hook)(std::int64_t) = nullptr;

spin_lock<> g_region_lock;
char *g_region = nullptr; // guarded by the lock
std::size_t g_region_left = 0;

char *map_aligned(std::size_t bytes, std::size_t alignment) noexcept {
  void *p = mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t from = (at + alignment - 1) & ~(alignment - 1);
  if (from != at)
    munmap(p, from - at);
  if (const std::uintptr_t tail = at + alignment - from)
    munmap(reinterpret_cast<void *>(from + bytes), tail);
  return reinterpret_cast<char *>(from);
}

char *take_chunk() noexcept {
  g_region_lock.lock();
  if (g_region_left == 0) {
    g_region = map_aligned(k_region_bytes, heap::k_chunk_bytes);
    g_region_left = g_region ? k_region_bytes : 0;
  }
  char *c = nullptr;
  if (g_region_left) {
    c = g_region;
    g_region += heap::k_chunk_bytes;
    g_region_left -= heap::k_chunk_bytes;
  }
  g_region_lock.unlock();
  return c;
}

void report(std::int64_t change) noexcept {
  const std::int64_t live = g_live.fetch_add(change, std::memory_order_seq_cst) + change; // O3: against throttle::publish
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

void *heap::allocate_slow(std::size_t bytes, std::size_t c) noexcept {
  if (s_system) {
    void *p = nullptr;
    if (posix_memalign(&p, k_step, bytes) != 0)
      return nullptr;
    account(static_cast<std::int64_t>(malloc_usable_size(p)));
    return p;
  }
  if (c > k_small)
    return allocate_alone(bytes);
  if (block *back = m_returned[c].take()) {
    m_free[c] = back;
    return allocate(bytes);
  }
  char *raw = take_chunk();
  if (!raw)
    return nullptr;
  *reinterpret_cast<chunk *>(raw) = {this, c, 0};
  const std::size_t size = c * k_step;
  block *newer = nullptr;
  for (std::size_t at = k_step + (k_chunk_bytes - k_step) / size * size; at >= k_step + size; at -= size) {
    auto *b = reinterpret_cast<block *>(raw + at - size);
    b->next.set(newer);
    newer = b;
  }
  m_free[c] = newer;
  return allocate(bytes);
}

void *heap::allocate_alone(std::size_t bytes) noexcept {
  const std::size_t whole = (bytes + k_step + k_chunk_bytes - 1) & ~(k_chunk_bytes - 1);
  char *raw = map_aligned(whole, k_chunk_bytes);
  if (!raw)
    return nullptr;
  *reinterpret_cast<chunk *>(raw) = {this, 0, whole};
  account(static_cast<std::int64_t>(whole));
  return raw + k_step;
}

void heap::deallocate_slow(void *p, heap *mine) noexcept {
  if (s_system) {
    const auto bytes = static_cast<std::int64_t>(malloc_usable_size(p));
    std::free(p);
    return mine ? mine->account(-bytes) : report(-bytes);
  }
  chunk *k = chunk_of(p);
  if (k->size_class == 0) {
    const auto bytes = static_cast<std::int64_t>(k->bytes);
    munmap(k, k->bytes);
    return mine ? mine->account(-bytes) : report(-bytes);
  }
  const auto bytes = static_cast<std::int64_t>(k->size_class * k_step);
  auto *b = static_cast<block *>(p);
  if (!mine) {
    k->owner->m_returned[k->size_class].push(b, b);
    return report(-bytes);
  }
  mine->send_home(b, k);
  mine->account(-bytes);
}

void heap::send_home(block *b, chunk *k) noexcept {
  if (m_batch_count && (m_batch_owner != k->owner || m_batch_class != k->size_class || m_batch_count == k_remote_batch))
    flush_remote();
  if (m_batch_count == 0) {
    m_batch_owner = k->owner;
    m_batch_class = k->size_class;
    m_batch_last = b;
  }
  b->next.set(m_batch_first);
  m_batch_first = b;
  ++m_batch_count;
}

void heap::flush_remote() noexcept {
  if (m_batch_count == 0)
    return;
  m_batch_owner->m_returned[m_batch_class].push(m_batch_first, m_batch_last);
  m_batch_first = nullptr;
  m_batch_count = 0;
}

heap &heap_of_slot(unsigned id) {
  static std::mutex guard;
  static auto *heaps = new std::vector<heap *>;
  std::lock_guard lock(guard);
  if (heaps->size() <= id)
    heaps->resize(id + 1);
  if (!(*heaps)[id])
    (*heaps)[id] = new heap;
  return *(*heaps)[id];
}

} // namespace rt
} // namespace weft::inline v0
