// SPDX-License-Identifier: Apache-2.0
#include "mem/stack_pool.hpp"

#include "arch/valgrind.hpp"
#include "base/log.hpp"
#include "os/file.hpp"
#include "queue/spin_lock.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_stacks_per_mapping = 64;
constexpr int k_advice_guard =
    102; // MADV_GUARD_INSTALL: a guard without a mapping of its own (Linux 6.13)
constexpr std::uint64_t k_canary = 0x5745465453544b21u;
constexpr std::size_t k_descriptor_bytes = 64;
constexpr std::size_t k_warm_pages =
    2; // a cached stack keeps these: a body that waits seldom needs more
// 256: a cached stack saves 14 us, two of its pages cost 8 KiB, so the shared list keeps at most 2
// MiB of them.
constexpr std::size_t k_shared_warm = 256;
constexpr std::size_t k_usual_bytes = 96 << 10;

std::size_t g_bytes = k_usual_bytes;
std::atomic<bool> g_warned_unguarded{false}, g_warned_smaller{false};

std::size_t page() noexcept {
  static std::atomic<std::size_t> known{0}; // needs no guard: a signal handler may call this
  std::size_t bytes = known.load(std::memory_order_relaxed);
  if (bytes == 0) {
    bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    known.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

/// Holds the free stacks that belong to no worker, and the mapping from which the next fresh one is
/// cut.
struct shared_stacks {
  spin_lock<> lock;
  stack *free = nullptr;
  std::size_t free_count = 0;
  stack *sized = nullptr; // free stacks of a size of their own
  char *fresh = nullptr;
  std::size_t fresh_count = 0;
  std::size_t fresh_bytes = 0; // of each of them
  std::size_t large_bytes = 0; // of all that have been mapped of more than the usual size
};
shared_stacks g_shared;
std::mutex g_map_mutex; // held while a mapping is made, which is too long for the spin lock

/// Describes a mapping that holds stacks, for find_guard(). The array only grows; its count
/// publishes it.
struct mapping {
  const char *low;
  std::size_t bytes;
  std::size_t stride;
};
constexpr std::size_t k_max_mappings =
    1 << 16; // 65,530 mappings are all that a process gets (vm.max_map_count)
mapping *g_mappings = nullptr;
std::atomic<std::size_t> g_mapping_count{0};
std::size_t g_forgotten = 0; // mappings whose stacks are of no interest any more

/// Enters a mapping. The caller has the mutex.
void remember(const mapping &mapped) noexcept {
  if (!g_mappings) {
    void *p = mmap(nullptr, k_max_mappings * sizeof(mapping), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      return;
    g_mappings = static_cast<mapping *>(p);
  }
  const std::size_t n = g_mapping_count.load(std::memory_order_relaxed);
  if (n == k_max_mappings)
    return;
  g_mappings[n] = mapped;
  g_mapping_count.store(n + 1, std::memory_order_release); // O1: pairs with find_guard
}

/// Maps space for `count` stacks. It is only address space until a task runs on one. The caller has
/// the mutex.
char *map_stacks(std::size_t count, std::size_t bytes) noexcept {
  void *p = mmap(nullptr, count * bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (p == MAP_FAILED)
    return nullptr;
  madvise(p, count * bytes, MADV_NOHUGEPAGE); // else the first touch of one stack could take 2 MiB
  remember({static_cast<const char *>(p), count * bytes, bytes});
  return static_cast<char *>(p);
}

/// Returns how many guards may take two mappings each, that of the guard and that above it: three
/// quarters of what the process may have; the rest is left to the program.
std::int64_t protected_guards() noexcept {
  std::uint64_t most = 65'530;
  try {
    if (const auto text = read_file("/proc/sys/vm/max_map_count"))
      most = parse_unsigned(trim(*text)).value_or(most);
  } catch (const std::bad_alloc &) { // the kernel's default is right nearly everywhere
  }
  return static_cast<std::int64_t>(most / 8 * 3);
}

bool protect_guard(char *low) noexcept {
  static std::atomic<std::int64_t> left{protected_guards()};
  return left.fetch_sub(1, std::memory_order_relaxed) > 0 &&
         mprotect(low, page(), PROT_NONE) == 0; // counts, orders nothing
}

bool install_guard(char *low) noexcept {
  static std::atomic<bool> unknown_advice{false};
  if (!unknown_advice.load(std::memory_order_relaxed)) {
    if (madvise(low, page(), k_advice_guard) == 0)
      return true;
    if (errno == EINVAL)
      unknown_advice.store(true, std::memory_order_relaxed);
  }
  return protect_guard(low);
}

/// Writes the descriptor into [low, low + bytes), guard included. Touches the top page only.
stack *make_stack(char *low, std::size_t bytes) noexcept {
  auto *s = ::new (static_cast<void *>(low + bytes - k_descriptor_bytes)) stack;
  s->low = low + page();
  s->bytes = bytes - page() - k_descriptor_bytes;
  s->guarded = install_guard(low);
  if (!s->guarded) {
    warn_once(
        g_warned_unguarded,
        "no more guard pages for task stacks (vm.max_map_count); stacks beyond it are only checked when they are given back");
    *static_cast<std::uint64_t *>(s->low) = k_canary;
  }
  valgrind_stack(s->low, s);
  return s;
}

void check_canary(const stack &which) noexcept {
  if (!which.guarded && *static_cast<const std::uint64_t *>(which.low) != k_canary)
    fatal("a task has overflown its stack (%zu bytes, unguarded); raise stack.bytes", which.bytes);
}

/// Gives all but the topmost pages of the stack back to the system.
void cool(stack &which) noexcept {
  const auto low = reinterpret_cast<std::uintptr_t>(which.low) +
                   (which.guarded ? 0 : page()); // keeps the canary
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(&which) / page() * page() + page();
  if (end - low > k_warm_pages * page())
    madvise(reinterpret_cast<void *>(low), end - low - k_warm_pages * page(), MADV_DONTNEED);
}

/// Returns how many bytes of stacks of more than the usual size there may be: half of the address space
/// where that is limited, because the program's memory needs the rest.
std::size_t large_stacks_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return SIZE_MAX;
  return static_cast<std::size_t>(limit.rlim_cur / 2);
}

/// Maps as many stacks as a mapping has, or fewer where space is scarce. The caller has the mutex.
bool map_fresh(std::size_t bytes) noexcept {
  const std::size_t limit = bytes > k_usual_bytes ? large_stacks_limit() : SIZE_MAX;
  for (std::size_t n = k_stacks_per_mapping; n > 0; n /= 8) {
    if (limit != SIZE_MAX && g_shared.large_bytes + n * bytes > limit)
      continue;
    g_shared.fresh = map_stacks(n, bytes);
    if (!g_shared.fresh)
      continue;
    g_shared.fresh_count = n;
    g_shared.fresh_bytes = bytes;
    g_shared.large_bytes += bytes > k_usual_bytes ? n * bytes : 0;
    return true;
  }
  return false;
}

/// Cuts a stack that no task has used yet. Makes a mapping when there is none. Without address space for
/// large stacks it is one of the usual size.
stack *fresh_stack() noexcept {
  std::unique_lock lock(g_map_mutex);
  if (g_shared.fresh_count == 0 && !map_fresh(g_bytes)) {
    if (g_bytes <= k_usual_bytes || !map_fresh(k_usual_bytes))
      return nullptr;
    warn_once(
        g_warned_smaller,
        "no address space for more task stacks of %zu KiB (RLIMIT_AS, ulimit -v); further ones have "
        "%zu KiB; raise the limit, or set stack.bytes to what tasks need",
        g_bytes >> 10, k_usual_bytes >> 10);
  }
  const std::size_t bytes = g_shared.fresh_bytes;
  char *low = g_shared.fresh;
  g_shared.fresh += bytes;
  --g_shared.fresh_count;
  lock.unlock();
  return make_stack(low, bytes);
}

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page() - 1) / page() * page();
}

} // namespace

