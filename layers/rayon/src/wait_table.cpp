// SPDX-License-Identifier: Apache-2.0
#include "wait_table.hpp"

#include <weft_threads/light_thread.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace weft_rayon {

namespace {

using weft_threads::thread_record;

enum class state : int { waits, woken, released };

struct waiter {
  const std::uint32_t *word;
  thread_record *thread;
  waiter *next = nullptr;
  std::atomic<state> is{state::waits};
};

/// A lock that never sleeps in the kernel: a wait for it would come back to this table.
class short_lock {
 public:
  void lock() noexcept {
    for (unsigned tries = 0; m_held.test_and_set(std::memory_order_acquire); ++tries)
      if (tries % 64 == 63)
        weft_threads::yield_light_thread();
  }
  void unlock() noexcept { m_held.clear(std::memory_order_release); }

 private:
  std::atomic_flag m_held;
};

struct alignas(64) bucket {
  short_lock lock;
  waiter *first = nullptr, *last = nullptr; // in the order in which they came
};

constexpr unsigned k_bits = 8;
constinit bucket g_buckets[1 << k_bits];

bucket &bucket_of(const std::uint32_t *word) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  return g_buckets[(address >> 2) * 0x9e3779b97f4a7c15u >> (64 - k_bits)];
}

void add(bucket &slot, waiter &waiting) noexcept { // with the lock
  (slot.last ? slot.last->next : slot.first) = &waiting;
  slot.last = &waiting;
}

/// Takes up to `most` waiters for `word` out of the list. The bucket is locked.
waiter *take(bucket &slot, const std::uint32_t *word, long most) noexcept {
  waiter *taken = nullptr, *last_taken = nullptr, *before = nullptr;
  for (waiter *w = slot.first, *next; w && most > 0; w = next) {
    next = w->next;
    if (w->word != word) {
      before = w;
      continue;
    }
    (before ? before->next : slot.first) = next;
    if (slot.last == w)
      slot.last = before;
    w->next = nullptr;
    (last_taken ? last_taken->next : taken) = w;
    last_taken = w;
    --most;
  }
  return taken;
}

} // namespace

bool wait(const std::uint32_t *word, std::uint32_t expected) noexcept {
  waiter self{word, weft_threads::this_light_thread()};
  bucket &b = bucket_of(word);
  {
    const std::lock_guard here(b.lock);
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != expected)
      return false;
    add(b, self);
  }
  while (self.is.load(std::memory_order_acquire) == state::waits) // O1
    weft_threads::park_light_thread();
  while (self.is.load(std::memory_order_acquire) != state::released) // O2
    weft_threads::yield_light_thread();
  return true;
}

long wake(const std::uint32_t *word, long most) noexcept {
  bucket &b = bucket_of(word);
  waiter *taken;
  {
    const std::lock_guard here(b.lock);
    taken = take(b, word, most);
  }
  long count = 0;
  while (waiter *const w = taken) {
    taken = w->next;
    w->is.store(state::woken, std::memory_order_release); // O1
    weft_threads::unpark(*w->thread);
    w->is.store(state::released, std::memory_order_release); // O2
    ++count;
  }
  return count;
}

} // namespace weft_rayon
