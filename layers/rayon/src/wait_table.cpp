// SPDX-License-Identifier: Apache-2.0
#include "wait_table.hpp"

#include <weft_threads/light_thread.hpp>

#include <weft/error.hpp>
#include <weft/sync/event.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>

namespace weft_rayon {

namespace {

using weft_threads::thread_record;

enum class state : int { waits, woken, released };

struct waiter {
  const std::uint32_t *word;
  thread_record *thread; // null: the wait has a limit
  waiter *next = nullptr;
  std::atomic<state> is{state::waits};
  weft::event woken_in_time{};
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

/// Adds a waiter, unless the word has another value.
bool add(bucket &slot, waiter &waiting, std::uint32_t expected) noexcept {
  const std::lock_guard here(slot.lock);
  if (__atomic_load_n(waiting.word, __ATOMIC_RELAXED) != expected)
    return false;
  (slot.last ? slot.last->next : slot.first) = &waiting;
  slot.last = &waiting;
  return true;
}

/// Takes a waiter out that comes behind `before`; null: it is the first. The bucket is locked.
void remove(bucket &slot, waiter &gone, waiter *before) noexcept {
  (before ? before->next : slot.first) = gone.next;
  if (slot.last == &gone)
    slot.last = before;
  gone.next = nullptr;
}

/// Takes a waiter out. Returns false if a waker has done so.
bool withdraw(bucket &slot, waiter &self) noexcept {
  const std::lock_guard here(slot.lock);
  waiter *before = nullptr;
  for (waiter *w = slot.first; w; before = w, w = w->next)
    if (w == &self) {
      remove(slot, self, before);
      return true;
    }
  return false;
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
    remove(slot, *w, before);
    (last_taken ? last_taken->next : taken) = w;
    last_taken = w;
    --most;
  }
  return taken;
}

} // namespace

outcome wait(const std::uint32_t *word, std::uint32_t expected) noexcept {
  waiter self{word, weft_threads::this_light_thread()};
  if (!add(bucket_of(word), self, expected))
    return outcome::another_value;
  while (self.is.load(std::memory_order_acquire) == state::waits) // O1
    weft_threads::park_light_thread();
  while (self.is.load(std::memory_order_acquire) != state::released) // O2
    weft_threads::yield_light_thread();
  return outcome::woken;
}

outcome wait_for(const std::uint32_t *word, std::uint32_t expected, std::int64_t ns) noexcept {
  waiter self{word, nullptr};
  bucket &b = bucket_of(word);
  if (!add(b, self, expected))
    return outcome::another_value;
  outcome otherwise = outcome::time_is_over;
  try {
    if (self.woken_in_time.wait_for(std::chrono::nanoseconds(ns)))
      return outcome::woken;
  } catch (const weft::error &) {
    otherwise = outcome::not_waited;
  }
  if (withdraw(b, self))
    return otherwise;
  while (!self.woken_in_time.is_set()) // a waker is about to set it
    weft_threads::yield_light_thread();
  return outcome::woken;
}

void forget_in_child() noexcept {
  for (bucket &b : g_buckets)
    new (&b) bucket;
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
    ++count;
    if (!w->thread) {
      weft_threads::in_weft([w] { w->woken_in_time.set(); });
      continue;
    }
    w->is.store(state::woken, std::memory_order_release); // O1
    weft_threads::unpark(*w->thread);
    w->is.store(state::released, std::memory_order_release); // O2
  }
  return count;
}

} // namespace weft_rayon