void configure_stacks(std::uint64_t bytes, int cache) noexcept {
  const std::size_t whole = std::max(whole_pages(static_cast<std::size_t>(bytes)), 4 * page());
  if (whole != g_bytes) // stacks of another size are of no use
    forget_stacks_in_child();
  g_bytes = whole;
  stack_cache::s_capacity = cache;
}
std::uint64_t configured_stack_bytes() noexcept { return g_bytes; }

/// Takes up to half a cache from the shared list: stacks move between workers, because a frame may
/// begin on one and go on on another.
stack *stack_cache::acquire_slow() noexcept {
  g_shared.lock.lock();
  stack *s = g_shared.free;
  if (!s) {
    g_shared.lock.unlock();
    return fresh_stack();
  }
  int taken = 1;
  stack *last = s;
  for (; taken < s_capacity / 2 && last->next; ++taken)
    last = last->next;
  g_shared.free = last->next;
  g_shared.free_count -= static_cast<std::size_t>(taken);
  g_shared.lock.unlock();
  last->next = nullptr;
  m_first = s->next;
  m_count = taken - 1;
  return s;
}

void stack_cache::release_slow(stack *which) noexcept {
  check_canary(*which);
  if (which->sized) {
    cool(*which);
    std::lock_guard lock(g_shared.lock);
    which->next = g_shared.sized;
    g_shared.sized = which;
    return;
  }
  keep(which);
  if (m_count <= s_capacity)
    return;
  const int moved = std::max(m_count / 2, 1);
  stack *first = m_first, *last = first;
  for (int i = 1; i < moved; ++i)
    last = last->next;
  m_first = last->next;
  m_count -= moved;
  last->next = nullptr;
  bool warm = false;
  {
    std::lock_guard lock(g_shared.lock);
    warm = g_shared.free_count + static_cast<std::size_t>(moved) <= k_shared_warm;
  }
  for (stack *t = warm ? nullptr : first; t; t = t->next)
    cool(*t);
  std::lock_guard lock(g_shared.lock);
  last->next = g_shared.free;
  g_shared.free = first;
  g_shared.free_count += static_cast<std::size_t>(moved);
}

