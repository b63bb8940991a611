// SPDX-License-Identifier: Apache-2.0
#include "mem/slab.hpp"

#include "arch/sanitizer.hpp"
#include "support/death_test.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace {

using weft::rt::allocator_kind;
using weft::rt::heap;
using weft::rt::live_bytes;

/// A heap of its own for each use, since heaps live for ever.
heap &fresh_heap() {
  static std::atomic<unsigned> next{0};
  return weft::rt::heap_of_slot(next++);
}

constexpr std::size_t k_sizes[] = {1,    63,   64,   65,   192,   960,   1024,   1025,
                                   2048, 2049, 4096, 4097, 16384, 16385, 70'000, 1'000'000};

struct block {
  unsigned char *at;
  std::size_t bytes;
  unsigned char fill;
};

block fill(heap &h, std::size_t bytes, unsigned char with) {
  auto *p = static_cast<unsigned char *>(h.allocate(bytes));
  EXPECT_NE(p, nullptr);
  std::memset(p, with, bytes);
  return {p, bytes, with};
}

bool intact(const block &b) {
  return std::all_of(b.at, b.at + b.bytes, [&](unsigned char c) { return c == b.fill; });
}

TEST(slab, blocks_of_every_size_are_aligned_and_do_not_overlap) {
  heap &h = fresh_heap();
  std::vector<block> blocks;
  for (int round = 0; round < 40; ++round)
    for (std::size_t bytes : k_sizes)
      blocks.push_back(fill(h, bytes, static_cast<unsigned char>(blocks.size())));
  for (const block &b : blocks) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.at) % 64, 0u) << b.bytes;
    EXPECT_TRUE(intact(b)) << b.bytes;
    heap::deallocate(b.at, &h);
  }
}

