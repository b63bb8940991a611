// SPDX-License-Identifier: Apache-2.0
// The objects of one type, and their handles. A handle is a number: which slot, and which use of
// the slot. So a handle that is stale, or was never set, is recognized, and never reaches memory.
//
// Roles       Owner: the thread that takes or releases a slot. Reader: any thread with a handle.
// Word        generation of a slot: odd while the slot is in use; a handle holds the value.
//             m_slots: how many slots exist.
// Invariants  I1  Blocks are never freed and never move: a reader may look at any slot that exists.
//             I2  A slot is in one free list, in one thread's magazine, or in use. The magazine of a
//                 thread that has ended is empty: the destructor of a key closes it, which is called behind
//                 the others' that use the table first, but for those of the last round.
// Orders      O1  m_slots store release, load acquire: the block is written before its slots are
//                 counted.
//             O2  generation store release, load acquire: the object is made before its handle is
//                 valid. After the release of a slot a reader may still see the old value; then the
//                 program uses an object while another call frees it.
// Progress    find is wait-free. take and release take a lock at most once in k_batch / 2 calls, and
//             in each call when the thread's magazine is closed.
// Reclamation None: the memory remains for later objects of the type.
//             In the child of a fork() the free slots are found by their generations: those that
//             other threads of the parent had, and those of a list that one of them was changing.
// Checked by  layers/glt/tests/handle_test.cpp
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <pthread.h>

namespace weft_glt {

/// A number that a handle type of the header holds. Never 0 for an object.
using handle = std::uint64_t;

template <class T>
class handle_table {
 public:
  handle_table() noexcept {
    m_has_key = pthread_key_create(&m_key, [](void *p) { close(*static_cast<magazine *>(p)); }) == 0;
  }

  /// Takes a slot, whose object is as new or as its last user has left it. Throws std::bad_alloc.
  [[nodiscard]] std::pair<T *, handle> take() {
    magazine &mine = magazine_of_thread();
    if (mine.count == 0)
      fill(mine);
    const std::uint32_t index = mine.slots[--mine.count];
    if (mine.is_closed) [[unlikely]]
      give_back(mine, mine.count);
    slot &s = at(index);
    const std::uint32_t generation = s.generation.load(std::memory_order_relaxed) + 1;
    s.generation.store(generation, std::memory_order_release); // O2
    return {&s.object, static_cast<handle>(generation) << 32 | (index + 1)};
  }

  /// Gives a slot back; the handle is stale from now on. The caller is the only one to do so.
  void release(handle name) {
    const std::uint32_t index = index_of(name);
    slot &s = at(index);
    s.generation.store(generation_of(name) + 1, std::memory_order_release); // O2
    magazine &mine = magazine_of_thread();
    if (mine.count == k_batch)
      empty(mine);
    mine.slots[mine.count++] = index;
    if (mine.is_closed) [[unlikely]]
      give_back(mine, mine.count);
  }

  /// Returns the object of a handle, or null if the handle has none.
  [[nodiscard]] T *find(handle name) const noexcept {
    const std::uint32_t index = index_of(name);
    if (index >= m_slots.load(std::memory_order_acquire)) // O1; a handle of 0 is beyond all slots
      return nullptr;
    slot &s = at(index);
    const bool valid = s.generation.load(std::memory_order_acquire) == generation_of(name); // O2
    return valid && (generation_of(name) & 1) != 0 ? &s.object : nullptr;
  }

  /// Calls f(object, handle) for each slot in use.
  template <class F>
  void for_each(F f) {
    const std::uint32_t slots = m_slots.load(std::memory_order_acquire); // O1
    for (std::uint32_t index = 0; index < slots; ++index) {
      slot &s = at(index);
      const std::uint32_t generation = s.generation.load(std::memory_order_acquire); // O2
      if ((generation & 1) != 0)
        f(s.object, static_cast<handle>(generation) << 32 | (index + 1));
    }
  }

  /// Frees, in the child of a fork(), all slots without an object. The caller has forked, and no
  /// other thread uses the table.
  void put_in_order_in_child() noexcept {
    if (!m_lock.try_lock()) { // another thread held it
      ::new (&m_lock) std::mutex;
      ::new (&m_free) std::vector<std::uint32_t>; // the memory of the old list is lost
      m_lock.lock();
    }
    const std::lock_guard guard(m_lock, std::adopt_lock);
    magazine_of_thread().count = 0;
    m_free.clear();
    const std::uint32_t slots = m_slots.load(std::memory_order_relaxed);
    try {
      m_free.reserve(slots);
    } catch (const std::bad_alloc &) {
      return; // what is free remains unused
    }
    for (std::uint32_t i = slots; i > 0; --i)
      if ((at(i - 1).generation.load(std::memory_order_relaxed) & 1) == 0)
        m_free.push_back(i - 1);
  }

