// SPDX-License-Identifier: Apache-2.0
#include "wait_table.hpp"

#include "wait_list.hpp"

#include <weft_common/atomics.hpp>
#include <weft_threads/light_thread.hpp>

#include <weft/error.hpp>
#include <weft/sync/event.hpp>

#include <chrono>
#include <cstddef>
#include <new>

namespace weft_rayon {

namespace {

/// The lightweight threads of Weft, and words of programs.
struct light_threads {
  using word = std::uint32_t;
  using thread = weft_threads::thread_record;
  using event = weft::event;
  static constexpr unsigned k_tries = 64;
  static std::uint32_t value(const word &at) noexcept {
    return __atomic_load_n(&at, __ATOMIC_RELAXED);
  }
  static void park(thread &) noexcept { weft_threads::park_light_thread(); }
  static void unpark(thread &sleeping) noexcept { weft_threads::unpark(sleeping); }
  static void yield() noexcept { weft_threads::yield_light_thread(); }
};

using list = wait_list<light_threads, weft_common::std_atomics<&light_threads::yield, 64>>;

struct alignas(64) bucket {
  list waiters;
};

constexpr unsigned k_bits = 8;
constinit bucket g_buckets[1 << k_bits];

list &list_of(const std::uint32_t *word) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  return g_buckets[(address >> 2) * 0x9e3779b97f4a7c15u >> (64 - k_bits)].waiters;
}

} // namespace

outcome wait(const std::uint32_t *word, std::uint32_t expected) noexcept {
  list::waiter self{word, weft_threads::this_light_thread()};
  return list_of(word).wait(self, expected) ? outcome::woken : outcome::another_value;
}

outcome wait_for(const std::uint32_t *word, std::uint32_t expected, std::int64_t ns) noexcept {
  list::waiter self{word, nullptr};
  list &all = list_of(word);
  if (!all.add(self, expected))
    return outcome::another_value;
  outcome otherwise = outcome::time_is_over;
  try {
    if (self.woken_in_time.wait_for(std::chrono::nanoseconds(ns)))
      return outcome::woken;
  } catch (const weft::error &) {
    otherwise = outcome::not_waited;
  }
  return all.withdraw(self) ? otherwise : outcome::woken;
}

void forget_in_child() noexcept {
  for (bucket &b : g_buckets)
    new (&b) bucket;
}

long wake(const std::uint32_t *word, long most) noexcept {
  return list_of(word).wake(word, most, [](weft::event &woken) {
    weft_threads::in_weft([&woken] { woken.set(); });
  });
}

} // namespace weft_rayon
