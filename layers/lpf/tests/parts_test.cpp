// SPDX-License-Identifier: Apache-2.0
#include "weft_lpf/reads.hpp"
#include "weft_lpf/slot_table.hpp"
#include "weft_lpf/step_number.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using weft_lpf::long_read;
using weft_lpf::slot_kind;
using weft_lpf::slot_table;

constexpr std::size_t k_bytes = 200;

/// Does reads one after the other, of sources whose bytes name the read and the place in it.
std::vector<int> result_of(const std::vector<long_read> &reads, std::byte *base, bool last_wins) {
  std::vector<int> memory(k_bytes, -1);
  for (std::size_t i = 0; i != reads.size(); ++i) {
    const long_read &r = last_wins ? reads[reads.size() - 1 - i] : reads[i];
    for (std::size_t b = 0; b != r.bytes; ++b)
      memory[static_cast<std::size_t>(r.to - base) + b] =
          r.from * 1000 + static_cast<int>(r.offset + b);
  }
  return memory;
}

void expect_disjoint(const std::vector<long_read> &reads) {
  for (std::size_t i = 0; i != reads.size(); ++i)
    for (std::size_t j = 0; j != i; ++j)
      EXPECT_TRUE(reads[i].to + reads[i].bytes <= reads[j].to ||
                  reads[j].to + reads[j].bytes <= reads[i].to)
          << i << " and " << j << " overlap";
}

TEST(Reads, ThatDoNotOverlapStayAsTheyAre) {
  std::byte memory[k_bytes];
  std::vector<long_read> reads{
      {memory + 50, 10, 1, {}, 7}, {memory + 60, 5, 2, {}, 0}, {memory + 10, 40, 3, {}, 0}};
  weft_lpf::make_disjoint(reads);
  ASSERT_EQ(reads.size(), 3U);
  EXPECT_EQ(reads[0].to, memory + 50);
  EXPECT_EQ(reads[0].offset, 7U);
  EXPECT_EQ(reads[2].bytes, 40U);
}

TEST(Reads, ThatAreTheSameBytesAreOne) {
  std::byte memory[k_bytes];
  std::vector<long_read> reads(9, {memory + 20, 30, 1, {}, 0});
  weft_lpf::make_disjoint(reads);
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_EQ(reads[0].bytes, 30U);
}

TEST(Reads, OverlappingOnesHaveTheResultOfAnOrder) {
  std::mt19937 random(3);
  for (int round = 0; round != 2000; ++round) {
    std::byte memory[k_bytes];
    std::vector<long_read> reads;
    const std::size_t count = 1 + random() % 9;
    for (std::size_t i = 0; i != count; ++i) {
      const std::size_t first = random() % k_bytes;
      const std::size_t bytes = 1 + random() % (k_bytes - first);
      reads.push_back({memory + first, bytes, static_cast<int>(i), {}, random() % 100});
    }
    const std::vector<int> expected = result_of(reads, memory, true);
    weft_lpf::make_disjoint(reads);
    expect_disjoint(reads);
    EXPECT_LE(reads.size(), 2 * count - 1);
    EXPECT_EQ(result_of(reads, memory, false), expected) << "round " << round;
  }
}

TEST(StepNumbers, OfMessagesNameTheNearestSuperstep) {
  const std::uint64_t wraps[] = {0xffffffffU - weft_lpf::k_first_sent, std::uint64_t{1} << 32,
                                 std::uint64_t{5} << 32};
  for (const std::uint64_t around : wraps)
    for (std::uint64_t now = std::max<std::uint64_t>(around, 4) - 3; now != around + 20; ++now)
      for (std::uint64_t step = now - 1; step != now + 4; ++step) {
        EXPECT_EQ(weft_lpf::step_near(now, weft_lpf::sent_number(step)), step) << "seen in " << now;
        EXPECT_EQ(weft_lpf::shown_number(weft_lpf::sent_number(step)), static_cast<std::uint32_t>(step));
        EXPECT_EQ(weft_lpf::sent_number(step) % 2, step % 2) << "or halves are mixed up";
      }
  EXPECT_EQ(weft_lpf::step_near(1, weft_lpf::k_first_sent), 1U);
}

TEST(Slots, OfAKindDoNotDependOnOtherKinds) {
  slot_table a(0), b(1);
  int memory = 0;
  static_cast<void>(b.add(slot_kind::local, &memory, 4));
  const std::size_t one = a.add(slot_kind::global, &memory, 4);
  EXPECT_EQ(one, b.add(slot_kind::global, &memory, 4));
  static_cast<void>(a.add(slot_kind::lone, &memory, 4));
  EXPECT_EQ(a.add(slot_kind::global, &memory, 4), b.add(slot_kind::global, &memory, 4));
  a.remove(one);
  b.remove(one);
  EXPECT_EQ(a.find(one), nullptr);
  EXPECT_EQ(a.add(slot_kind::global, &memory, 4), one);
  EXPECT_EQ(b.add(slot_kind::global, &memory, 4), one);
}

TEST(Slots, OfOtherProcessesAreNotFound) {
  slot_table a(0), b(7);
  int memory = 0;
  const std::size_t of_a = a.add(slot_kind::lone, &memory, 4);
  const std::size_t of_b = b.add(slot_kind::lone, &memory, 4);
  EXPECT_NE(of_a, of_b);
  EXPECT_EQ(a.find(of_b), nullptr);
  EXPECT_EQ(b.find(of_a), nullptr);
  ASSERT_NE(b.find(of_b), nullptr);
  EXPECT_EQ(weft_lpf::owner_of(of_b), 7U);
  EXPECT_EQ(b.find(SIZE_MAX), nullptr);
  EXPECT_EQ(b.find(0), nullptr);
}

TEST(Slots, AreManyAndAreUsedAgain) {
  slot_table all(0);
  int memory = 0;
  std::vector<std::size_t> slots;
  for (int round = 0; round != 3; ++round) {
    for (int i = 0; i != 1000; ++i)
      slots.push_back(all.add(slot_kind::local, &memory, 4));
    std::size_t in_use = 0;
    all.each([&](const weft_lpf::registration &) { ++in_use; });
    EXPECT_EQ(in_use, 1000U);
    for (const std::size_t slot : slots) {
      EXPECT_LT(slot >> 2, 1000U);
      all.remove(slot);
    }
    slots.clear();
  }
}

} // namespace