  /// Returns how many slots exist, used or not.
  [[nodiscard]] std::uint32_t slots() const noexcept {
    return m_slots.load(std::memory_order_acquire); // O1
  }

  static constexpr std::uint32_t k_batch = 64;

 private:
  static constexpr std::uint32_t k_block = 1024;
  static constexpr std::uint32_t k_blocks = 16384;

  struct slot {
    T object;
    std::atomic<std::uint32_t> generation{0};
  };
  using block = std::array<slot, k_block>;

  /// Holds free slots of one kernel thread. It has no destructor, because destructors of pthread keys
  /// run after those of thread-local variables, and take and release slots, too. So a key closes it.
  struct magazine {
    handle_table *table = nullptr;
    std::uint32_t count = 0;
    bool is_closed = false; // the thread ends, or nothing would say so: nothing stays here
    std::array<std::uint32_t, k_batch> slots{};
  };

  static std::uint32_t index_of(handle name) noexcept {
    return static_cast<std::uint32_t>(name) - 1;
  }
  static std::uint32_t generation_of(handle name) noexcept {
    return static_cast<std::uint32_t>(name >> 32);
  }
  [[nodiscard]] slot &at(std::uint32_t index) const noexcept {
    return (*m_blocks[index / k_block])[index % k_block];
  }

  /// There is one table per type. The function does not suspend, so the address stays that of the
  /// calling thread for as long as the callers use it.
  [[gnu::noinline]] magazine &magazine_of_thread() noexcept {
    static constinit thread_local magazine mine;
    if (mine.table != this) [[unlikely]] {
      mine.table = this;
      mine.is_closed = !m_has_key || pthread_setspecific(m_key, &mine) != 0;
    }
    return mine;
  }
  /// The thread ends. In the destructors of other keys a key that is set anew is called in the next round.
  static void close(magazine &mine) noexcept {
    mine.is_closed = true;
    mine.table->give_back(mine, mine.count);
  }

  void fill(magazine &mine) {
    const std::lock_guard guard(m_lock);
    if (m_free.empty())
      add_block();
    while (mine.count < k_batch / 2 && !m_free.empty()) {
      mine.slots[mine.count++] = m_free.back();
      m_free.pop_back();
    }
  }
  void empty(magazine &mine) noexcept { give_back(mine, k_batch / 2); }
  void give_back(magazine &mine, std::uint32_t n) noexcept {
    const std::lock_guard guard(m_lock);
    for (; n > 0; --n)
      m_free.push_back(mine.slots[--mine.count]); // the capacity is that of all slots
  }
  void add_block() {
    const std::uint32_t slots = m_slots.load(std::memory_order_relaxed);
    if (slots == k_block * k_blocks)
      throw std::bad_alloc();
    m_free.reserve(slots + k_block);
    m_blocks[slots / k_block] = std::make_unique<block>();
    for (std::uint32_t i = k_block; i > 0; --i)
      m_free.push_back(slots + i - 1);
    m_slots.store(slots + k_block, std::memory_order_release); // O1
  }

  pthread_key_t m_key{};
  bool m_has_key;
  std::mutex m_lock;
  std::vector<std::uint32_t> m_free; // guarded by the lock
  std::atomic<std::uint32_t> m_slots{0};
  std::array<std::unique_ptr<block>, k_blocks> m_blocks;
};

/// A table that the child of a fork() puts in order.
struct table_at_fork {
  void *table;
  void (*put_in_order)(void *table) noexcept;
  table_at_fork *next;
};
/// Returns the first of all tables.
inline std::atomic<table_at_fork *> &tables_at_fork() noexcept {
  static constinit std::atomic<table_at_fork *> first{nullptr};
  return first;
}
inline void put_tables_in_order_in_child() noexcept {
  // A table is in the list before other threads use it: relaxed in the one thread of the child.
  for (auto *each = tables_at_fork().load(std::memory_order_relaxed); each; each = each->next)
    each->put_in_order(each->table);
}

template <class T>
handle_table<T> *make_table() {
  auto *const made = new handle_table<T>;
  auto *const known = new table_at_fork{
      made, [](void *p) noexcept { static_cast<handle_table<T> *>(p)->put_in_order_in_child(); },
      tables_at_fork().load(std::memory_order_relaxed)};
  while (!tables_at_fork().compare_exchange_weak(known->next, known, std::memory_order_release,
                                                 std::memory_order_relaxed)) {
  }
  return made;
}

/// Returns the table of all objects of a type. It outlives static destructors, as tasks may.
template <class T>
[[nodiscard]] handle_table<T> &table_of() {
  static auto *const all = make_table<T>();
  return *all;
}

} // namespace weft_glt
