// SPDX-License-Identifier: Apache-2.0
// Memory of tasks: one heap per worker, blocks in size classes, remote frees go home in batches.
// Blocks have no header; the data about a block is at the start of its chunk, found by masking the
// address.
//
// Memory is kept for reuse and never returned: the throttle bounds the memory of live tasks, and so
// the memory that is kept.
#pragma once

#include "config/settings.hpp"
#include "mem/remote_free.hpp"
#include "weft/config.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Returns the bytes of live blocks over all heaps, exact to 64 KiB per heap.
[[nodiscard]] std::int64_t live_bytes() noexcept;
/// Sets the function that is called with every batch added to live_bytes(), on the thread that
/// added it.
void set_live_bytes_hook(void (*hook)(std::int64_t live)) noexcept;
/// Chooses slabs, or malloc for each block (the paper's ablation; memory checkers understand it).
/// Called before the first block.
void set_allocator(allocator_kind kind) noexcept;

class heap {
 public:
  static constexpr std::size_t k_chunk_bytes =
      64 << 10; // aligned to its size: the header is found by masking
  static constexpr std::size_t k_align = 64;

  heap() noexcept = default;
  heap(const heap &) = delete;
  heap &operator=(const heap &) = delete;

  /// Allocates a block aligned to 64 bytes; returns null when memory is gone. Owner only.
  void *allocate(std::size_t bytes) noexcept {
    void *b = take_listed(bytes, k_account_batch);
    return b ? b : allocate_slow(bytes);
  }
  /// Does the same, but returns null when a look into a list is not enough.
  WEFT_INLINE void *allocate_fast(std::size_t bytes) noexcept {
    return take_listed(bytes, m_most_unreported);
  }

  /// Frees a block. Any thread; `mine` is the calling thread's heap or null.
  static void deallocate(void *p, heap *mine) noexcept {
    if (mine) [[likely]]
      mine->deallocate(p);
    else
      deallocate_slow(p, nullptr);
  }
  /// Frees a block of any heap. Owner only.
  WEFT_INLINE void deallocate(void *p) noexcept {
    if (s_system) [[unlikely]]
      return deallocate_slow(p, this);
    const chunk *k = chunk_of(p);
    if (k->owner != this) [[unlikely]]
      return deallocate_slow(p, this);
    auto *b = static_cast<block *>(p);
    b->next.set(m_free[k->size_class]);
    m_free[k->size_class] = b;
    account(-static_cast<std::int64_t>(k->block_bytes));
  }

  /// Keeps a block of `bytes`, which are not 0, for the next take_kept() of as many: a coroutine that
  /// is called again and again needs no list. Of two sizes the last one stays. Owner only.
  WEFT_INLINE void keep(void *p, std::size_t bytes) noexcept {
    if (m_kept_bytes != 0) [[unlikely]]
      return keep_instead(p, bytes);
    m_kept = p;
    m_kept_bytes = bytes;
  }
  /// Returns the block that is kept if it has exactly `bytes`, or null. Owner only.
  WEFT_INLINE void *take_kept(std::size_t bytes) noexcept {
    if (m_kept_bytes != bytes)
      return nullptr;
    m_kept_bytes = 0;
    if (!m_kept)
      __builtin_unreachable(); // there is one of these bytes: the caller need not look again
    return m_kept;
  }

  /// Returns how many bytes the block has, which may be more than were asked for. For reports.
  [[nodiscard]] static std::size_t bytes_of(void *p) noexcept;

  /// Makes allocate_fast() return null from now on, so that the creator of a task takes the general
  /// path, where a trace sees it. Owner only.
  void disable_fast_path() noexcept { m_most_unreported = INT64_MIN; }

  /// Sends all remote blocks home, and frees the one that is kept. Owner only, before it sleeps.
  void flush_remote() noexcept;
  /// Adds the changes since the last call to live_bytes(). Owner only.
  void flush_accounting() noexcept;

