// SPDX-License-Identifier: Apache-2.0
#include "thread/event.hpp"

#include "sync/sleeper_list.hpp"
#include "team/team.hpp"

#include <new>

namespace weft_omp {
namespace {

using sleeper = word_sleeper<thread>;
struct alignas(64) bucket : sleeper_list<thread> {};
constexpr std::size_t k_buckets = 256;
bucket g_buckets[k_buckets];

bucket &bucket_of(const void *word) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(word) >> 2;
  return g_buckets[(at ^ (at >> 8)) % k_buckets];
}

} // namespace

void forget_sleepers() noexcept {
  for (bucket &all : g_buckets)
    ::new (static_cast<void *>(&all)) bucket;
}

void wait_while(thread &me, const std::atomic<std::uint32_t> &word, std::uint32_t value) noexcept {
  adaptive_spin looks(me, spins_for(*me.team));
  do
    if (word.load(std::memory_order_relaxed) != value)
      return looks.end(spin_result::came);
  while (looks.goes_on());
  looks.end(spin_result::fruitless);
  sleeper s{&word, &me};
  if (!bucket_of(&word).enter(s, word, value))
    return;
  while (!s.is_woken())
    me.own_parker.wait(me, 0);
}

void wake_one(thread *me, const std::atomic<std::uint32_t> &word) noexcept {
  if (thread *const found = bucket_of(&word).take(&word))
    found->own_parker.signal(me);
}
void wake_all(thread *me, const std::atomic<std::uint32_t> &word) noexcept {
  bucket_of(&word).take_all(&word, [me](thread &found) { found.own_parker.signal(me); });
}

void word_lock::lock(thread &me) noexcept {
  if (try_lock()) [[likely]]
    return;
  adaptive_spin looks(me, spins_for(*me.team));
  while (
      looks
          .goes_on()) // without a mark, so that the holder need not look for sleepers when it unlocks
    if (m_state.seems_free() && try_lock())
      return looks.end(spin_result::came);
  looks.end(spin_result::fruitless);
  while (!m_state.take_or_mark())
    wait_while(me, m_state.state_word(), m_state.k_marked);
}

void word_lock::unlock(thread &me) noexcept {
  if (m_state.give_up())
    wake_one(&me, m_state.state_word());
}

} // namespace weft_omp
