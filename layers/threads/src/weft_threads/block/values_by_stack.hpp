// SPDX-License-Identifier: Apache-2.0
// Values of the stacks that no kernel thread is on, by stack.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace weft_threads {

/// Says which of several values of a stack are taken first: the newest.
enum class age { newest, oldest };

/// Holds values: `Values` has members `stack` and `next`. A stack may have several: if it is used
/// again before its last kernel thread has put the values of its last life here.
template <class Values, class Lock>
class values_by_stack {
 public:
  /// Moves values into the table, under `stack`.
  void put(const void *stack, Values &kept, age of_values) noexcept {
    bucket &b = of(stack);
    kept.stack = stack;
    const std::lock_guard lock(b.lock);
    Values **at = &b.first;
    while (of_values == age::oldest && *at)
      at = &(*at)->next;
    kept.next = *at;
    *at = &kept;
    b.count.store(b.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Takes the newest values of a stack; null: it has none.
  [[nodiscard]] Values *take(const void *stack) noexcept {
    bucket &b = of(stack);
    if (b.count.load(std::memory_order_relaxed) == 0) // the thread that put them has synchronized
      return nullptr;
    const std::lock_guard lock(b.lock);
    for (Values **at = &b.first; *at; at = &(*at)->next)
      if ((*at)->stack == stack) {
        Values *const found = *at;
        *at = found->next;
        b.count.store(b.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        return found;
      }
    return nullptr;
  }

 private:
  struct alignas(64) bucket {
    Lock lock;
    std::atomic<unsigned> count{0};
    Values *first = nullptr;
  };
  static constexpr unsigned k_buckets = 256;
  bucket &of(const void *stack) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(stack);
    return m_buckets[(address >> 6) * std::uint64_t{0x9e3779b97f4a7c15} >> 56];
  }
  bucket m_buckets[k_buckets];
};

} // namespace weft_threads