TEST(slab, blocks_of_a_power_of_two_are_aligned_to_it) {
  heap &h = fresh_heap();
  for (std::size_t bytes = 64; bytes <= 16384; bytes *= 2) {
    std::vector<void *> blocks;
    for (std::size_t i = 0; i < 2 * heap::k_chunk_bytes / bytes; ++i) { // the first of a chunk, too
      blocks.push_back(h.allocate(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % bytes, 0u) << bytes;
    }
    for (void *p : blocks)
      heap::deallocate(p, &h);
  }
}

TEST(slab, a_block_of_no_bytes_is_a_block) {
  heap &h = fresh_heap();
  void *p = h.allocate(0), *q = h.allocate(0);
  EXPECT_NE(p, nullptr);
  EXPECT_NE(p, q);
  heap::deallocate(p, &h);
  heap::deallocate(q, &h);
}

TEST(slab, the_block_freed_last_is_used_first) {
  heap &h = fresh_heap();
  void *p = h.allocate(200), *q = h.allocate(200);
  heap::deallocate(p, &h);
  heap::deallocate(q, &h);
  EXPECT_EQ(h.allocate(193), q) << "193 to 256 bytes are one class";
  EXPECT_EQ(h.allocate(256), p);
}

TEST(slab, blocks_beyond_a_chunk_come_from_further_chunks) {
  heap &h = fresh_heap();
  std::set<void *> blocks;
  const std::size_t count = 3 * heap::k_chunk_bytes / 512;
  for (std::size_t i = 0; i < count; ++i)
    blocks.insert(h.allocate(512));
  EXPECT_EQ(blocks.size(), count);
  for (void *p : blocks)
    heap::deallocate(p, &h);
}

#if !defined(WEFT_ASAN) && !defined(WEFT_TSAN) // they end the program instead

TEST(slab, a_size_that_cannot_be_had_gives_null) {
  EXPECT_EQ(fresh_heap().allocate(SIZE_MAX - 10), nullptr);
  EXPECT_EQ(fresh_heap().allocate(SIZE_MAX - 100), nullptr);
  EXPECT_EQ(fresh_heap().allocate(SIZE_MAX / 4), nullptr);
}

#endif

TEST(slab, a_remote_block_comes_back_to_its_owner_when_the_batch_is_flushed) {
  heap &owner = fresh_heap(), &other = fresh_heap();
  void *p = owner.allocate(320);
  std::set<void *> rest; // empties the owner's list, so that it must look for what came back
  heap::deallocate(p, &other);
  EXPECT_NE(other.allocate(320), p) << "the block belongs to the heap that it came from";
  other.flush_remote();
  for (int i = 0; i < 64 && rest.count(p) == 0; ++i)
    rest.insert(owner.allocate(320));
  EXPECT_EQ(rest.count(p), 1u);
}

TEST(slab, a_full_batch_goes_home_by_itself) {
  heap &owner = fresh_heap(), &other = fresh_heap();
  std::set<void *> given;
  for (int i = 0; i < 32; ++i)
    given.insert(owner.allocate(128));
  for (void *p : given)
    heap::deallocate(p, &other);
  std::size_t back = 0;
  for (int i = 0; i < 64; ++i) // what is left of the page, then what came back
    back += given.count(owner.allocate(128));
  EXPECT_EQ(back, 32u);
}

TEST(slab, blocks_of_several_owners_and_classes_freed_in_turn_all_go_home) {
  heap &freeing = fresh_heap();
  heap *owners[] = {&fresh_heap(), &fresh_heap(), &fresh_heap()};
  const std::size_t sizes[] = {64, 256, 1024, 4096};
  std::set<void *> given[3];
  std::vector<void *> all;
  for (int i = 0; i < 100; ++i)
    for (int o = 0; o < 3; ++o)
      for (std::size_t bytes : sizes)
        all.push_back(*given[o].insert(owners[o]->allocate(bytes)).first);
  for (void *p : all)
    heap::deallocate(p, &freeing);
  freeing.flush_remote();
  for (int o = 0; o < 3; ++o) {
    std::size_t back = 0;
    for (std::size_t bytes : sizes)
      for (int i = 0; i < 300; ++i)
        back += given[o].count(owners[o]->allocate(bytes));
    EXPECT_EQ(back, given[o].size());
  }
}

TEST(slab, a_thread_without_a_heap_frees_too) {
  heap &owner = fresh_heap();
  void *p = owner.allocate(448);
  const std::int64_t before = live_bytes();
  heap::deallocate(p, nullptr);
  EXPECT_EQ(live_bytes(), before - 448);
  bool back = false;
  for (int i = 0; i < 64 && !back; ++i)
    back = owner.allocate(448) == p;
  EXPECT_TRUE(back);
}

#if !defined(WEFT_ASAN) && !defined(WEFT_TSAN) // they see each block's life, so no block is kept

TEST(kept_block, is_taken_by_its_size_and_once) {
  heap &h = fresh_heap();
  void *const p = h.allocate(200);
  EXPECT_EQ(h.take_kept(200), nullptr) << "none is kept";
  h.keep(p, 200);
  EXPECT_EQ(h.take_kept(199), nullptr);
  EXPECT_EQ(h.take_kept(201), nullptr);
  EXPECT_EQ(h.take_kept(200), p);
  EXPECT_EQ(h.take_kept(200), nullptr) << "it is taken";
  heap::deallocate(p, &h);
}

TEST(kept_block, gives_way_to_one_of_another_size) {
  heap &h = fresh_heap();
  void *const p = h.allocate(200), *const q = h.allocate(400), *const same = h.allocate(400);
  h.keep(p, 200);
  h.keep(q, 400);
  EXPECT_EQ(h.take_kept(200), nullptr);
  EXPECT_EQ(h.allocate(200), p) << "it is free";
  h.keep(same, 400);
  EXPECT_EQ(h.take_kept(400), q) << "of two of a size the first one stays";
  EXPECT_EQ(h.allocate(400), same);
  for (void *b : {p, q, same})
    heap::deallocate(b, &h);
}

TEST(kept_block, counts_as_live_and_goes_home_when_its_keeper_sleeps) {
  heap &owner = fresh_heap(), &keeper = fresh_heap();
  const std::int64_t before = live_bytes();
  void *const p = owner.allocate(320);
  owner.flush_accounting();
  keeper.keep(p, 320);
  keeper.flush_accounting();
  EXPECT_EQ(live_bytes(), before + 320);
  keeper.flush_remote();
  keeper.flush_accounting();
  EXPECT_EQ(live_bytes(), before);
  EXPECT_EQ(keeper.take_kept(320), nullptr);
  bool back = false;
  for (int i = 0; i < 64 && !back; ++i)
    back = owner.allocate(320) == p;
  EXPECT_TRUE(back);
}

#endif

/// Each thread allocates from its own heap, hands the blocks to the next thread, and frees those of the one before.
TEST(slab, threads_that_free_each_others_blocks_lose_and_share_none) {
  constexpr int threads = 4, blocks_each = 20'000, window = 256;
  struct alignas(64) slot {
    std::atomic<std::uint64_t *> word{nullptr};
  };
  auto slots = std::make_unique<slot[][window]>(threads);
  std::atomic<int> wrong{0};
  const std::int64_t before = live_bytes();
  std::vector<heap *> heaps;
  for (int t = 0; t < threads; ++t)
    heaps.push_back(&fresh_heap());
  auto work = [&](int t) {
    heap &mine = *heaps[static_cast<std::size_t>(t)];
    auto &out = slots[static_cast<std::size_t>(t)];
    auto &in = slots[static_cast<std::size_t>((t + 1) % threads)];
    int sent = 0, received = 0;
    while (sent < blocks_each || received < blocks_each) {
      if (sent < blocks_each && !out[sent % window].word.load(std::memory_order_acquire)) {
        auto *p = static_cast<std::uint64_t *>(
            mine.allocate(64 + static_cast<std::size_t>(sent % 3) * 100));
        p[0] = p[7] = static_cast<std::uint64_t>(sent);
        out[sent % window].word.store(p, std::memory_order_release);
        ++sent;
      }
      if (received == blocks_each)
        continue;
      if (auto *p = in[received % window].word.exchange(nullptr, std::memory_order_acq_rel)) {
        if (p[0] != static_cast<std::uint64_t>(received) || p[7] != p[0])
          ++wrong;
        heap::deallocate(p, &mine);
        ++received;
      } else {
        std::this_thread::yield();
      }
    }
    mine.flush_remote();
    mine.flush_accounting();
  };
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back(work, t);
  for (auto &t : all)
    t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(live_bytes(), before);
}

TEST(slab_accounting, counts_the_class_of_each_block_once_it_is_flushed) {
  heap &h = fresh_heap();
  const std::int64_t before = live_bytes();
  void *p = h.allocate(100), *q = h.allocate(3000), *r = h.allocate(100'000);
  h.flush_accounting();
  EXPECT_GE(live_bytes() - before, 128 + 4096 + 100'000);
  EXPECT_LE(live_bytes() - before, 128 + 4096 + 100'000 + 64);
  for (void *b : {p, q, r})
    heap::deallocate(b, &h);
  h.flush_accounting();
  EXPECT_EQ(live_bytes(), before);
}

TEST(slab_accounting, a_free_counts_at_the_thread_that_frees) {
  heap &owner = fresh_heap(), &other = fresh_heap();
  void *p = owner.allocate(1024);
  owner.flush_accounting();
  const std::int64_t before = live_bytes();
  heap::deallocate(p, &other);
  owner.flush_accounting();
  EXPECT_EQ(live_bytes(), before);
  other.flush_accounting();
  EXPECT_EQ(live_bytes(), before - 1024);
  other.flush_remote();
}

std::int64_t g_hooked = 0;
int g_calls = 0;

TEST(slab_accounting, the_hook_hears_of_every_64_kib) {
  heap &h = fresh_heap();
  const std::int64_t before = live_bytes();
  g_calls = 0;
  weft::rt::set_live_bytes_hook([](std::int64_t live) {
    g_hooked = live;
    ++g_calls;
  });
  std::vector<void *> blocks;
  for (int i = 0; i < 64; ++i)
    blocks.push_back(h.allocate(1024));
  EXPECT_EQ(g_calls, 0) << "exactly 64 KiB are not yet more than 64 KiB";
  blocks.push_back(h.allocate(1024));
  EXPECT_EQ(g_calls, 1);
  EXPECT_EQ(g_hooked, before + 65 * 1024);
  for (void *p : blocks)
    heap::deallocate(p, &h);
  EXPECT_EQ(g_calls, 2);
  h.flush_accounting();
  EXPECT_EQ(live_bytes(), before);
  weft::rt::set_live_bytes_hook(nullptr);
}

/// In a process of its own: the choice holds for all heaps and from the first block on.
void use_malloc_for_everything() {
  weft::rt::set_allocator(allocator_kind::system);
  heap &h = weft::rt::heap_of_slot(0), &other = weft::rt::heap_of_slot(1);
  std::vector<block> blocks;
  for (int round = 0; round < 20; ++round)
    for (std::size_t bytes : k_sizes)
      blocks.push_back(fill(h, bytes, static_cast<unsigned char>(blocks.size())));
  bool fine = true;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    fine = fine && reinterpret_cast<std::uintptr_t>(blocks[i].at) % 64 == 0 && intact(blocks[i]);
    heap *mine[] = {&h, &other, nullptr};
    heap::deallocate(blocks[i].at, mine[i % 3]);
  }
  for (int i = 0; i < 2; ++i) { // memory checkers see each block's life: none is kept
    h.keep(h.allocate(200), 200);
    fine = fine && h.take_kept(200) == nullptr;
    h.flush_remote();
  }
  h.flush_accounting();
  other.flush_accounting();
  _exit(fine && live_bytes() == 0 ? 0 : 1);
}

TEST(slab_death_test, with_the_system_allocator_blocks_are_aligned_counted_and_freed_by_anyone) {
  test::use_a_process_for_each_death();
  EXPECT_EXIT(use_malloc_for_everything(), testing::ExitedWithCode(0), "");
}

} // namespace
