// SPDX-License-Identifier: Apache-2.0
// Memory of tasks: one heap per worker, blocks in classes of 64 bytes, foreign frees go home in batches.
#pragma once

#include "config/settings.hpp"
#include "mem/remote_free.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Bytes of live blocks over all heaps, exact to 64 KiB per heap.
[[nodiscard]] std::int64_t live_bytes() noexcept;
/// Called, on the thread that changed it, with every batch added to live_bytes().
void set_live_bytes_hook(void (*hook)(std::int64_t live)) noexcept;
/// Before the first block: slabs, or malloc for each block (the paper's ablation; memory checkers understand it).
void set_allocator(allocator_kind kind) noexcept;

class heap {
public:
  static constexpr std::size_t k_chunk_bytes = 64 << 10; // aligned to its size: the header is found by masking

  heap() noexcept = default;
  heap(const heap &) = delete;
  heap &operator=(const heap &) = delete;

  /// Owner: a block aligned to 64 bytes; null when memory is gone.
  void *allocate(std::size_t bytes) noexcept {
    const std::size_t c = class_of(bytes);
    if (block *b = c <= k_small ? m_free[c] : nullptr) [[likely]] {
      m_free[c] = b->next.get();
      account(static_cast<std::int64_t>(c * k_step));
      return b;
    }
    return allocate_slow(bytes, c);
  }

  /// Any thread; `mine` is the calling thread's heap or null.
  static void deallocate(void *p, heap *mine) noexcept {
    chunk *k = chunk_of(p);
    if (!s_system && mine && k->owner == mine) [[likely]] {
      auto *b = static_cast<block *>(p);
      b->next.set(mine->m_free[k->size_class]);
      mine->m_free[k->size_class] = b;
      mine->account(-static_cast<std::int64_t>(k->size_class * k_step));
      return;
    }
    deallocate_slow(p, mine);
  }

  /// Owner: sends the batch of foreign blocks home. To be called before the owner sleeps.
  void flush_remote() noexcept;
  /// Owner: adds what has changed to live_bytes().
  void flush_accounting() noexcept;

private:
  using block = remote_free<>::block;
  static constexpr std::size_t k_step = 64;
  static constexpr std::size_t k_small = 16;                     // classes 1..16: up to 1 KiB
  static constexpr std::int64_t k_account_batch = 64 << 10;
  static constexpr int k_remote_batch = 32;                      // one compare-exchange per 32 foreign frees

  struct chunk {
    heap *owner;
    std::size_t size_class; // 0: a block of its own size
    std::size_t bytes;      // with class 0
  };

  static std::size_t class_of(std::size_t bytes) noexcept { return (bytes + k_step - 1) / k_step; }
  static chunk *chunk_of(void *p) noexcept {
    return reinterpret_cast<chunk *>(reinterpret_cast<std::uintptr_t>(p) & ~(k_chunk_bytes - 1));
  }
  void account(std::int64_t bytes) noexcept {
    m_unreported += bytes;
    if (m_unreported > k_account_batch || m_unreported < -k_account_batch) [[unlikely]]
      flush_accounting();
  }
  void *allocate_slow(std::size_t bytes, std::size_t c) noexcept;
  void *allocate_alone(std::size_t bytes) noexcept;
  static void deallocate_slow(void *p, heap *mine) noexcept;
  void send_home(block *b, chunk *k) noexcept;

  friend void set_allocator(allocator_kind kind) noexcept;
  static inline bool s_system = false;

  block *m_free[k_small + 1] = {};
  std::int64_t m_unreported = 0;
  // the batch of foreign blocks, all of one owner and class
  heap *m_batch_owner = nullptr;
  std::size_t m_batch_class = 0;
  block *m_batch_first = nullptr;
  block *m_batch_last = nullptr;
  int m_batch_count = 0;
  alignas(k_apart) remote_free<> m_returned[k_small + 1]; // by class; pushed by others
};

/// The heap of a worker slot; slots are reused, heaps live for ever.
heap &heap_of_slot(unsigned id);

} // namespace rt
} // namespace weft::inline v0
