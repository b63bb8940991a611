// SPDX-License-Identifier: Apache-2.0
#include "event.hpp"

#include "team.hpp"

#include <mutex>

namespace weft_omp {
namespace {

// Invariants  I1  Who waits looks at the word with the lock, which who wakes takes after it has changed the word: one of the two sees the other.
// Orders      O1  woken store release, load acquire: the list, and what was done before the wake-up.
//             O2  the word's load acquire: what was done before it was changed.
struct sleeper {
  const void *word;
  thread *who;
  sleeper *next = nullptr;
  std::atomic<bool> woken{false};
};

/// Words that share a bucket share its list; a wake-up looks for its own.
struct alignas(64) bucket {
  spin_lock lock;
  sleeper *first = nullptr;
};
constexpr std::size_t k_buckets = 256;
bucket g_buckets[k_buckets];

bucket &bucket_of(const void *word) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(word) >> 2;
  return g_buckets[(at ^ (at >> 8)) % k_buckets];
}

void wake(thread *me, const void *word, unsigned most) noexcept {
  bucket &b = bucket_of(word);
  while (most-- != 0) {
    thread *found = nullptr;
    {
      std::lock_guard lock(b.lock);
      sleeper **at = &b.first;
      while (*at && (*at)->word != word)
        at = &(*at)->next;
      if (!*at)
        return;
      sleeper *const s = *at;
      *at = s->next;
      found = s->who;
      s->woken.store(true, std::memory_order_release); // O1: the last touch: it lies on the sleeper's stack
    }
    found->place_to_wait.signal(me);
  }
}

} // namespace

void wait_while(thread &me, const std::atomic<std::uint32_t> &word, std::uint32_t value) noexcept {
  spell looks(me, spins_for(*me.crew));
  do
    if (word.load(std::memory_order_relaxed) != value)
      return looks.end(true);
  while (looks.goes_on());
  looks.end(false);
  sleeper s{&word, &me};
  bucket &b = bucket_of(&word);
  {
    std::lock_guard lock(b.lock);
    if (word.load(std::memory_order_acquire) != value) // O2, I1
      return;
    sleeper **at = &b.first; // first come, first served
    while (*at)
      at = &(*at)->next;
    *at = &s;
  }
  while (!s.woken.load(std::memory_order_acquire)) // O1
    me.place_to_wait.wait(me, 0);
}

void wake_one(thread *me, const std::atomic<std::uint32_t> &word) noexcept { wake(me, &word, 1); }
void wake_all(thread *me, const std::atomic<std::uint32_t> &word) noexcept { wake(me, &word, ~0u); }

bool word_lock::try_lock() noexcept {
  std::uint32_t free = 0;
  return m_word.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed); // O1
}

void word_lock::lock(thread &me) noexcept {
  if (try_lock()) [[likely]]
    return;
  spell looks(me, spins_for(*me.crew));
  while (looks.goes_on()) // without a mark, so that who unlocks need not look for sleepers
    if (m_word.load(std::memory_order_relaxed) == 0 && try_lock())
      return looks.end(true);
  looks.end(false);
  while (m_word.exchange(2, std::memory_order_acquire) != 0) // O1
    wait_while(me, m_word, 2);
}

void word_lock::unlock(thread &me) noexcept {
  if (m_word.exchange(0, std::memory_order_release) == 2) // O2
    wake_one(&me, m_word);
}

} // namespace weft_omp
