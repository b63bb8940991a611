// SPDX-License-Identifier: Apache-2.0
// Any way to split a loop covers each index once: of each type of integer, upwards and downwards, up
// to the ends of the type. The splitter is that of loops, algorithms and OpenMP's schedule(dynamic).
#include <weft/detail/chunk_range.hpp>
#include <weft/detail/loop_blocks.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <mutex>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using weft::detail::basic_chunk_range;

template <class Index>
class splits : public testing::Test {
 protected:
  using limits = std::numeric_limits<Index>;

  /// Returns a range of at most some thousand indices, often at an end of the type.
  weft::range<Index> some_range() {
    const Index ends[] = {limits::min(), limits::max(), Index{0}, any()};
    const Index first = ends[random() % 4], limit = ends[random() % 4];
    const auto width = first < limit ? bits(limit) - bits(first) : bits(first) - bits(limit);
    const std::uint64_t least = width / 3000 + 1;
    const std::uint64_t stride =
        std::min<std::uint64_t>(least + random() % (2 * least), std::numeric_limits<std::int64_t>::max());
    const auto step = static_cast<std::int64_t>(stride);
    return {first, limit, first < limit ? step : -step};
  }
  Index any() { return static_cast<Index>(random()); }
  static std::uint64_t bits(Index i) { return static_cast<std::uint64_t>(i); }

  /// Returns the indices of a range as a serial loop counts them, in 128 bits.
  static std::vector<Index> expected(const weft::range<Index> &space) {
    std::vector<Index> all;
    __extension__ using wide = __int128;
    if (space.empty())
      return all;
    const auto limit = static_cast<wide>(space.limit());
    for (auto i = static_cast<wide>(space.first()); space.step() > 0 ? i < limit : i > limit;
         i += space.step())
      all.push_back(static_cast<Index>(i));
    return all;
  }
  static void expect_each_once(std::vector<Index> seen, const weft::range<Index> &space) {
    auto wanted = expected(space);
    std::sort(seen.begin(), seen.end());
    std::sort(wanted.begin(), wanted.end());
    ASSERT_EQ(seen, wanted) << +space.first() << " to " << +space.limit() << " by " << space.step();
  }

  std::mt19937_64 random{2026};
};

using integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(splits, integers);

// Participants take blocks and steal in an order by chance.
TYPED_TEST(splits, of_the_splitter_cover_each_index_once) {
  for (int round = 0; round < 300; ++round) {
    const auto space = this->some_range();
    const std::uint64_t size = space.size(), unit = 1 + this->random() % 5;
    const std::uint64_t chunks = size / unit + (size % unit != 0);
    const unsigned members = 1 + static_cast<unsigned>(this->random() % 7);
    std::vector<basic_chunk_range<>> ranges(members);
    const auto range_of = [&](unsigned i) -> basic_chunk_range<> & { return ranges[i]; };
    weft::detail::split_chunks(chunks, members, range_of);
    std::vector<std::uint64_t> last(members, 1);
    std::vector<TypeParam> seen;
    std::vector<unsigned> active(members);
    for (unsigned i = 0; i < members; ++i)
      active[i] = i;
    while (!active.empty()) {
      const std::size_t at = this->random() % active.size();
      const unsigned me = active[at];
      std::uint32_t chunk = 0, count = 0;
      const double ns = static_cast<double>(this->random() % 2000);
      const std::uint32_t left = ranges[me].left();
      last[me] = weft::detail::next_block(last[me], ns, left);
      count = ranges[me].take(static_cast<std::uint32_t>(last[me]), chunk);
      if (count == 0 && weft::detail::steal_half(members, me, range_of, chunk))
        count = 1;
      if (count == 0) {
        active.erase(active.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      const std::uint64_t begin = chunk * unit;
      const auto part = space.part(begin, std::min(count * unit, size - begin));
      for (const TypeParam i : part)
        seen.push_back(i);
    }
    this->expect_each_once(seen, space);
  }
}

TYPED_TEST(splits, of_loops_cover_each_index_once) {
  for (int round = 0; round < 40; ++round) {
    const auto space = this->some_range();
    std::mutex mutex;
    std::vector<TypeParam> seen;
    const auto note = [&](weft::range<TypeParam> part) {
      const std::lock_guard hold(mutex);
      for (const TypeParam i : part)
        seen.push_back(i);
    };
    if (round % 4 == 0)
      weft::taskfor(space, note);
    else if (round % 4 == 1)
      weft::taskfor(space, note, weft::grain_size(1 + this->random() % 100));
    else if (round % 4 == 2)
      weft::taskloop(space, note);
    else
      weft::taskloop(space, note, weft::num_tasks(1 + this->random() % 20));
    weft::taskwait();
    this->expect_each_once(seen, space);
  }
}

// A range as wide as its type, of which no number counts all indices.
TYPED_TEST(splits, of_a_whole_type_reach_its_ends) {
  using limits = std::numeric_limits<TypeParam>;
  const auto stride = static_cast<std::int64_t>(
      sizeof(TypeParam) == 8 ? std::uint64_t{1} << 52 : (std::uint64_t{1} << 8 * sizeof(TypeParam)) / 256);
  const weft::range<TypeParam> up(limits::min(), limits::max(), stride);
  const weft::range<TypeParam> down(limits::max(), limits::min(), -stride);
  for (const auto &space : {up, down}) {
    std::mutex mutex;
    std::vector<TypeParam> seen;
    weft::taskfor(space, [&](TypeParam i) {
      const std::lock_guard hold(mutex);
      seen.push_back(i);
    });
    weft::taskwait();
    EXPECT_EQ(seen.size(), space.size());
    this->expect_each_once(seen, space);
  }
}

} // namespace
