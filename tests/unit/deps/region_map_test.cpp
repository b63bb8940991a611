// SPDX-License-Identifier: Apache-2.0
#include "deps/regions/region_map.hpp"
#include "deps/regions/region_scope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using weft::rt::region_map;

region_map::iterator put(region_map &map, std::uintptr_t low, std::uintptr_t end) {
  const auto at = map.cover(low, end);
  map.unite(at, end);
  map.note(at);
  return at;
}

TEST(region_map, finds_exactly_the_bytes_that_were_noted) {
  region_map map;
  EXPECT_EQ(map.exact(64, 128), nullptr);
  const auto at = put(map, 64, 128);
  EXPECT_EQ(map.exact(64, 128), &at->second);
  EXPECT_EQ(map.exact(64, 127), nullptr);
  EXPECT_EQ(map.exact(64, 129), nullptr);
  EXPECT_EQ(map.exact(65, 128), nullptr);
}

TEST(region_map, what_was_split_is_no_longer_what_it_was) {
  region_map map;
  const auto at = put(map, 64, 128);
  map.cut(64, 96);
  EXPECT_EQ(map.exact(64, 128), nullptr);
  EXPECT_EQ(map.exact(64, 96), &at->second);
}

TEST(region_map, what_was_united_or_forgotten_is_not_found) {
  region_map map;
  put(map, 64, 96);
  put(map, 96, 128);
  EXPECT_NE(map.exact(96, 128), nullptr);
  const auto at = put(map, 64, 128);
  EXPECT_EQ(map.exact(64, 128), &at->second);
  EXPECT_EQ(map.exact(96, 128), nullptr);
  EXPECT_EQ(map.size(), 1u);
  map.prune(); // no task is alive in it
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.exact(64, 128), nullptr);
  put(map, 64, 128);
  map.clear();
  EXPECT_EQ(map.exact(64, 128), nullptr);
}

TEST(region_map, knows_most_of_many_tiles_and_never_a_wrong_one) {
  constexpr std::uintptr_t tiles = 1000, bytes = 64;
  region_map map;
  for (std::uintptr_t i = 1; i <= tiles; ++i)
    put(map, i * bytes, (i + 1) * bytes);
  std::uintptr_t known = 0;
  for (int round = 0; round < 2;
       ++round) { // the first round tells the table what it forgot as it grew
    known = 0;
    for (std::uintptr_t i = 1; i <= tiles; ++i) {
      const auto *const f = map.exact(i * bytes, (i + 1) * bytes);
      known += f ? 1 : 0;
      if (f) {
        EXPECT_EQ(f, &map.find(i * bytes)->second);
      } else {
        map.note(map.find(i * bytes));
      }
    }
  }
  EXPECT_GT(known, tiles * 9 / 10);
  map.clear();
  EXPECT_EQ(map.exact(bytes, 2 * bytes), nullptr);
}

// ---- pieces ---------------------------------------------------------------------------------------------------------

using weft::rt::piece_list;
using weft::rt::region_piece;
using weft::rt::touch;

void give_up(piece_list &pieces, std::uintptr_t low, std::uintptr_t end) {
  pieces.reserve_for_give_up();
  pieces.give_up(low, end);
}
/// Returns for each byte whether a piece has it: '.' none, 'h' one that is held, 'r' a released one.
std::string bytes_of(const piece_list &pieces) {
  std::string bytes(64, '.');
  std::uintptr_t last = 0;
  for (const region_piece &p : pieces) {
    EXPECT_LT(p.low, p.end);
    EXPECT_LE(last, p.low);
    last = p.end;
    for (std::uintptr_t b = p.low; b != p.end; ++b)
      bytes[b] = p.released ? 'r' : 'h';
  }
  return bytes;
}

TEST(piece_list, what_is_given_up_in_order_makes_one_piece) {
  piece_list pieces;
  pieces.push_back({0, 64, touch::write, false});
  for (std::uintptr_t at = 0; at != 63; ++at) {
    give_up(pieces, at, at + 1);
    EXPECT_EQ(pieces.size(), 2u);
  }
  give_up(pieces, 63, 64);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_TRUE(pieces.front().released);
  EXPECT_EQ(pieces.front().end, 64u);
}