 private:
  using block = remote_free<>::block;
  static constexpr std::size_t k_fine = 16; // classes 1..16: steps of 64 bytes up to 1 KiB
  static constexpr std::size_t k_most =
      16 << 10; // then powers of two up to this; larger blocks come from malloc
  static constexpr std::size_t k_classes = k_fine + 5;
  static constexpr std::int64_t k_account_batch = 64 << 10;
  static constexpr std::uint32_t k_remote_batch = 32; // one compare-exchange per 32 remote frees
  static constexpr std::uint32_t k_remote_bytes =
      16 << 10; // but no more memory than this waits in a batch
  static constexpr std::size_t k_never = SIZE_MAX; // the system allocator's heaps keep no block
  static constexpr std::size_t k_batches = 8; // pairs of owner and class that are freed alternately

  /// Heads a chunk, in its first 64 bytes. Written once.
  struct chunk {
    heap *owner = nullptr; // null: the chunk is one large block
    std::uint32_t size_class = 0;
    std::uint32_t owner_slot = 0;
    std::size_t block_bytes = 0;
  };

  /// Collects remote blocks of one owner and class, on their way home.
  struct batch {
    heap *owner = nullptr;
    block *first = nullptr;
    block *last = nullptr;
    std::uint32_t size_class = 0;
    std::uint32_t count = 0; // 0: the other members have no meaning
  };

  WEFT_INLINE void *take_listed(std::size_t bytes, std::int64_t most_unreported) noexcept {
    const std::size_t c = (bytes + k_align - 1) / k_align;
    const std::int64_t unreported = m_unreported + static_cast<std::int64_t>(c * k_align);
    if (c > k_fine || unreported > most_unreported) [[unlikely]]
      return nullptr;
    block *b = m_free[c];
    if (b) [[likely]] {
      m_free[c] = b->next.get();
      m_unreported = unreported;
    }
    return b;
  }
  static chunk *chunk_of(void *p) noexcept {
    return reinterpret_cast<chunk *>(reinterpret_cast<std::uintptr_t>(p) & ~(k_chunk_bytes - 1));
  }
  void account(std::int64_t bytes) noexcept {
    m_unreported += bytes;
    if (static_cast<std::uint64_t>(m_unreported + k_account_batch) > 2 * k_account_batch)
        [[unlikely]]
      flush_accounting();
  }
  void *allocate_slow(std::size_t bytes) noexcept;
  void keep_instead(void *p, std::size_t bytes) noexcept;
  void *allocate_with_malloc(std::size_t bytes) noexcept;
  void *allocate_large(std::size_t bytes) noexcept;
  bool refill(std::size_t size_class, std::size_t size) noexcept;
  static void deallocate_slow(void *p, heap *mine) noexcept;
  static void account_for(heap *mine, std::int64_t bytes) noexcept;
  void send_home(block *freed, const chunk &home) noexcept;
  static void flush(batch &frees) noexcept;

  friend void set_allocator(allocator_kind kind) noexcept;
  friend heap &heap_of_slot(unsigned id);
  static inline bool s_system = false;

  std::int64_t m_unreported = 0;
  std::int64_t m_most_unreported =
      k_account_batch; // bytes not reported yet that a fast allocation may leave
  block *m_free[k_classes] = {};
  char *m_fresh[k_classes] = {}; // the part of the newest chunk that has not been used yet
  char *m_fresh_end[k_classes] = {};
  batch m_batches[k_batches];
  std::uint32_t m_slot = 0;
  void *m_kept = nullptr; // a block of any heap; counts as live
  std::size_t m_kept_bytes = 0; // that its user asked for; 0: none is kept; k_never
  alignas(k_apart) remote_free<> m_returned[k_classes]; // by class; pushed by other threads
};

/// Returns the heap of a worker slot; slots are reused, heaps live for ever.
heap &heap_of_slot(unsigned id);

/// Forgets all heaps in the child of a fork, because their owners may have stopped amid anything.
/// Their blocks stay readable, and may be freed.
void forget_heaps_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
