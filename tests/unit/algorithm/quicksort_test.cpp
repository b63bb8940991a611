// SPDX-License-Identifier: Apache-2.0
// The sort of small values by one thread: every shape of input, comparisons that are no order.
#include <weft/algorithm.hpp>

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <list>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using weft::detail::sort_run;

/// Is small, and has more to it than what it is compared by.
struct labelled {
  std::int64_t key;
  std::int32_t label;
  bool operator==(const labelled &) const = default;
  auto operator<=>(const labelled &) const = default;
};

template <class T>
T value_of(std::int64_t i) {
  if constexpr (std::is_same_v<T, labelled>)
    return {i / 3, static_cast<std::int32_t>(i % 3)};
  else
    return static_cast<T>(i);
}

/// Lists values in many orders: none, up, down, few different ones, up with some out of place, up
/// and down, a step, all alike, up with a small end.
template <class T>
std::vector<std::vector<T>> shapes(std::int64_t n, std::mt19937_64 &random) {
  std::vector<std::vector<T>> all(9);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t values[] = {static_cast<std::int64_t>(random() % 1'000'000),
                                   i,
                                   n - i,
                                   static_cast<std::int64_t>(random() % 4),
                                   i,
                                   i < n / 2 ? i : n - i,
                                   i < n / 2,
                                   7,
                                   i < n - 3 ? i + 3 : 0};
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k].push_back(value_of<T>(values[k]));
  }
  for (std::int64_t i = 0; i < n; i += 50)
    std::swap(all[4][random() % all[4].size()], all[4][static_cast<std::size_t>(i)]);
  return all;
}

template <class T, class Compare>
void sorts_every_shape(Compare comp) {
  std::mt19937_64 random(7);
  for (const std::int64_t n : {0, 1, 2, 3, 19, 20, 21, 22, 50, 127, 128, 129, 500, 5000})
    for (std::vector<T> &given : shapes<T>(n, random)) {
      std::vector<T> expected = given;
      std::sort(expected.begin(), expected.end(), comp);
      sort_run(given.begin(), given.end(), comp);
      ASSERT_TRUE(given == expected) << n;
    }
}

TEST(quicksort, sorts_every_shape_of_small_values) {
  sorts_every_shape<std::uint32_t>(std::less<>());
  sorts_every_shape<double>(std::greater<>());
  sorts_every_shape<labelled>(std::less<>());
  sorts_every_shape<signed char>([](signed char &a, signed char &b) { return b < a; });
}

