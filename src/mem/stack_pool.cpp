// SPDX-License-Identifier: Apache-2.0
#include "mem/stack_pool.hpp"

#include "arch/valgrind.hpp"
#include "base/log.hpp"
#include "queue/spin_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_stacks_per_mapping = 64;
constexpr int k_advice_guard = 102; // MADV_GUARD_INSTALL: a guard without a mapping of its own (Linux 6.13)
constexpr std::uint64_t k_canary = 0x5745465453544b21u;

std::size_t g_bytes = 96 << 10;
spin_lock<> g_lock;      // guards the two lists
stack *g_shared = nullptr;
stack *g_sized = nullptr; // free ones of a size of their own
std::atomic<bool> g_said_unguarded{false};

std::size_t page() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Mappings that hold stacks, for find_guard(): only ever grows; published by the release of `count`.
struct mapping {
  const char *low;
  std::size_t bytes;
  std::size_t stride;
};
constexpr std::size_t k_max_mappings = 1 << 16;
mapping *g_mappings = nullptr;
std::atomic<std::size_t> g_mapping_count{0};
spin_lock<> g_mapping_lock;

void remember(const char *low, std::size_t bytes, std::size_t stride) noexcept {
  g_mapping_lock.lock();
  if (!g_mappings) {
    void *p = mmap(nullptr, k_max_mappings * sizeof(mapping), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    g_mappings = p == MAP_FAILED ? nullptr : static_cast<mapping *>(p);
  }
  const std::size_t n = g_mapping_count.load(std::memory_order_relaxed);
  if (g_mappings && n < k_max_mappings) {
    g_mappings[n] = {low, bytes, stride};
    g_mapping_count.store(n + 1, std::memory_order_release); // O1: pairs with find_guard
  }
  g_mapping_lock.unlock();
}

bool install_guard(char *low) noexcept {
  static std::atomic<bool> advice_works{true};
  if (advice_works.load(std::memory_order_relaxed)) {
    if (madvise(low, page(), k_advice_guard) == 0)
      return true;
    advice_works.store(false, std::memory_order_relaxed);
  }
  return mprotect(low, page(), PROT_NONE) == 0;
}

/// Lays the descriptor into [low, low + bytes), guard included.
stack *make_stack(char *low, std::size_t bytes) noexcept {
  const bool guarded = install_guard(low);
  auto *s = ::new (static_cast<void *>(low + bytes - 64)) stack;
  s->low = low + page();
  s->bytes = bytes - page() - 64;
  s->guarded = guarded;
  if (!guarded) {
    warn_once(g_said_unguarded,
              "no more guard pages for task stacks (vm.max_map_count); stacks beyond it are only checked when they are given back");
    *static_cast<std::uint64_t *>(s->low) = k_canary;
  }
  valgrind_stack(low, low + bytes);
  return s;
}

char *map_stacks(std::size_t bytes) noexcept {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<char *>(p);
}

std::size_t whole_pages(std::size_t bytes) noexcept { return (bytes + page() - 1) / page() * page(); }

/// A mapping of stacks: one is returned, the others go to the shared list. With the lock.
stack *map_more() noexcept {
  for (std::size_t n = k_stacks_per_mapping; n > 0; n /= 8) {
    char *low = map_stacks(n * g_bytes);
    if (!low)
      continue;
    remember(low, n * g_bytes, g_bytes);
    for (std::size_t i = 1; i < n; ++i) {
      stack *s = make_stack(low + i * g_bytes, g_bytes);
      s->next = g_shared;
      g_shared = s;
    }
    return make_stack(low, g_bytes);
  }
  return nullptr;
}

void check_canary(const stack &s) noexcept {
  if (!s.guarded && *static_cast<const std::uint64_t *>(s.low) != k_canary)
    fatal("a task has overflown its stack (%zu bytes, unguarded); raise stack.bytes", s.bytes);
}

} // namespace

void configure_stacks(std::uint64_t bytes, int cache) noexcept {
  g_bytes = whole_pages(static_cast<std::size_t>(bytes));
  stack_cache::s_capacity = cache;
}
std::uint64_t configured_stack_bytes() noexcept { return g_bytes; }

stack *stack_cache::acquire_slow() noexcept {
  g_lock.lock();
  stack *s = g_shared;
  if (s)
    g_shared = s->next;
  else
    s = map_more();
  g_lock.unlock();
  return s;
}

void stack_cache::release_slow(stack *s) noexcept {
  check_canary(*s);
  // Pages below the top one go back to the system: a stack that is too many for a cache is not used again soon.
  char *low = static_cast<char *>(s->low);
  char *top = reinterpret_cast<char *>(reinterpret_cast<std::uintptr_t>(s) / page() * page());
  if (s->guarded && top > low)
    madvise(low, static_cast<std::size_t>(top - low), MADV_DONTNEED);
  stack *&list = s->sized ? g_sized : g_shared;
  g_lock.lock();
  s->next = list;
  list = s;
  g_lock.unlock();
}

stack *acquire_sized_stack(std::size_t bytes) noexcept {
  const std::size_t whole = std::max(whole_pages(bytes), 4 * page());
  g_lock.lock();
  for (stack **at = &g_sized; *at; at = &(*at)->next) {
    stack *s = *at;
    const std::size_t has = s->bytes + page() + 64;
    if (has < whole || has >= 2 * whole)
      continue;
    *at = s->next;
    g_lock.unlock();
    return s;
  }
  g_lock.unlock();
  char *low = map_stacks(whole);
  if (!low)
    return nullptr;
  remember(low, whole, whole);
  stack *s = make_stack(low, whole);
  s->sized = true;
  return s;
}

guarded_range find_guard(const void *address) noexcept {
  const char *at = static_cast<const char *>(address);
  const std::size_t n = g_mapping_count.load(std::memory_order_acquire); // O1
  for (std::size_t i = 0; i < n; ++i) {
    const mapping &m = g_mappings[i];
    if (at < m.low || at >= m.low + m.bytes)
      continue;
    const char *low = m.low + static_cast<std::size_t>(at - m.low) / m.stride * m.stride;
    if (at < low + page())
      return {low, page(), m.stride};
  }
  return {};
}

} // namespace rt
} // namespace weft::inline v0