TEST(piece_list, gives_up_the_bytes_that_it_has_and_no_others) {
  std::mt19937 random(5);
  for (int round = 0; round != 500; ++round) {
    piece_list pieces;
    std::string expected(64, '.');
    for (std::uintptr_t at = random() % 8; at < 60;) {
      const std::uintptr_t end = at + 1 + random() % 8;
      const bool reads = random() % 2 == 0;
      pieces.push_back({at, std::min<std::uintptr_t>(end, 64), reads ? touch::read : touch::write,
                        random() % 2 == 0});
      std::fill(expected.begin() + static_cast<long>(at),
                expected.begin() + std::min<long>(static_cast<long>(end), 64), 'h');
      at = end + random() % 2 * (random() % 8);
    }
    if (pieces.empty())
      continue;
    for (int i = 0; i != 20; ++i) {
      const std::uintptr_t low = random() % 64, end = low + 1 + random() % (64 - low);
      give_up(pieces, low, end);
      for (std::uintptr_t b = low; b != end; ++b)
        if (expected[b] == 'h')
          expected[b] = 'r';
      ASSERT_EQ(bytes_of(pieces), expected);
      const region_piece *before = nullptr;
      for (const region_piece &p : pieces) {
        EXPECT_FALSE(before && before->released && p.released && before->end == p.low);
        before = &p;
      }
      const std::uintptr_t asked = random() % 70;
      const region_piece *const found = pieces.first_behind(asked);
      EXPECT_TRUE(found == pieces.end() || found->end > asked);
      EXPECT_TRUE(found == pieces.begin() || (found - 1)->end <= asked);
    }
  }
}

// ---- sets of tasks --------------------------------------------------------------------------------------------------

using weft::rt::accessor_set;
using weft::rt::region_scope;
using weft::rt::region_tree;

/// Has scopes of tasks that are not entered anywhere.
class accessors : public testing::Test {
 protected:
  static constexpr std::size_t k_many = 500; // more than a set looks through one by one
  ~accessors() override {
    const weft::rt::tree_guard guard(*m_tree);
    for (std::size_t i = 0; i != k_many; ++i)
      if (!ended[i])
        end(i);
  }
  accessors() {
    const weft::rt::tree_guard guard(*m_tree);
    for (std::size_t i = 0; i != k_many; ++i)
      scopes.push_back(&region_scope::take(*m_tree, m_task));
    std::shuffle(scopes.begin(), scopes.end(), std::mt19937(9));
  }
  void end(std::size_t i) {
    ended[i] = true;
    scopes[i]->abandon();
  }
  static void add(accessor_set &to, region_scope &scope) {
    to.reserve_one();
    to.add(scope);
  }
  std::vector<region_scope *> scopes;
  bool ended[k_many] = {};

 private:
  region_tree *const m_tree = new region_tree; // the guard deletes it behind the last scope
  weft::detail::task m_task{"tests"};
};

TEST_F(accessors, are_found_while_others_come_and_go) {
  std::mt19937 random(13);
  accessor_set set;
  bool in[k_many] = {};
  for (int step = 0; step != 5000; ++step) {
    const std::size_t i = random() % k_many;
    EXPECT_EQ(set.contains(*scopes[i]), in[i]);
    if (!in[i]) {
      add(set, *scopes[i]);
      in[i] = true;
    } else if (random() % 3 == 0) {
      set.remove(*scopes[i]);
      in[i] = false;
    }
    if (step % 1000 == 999) {
      accessor_set copy(set), moved;
      moved = std::move(copy);
      for (std::size_t k = 0; k != k_many; ++k)
        EXPECT_EQ(moved.contains(*scopes[k]), in[k]);
      EXPECT_FALSE(copy.first());
    }
  }
  for (std::size_t i = 0; i < k_many; i += 2)
    end(i);
  set.drop_ended();
  for (std::size_t i = 1; i < k_many; i += 2)
    EXPECT_EQ(set.contains(*scopes[i]), in[i]);
  std::size_t live = 0;
  set.for_each([&](region_scope &) { ++live; });
  std::size_t expected = 0;
  for (std::size_t i = 1; i < k_many; i += 2)
    expected += in[i] ? 1 : 0;
  EXPECT_EQ(live, expected);
}

TEST_F(accessors, are_found_however_many_come_at_once) {
  accessor_set set;
  const auto add_up_to = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = last; i-- > first;)
      add(set, *scopes[i]);
  };
  const auto expect = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = 0; i != k_many; ++i)
      EXPECT_EQ(set.contains(*scopes[i]), i >= first && i < last) << i;
  };
  add_up_to(200, 300); // the first of them is not in the list
  expect(200, 300);
  add_up_to(0, 200); // more than are merged
  expect(0, 300);
  set.clear();
  add_up_to(100, 300);
  expect(100, 300);
  add_up_to(0, 100); // are merged, some in front of all others
  expect(0, 300);
}

TEST_F(accessors, one_that_is_alone_has_none_beside_it) {
  accessor_set set;
  EXPECT_FALSE(set.any_live_beside(*scopes[0]));
  add(set, *scopes[0]);
  EXPECT_FALSE(set.any_live_beside(*scopes[0]));
  EXPECT_TRUE(set.any_live_beside(*scopes[1]));
  add(set, *scopes[1]);
  EXPECT_TRUE(set.any_live_beside(*scopes[0]));
  end(1);
  EXPECT_FALSE(set.any_live_beside(*scopes[0]));
}

} // namespace