stack *acquire_sized_stack(std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  const std::size_t whole = std::max(whole_pages(bytes), 4 * page());
  {
    std::lock_guard lock(g_shared.lock);
    for (stack **at = &g_shared.sized; *at; at = &(*at)->next) {
      stack *s = *at;
      const std::size_t has = s->bytes + page() + k_descriptor_bytes;
      if (has < whole || has >= 2 * whole)
        continue;
      *at = s->next;
      return s;
    }
  }
  char *low = nullptr;
  {
    std::lock_guard lock(g_map_mutex);
    low = map_stacks(1, whole);
  }
  if (!low)
    return nullptr;
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

void for_each_stack(void (*f)(stack &, void *), void *context) {
  const std::size_t n = g_mapping_count.load(std::memory_order_acquire); // O1
  for (std::size_t i = g_forgotten; i < n; ++i)
    for (const char *end = g_mappings[i].low + g_mappings[i].stride;
         end <= g_mappings[i].low + g_mappings[i].bytes; end += g_mappings[i].stride) {
      auto *s = reinterpret_cast<stack *>(const_cast<char *>(end) - k_descriptor_bytes);
      if (s->low) // else no task has used it yet
        f(*s, context);
    }
}

void forget_stacks_in_child() noexcept {
  g_forgotten = g_mapping_count.load(std::memory_order_relaxed); // the child has no other thread
  ::new (&g_map_mutex) std::mutex;
  ::new (&g_shared) shared_stacks;
}

} // namespace rt
} // namespace weft::inline v0
