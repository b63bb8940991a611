// SPDX-License-Identifier: Apache-2.0
// Stacks for tasks: guarded, cached per worker (newest first, its pages are warm), carved from
// larger mappings.
//
// Address space is kept for ever. Memory is given back beyond the shared list's high-water mark: a
// stack that goes there keeps its two topmost pages only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class watermark;

/// Describes one stack, at the top of its memory. Usable: [low, low + bytes).
struct stack {
  void *low = nullptr;   // above the guard
  std::size_t bytes = 0; // up to this descriptor
  stack *next = nullptr; // of the list that keeps it
  watermark *innermost = nullptr; // what is being measured on it
  bool sized = false;             // of a size of its own
  bool guarded = false;
  /// The runtime that it runs for (layer::client). Its user writes that; publish/runtimes.cpp reads it at any
  /// time, also of a stack that is free: descriptors are kept for ever.
  std::atomic<std::uint8_t> client{0};
};

/// Sets the bytes per stack, guard page included, and how many free stacks each worker keeps.
/// Called before the first stack.
void configure_stacks(std::uint64_t bytes, int cache) noexcept;
[[nodiscard]] std::uint64_t configured_stack_bytes() noexcept;

/// Holds free stacks of one worker; the surplus goes to a list that all workers share.
class stack_cache {
 public:
  /// Returns a stack, or null when memory, address space or the number of mappings is exhausted.
  [[nodiscard]] stack *acquire() noexcept {
    stack *s = m_first;
    if (!s) [[unlikely]]
      return acquire_slow();
    m_first = s->next;
    --m_count;
    return s;
  }
  void release(stack *which) noexcept {
    if (which->sized || !which->guarded || m_count >= s_capacity) [[unlikely]]
      return release_slow(which);
    keep(which);
  }
  [[nodiscard]] int count() const noexcept { return m_count; }

 private:
  friend void configure_stacks(std::uint64_t bytes, int cache) noexcept;
  static inline int s_capacity = 64;
  void keep(stack *which) noexcept {
    which->next = m_first;
    m_first = which;
    ++m_count;
  }
  [[nodiscard]] stack *acquire_slow() noexcept;
  void release_slow(stack *which) noexcept;
  stack *m_first = nullptr;
  int m_count = 0;
};

/// Returns a stack of at least `bytes` for one task that asked for it; null when memory is gone.
[[nodiscard]] stack *acquire_sized_stack(std::size_t bytes) noexcept;

/// Describes the guard that contains an address, and its stack's range. Async-signal-safe.
struct guarded_range {
  const char *low = nullptr; // of the guard; null: not a guard of Weft's
  std::size_t guard_bytes = 0;
  std::size_t stack_bytes = 0;
};
[[nodiscard]] guarded_range find_guard(const void *address) noexcept;

/// Calls `f` for each stack that has ever been used. No thread may make one meanwhile.
void for_each_stack(void (*f)(stack &, void *), void *context);

/// Forgets the free stacks in the child of a fork: another thread may have been changing their
/// lists.
void forget_stacks_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