TEST(quicksort, leaves_other_values_and_memory_to_the_standard) {
  std::vector<std::string> words = {"c", "a", "b"};
  std::vector<bool> flags = {true, false, true};
  std::less<> comp;
  sort_run(words.begin(), words.end(), comp);
  sort_run(flags.begin(), flags.end(), comp);
  EXPECT_EQ(words, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(flags, (std::vector<bool>{false, true, true}));
}

/// Is an order that is found out while a sort asks for it, so that each pivot is among the least
/// (M. D. McIlroy: A Killer Adversary for Quicksort, 1999). The second value is the least, so that
/// the values neither go up nor down.
class adversary {
 public:
  explicit adversary(std::size_t n) : m_ranks(n, k_open) { m_ranks[1] = m_next++; }
  bool operator()(std::uint32_t a, std::uint32_t b) {
    ++comparisons;
    if (m_ranks[a] == k_open && m_ranks[b] == k_open)
      m_ranks[a == m_candidate ? a : b] = m_next++;
    if (m_ranks[a] == k_open)
      m_candidate = a;
    else if (m_ranks[b] == k_open)
      m_candidate = b;
    return m_ranks[a] < m_ranks[b];
  }
  std::size_t comparisons = 0;
  [[nodiscard]] std::size_t rank(std::uint32_t a) const { return m_ranks[a]; }

 private:
  static constexpr std::size_t k_open = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> m_ranks;
  std::size_t m_next = 0;
  std::uint32_t m_candidate = 0;
};

TEST(quicksort, takes_n_log_n_comparisons_of_the_worst_order) {
  for (const std::size_t n : {1000u, 100'000u}) {
    adversary comp(n);
    std::vector<std::uint32_t> v(n);
    for (std::size_t i = 0; i < n; ++i)
      v[i] = static_cast<std::uint32_t>(i);
    sort_run(v.begin(), v.end(), comp);
    EXPECT_LE(comp.comparisons, 6 * n * static_cast<std::size_t>(std::bit_width(n)));
    for (std::size_t i = 1; i < n; ++i)
      ASSERT_LE(comp.rank(v[i - 1]), comp.rank(v[i]));
  }
}

TEST(quicksort, takes_n_comparisons_where_there_is_little_to_do) {
  constexpr std::size_t n = 100'000;
  std::mt19937_64 random(1);
  std::size_t count = 0;
  auto comp = [&](std::uint32_t a, std::uint32_t b) { return ++count, a < b; };
  const auto comparisons = [&](std::vector<std::uint32_t> v) {
    count = 0;
    sort_run(v.begin(), v.end(), comp);
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    return count;
  };
  std::vector<std::uint32_t> up(n), down(n), late(n), two(n);
  for (std::size_t i = 0; i < n; ++i) {
    up[i] = late[i] = static_cast<std::uint32_t>(i);
    down[i] = static_cast<std::uint32_t>(n - i);
    two[i] = static_cast<std::uint32_t>(random() % 2);
  }
  std::swap(late[n - 2], late[n - 1]);
  EXPECT_LT(comparisons(up), n);
  EXPECT_LE(comparisons(down), n + 1);
  EXPECT_LT(comparisons(late), 4 * n) << "parted already, and few moves on each side";
  EXPECT_LT(comparisons(two), 5 * n) << "what equals the pivot is in place";
}

TEST(quicksort, stays_in_the_range_when_the_comparison_is_no_order) {
  std::mt19937_64 random(3);
  constexpr std::uint32_t k_guard = 0xdead'beef;
  for (int kind = 0; kind < 4; ++kind)
    for (const std::size_t n : {5u, 64u, 1000u}) {
      std::vector<std::uint32_t> v(n + 2, k_guard);
      for (std::size_t i = 1; i <= n; ++i)
        v[i] = static_cast<std::uint32_t>(random() % 100);
      auto comp = [&](std::uint32_t a, std::uint32_t b) {
        EXPECT_TRUE(a != k_guard && b != k_guard);
        return kind == 0 || (kind == 2 && random() % 2) || (kind == 3 && a <= b);
      };
      sort_run(v.begin() + 1, v.end() - 1, comp);
      EXPECT_TRUE(v.front() == k_guard && v.back() == k_guard);
    }
  std::vector<double> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = i % 7 ? static_cast<double>(random() % 50) : std::numeric_limits<double>::quiet_NaN();
  std::less<> less;
  sort_run(numbers.begin(), numbers.end(), less);
}

TEST(quicksort, passes_an_exception_on) {
  std::mt19937_64 random(5);
  for (int until = 0; until < 3000; until += 37) {
    std::vector<int> v(300);
    for (int &one : v)
      one = static_cast<int>(random() % 1000);
    int left = until;
    auto comp = [&](int a, int b) {
      if (left-- == 0)
        throw std::runtime_error("a comparison");
      return a < b;
    };
    try {
      sort_run(v.begin(), v.end(), comp);
      EXPECT_TRUE(std::is_sorted(v.begin(), v.end()) && left >= 0);
    } catch (const std::runtime_error &) {
      EXPECT_EQ(left, -1);
    }
  }
}

TEST(quicksort, serves_the_parallel_sorts_of_every_container) {
  std::mt19937_64 random(9);
  std::vector<std::uint32_t> v(200'000);
  for (std::uint32_t &one : v)
    one = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> expected = v, stable = v, cut = v;
  std::sort(expected.begin(), expected.end());
  weft::sort(weft::execution::par, v.begin(), v.end());
  weft::stable_sort(weft::execution::par, stable.begin(), stable.end());
  weft::sort(weft::execution::par.with(weft::execution::grain(1000)), cut.data(),
             cut.data() + cut.size());
  EXPECT_TRUE(v == expected && stable == expected && cut == expected);
}

} // namespace
