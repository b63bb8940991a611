// SPDX-License-Identifier: Apache-2.0
// Each algorithm against the standard's sequential one: random sizes, policies, iterators. With 1, 2
// and 8 workers by tests/policies.cmake.
#include <weft/algorithm.hpp>
#include <weft/error.hpp>
#include <weft/numeric.hpp>
#include <weft/runtime.hpp>

#include <cstdint>
#include <forward_list>
#include <gtest/gtest.h>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

namespace ex = weft::execution;

struct small {
  int key, place;
  friend bool operator==(const small &a, const small &b) = default;
};
bool by_key(const small &a, const small &b) { return a.key < b.key; }

/// An affine map; composition is associative, and does not commute.
struct map {
  unsigned factor, sum;
  friend bool operator==(const map &, const map &) = default;
};

class random_source {
 public:
  explicit random_source(unsigned seed) : m_engine(seed) {}
  std::size_t below(std::size_t n) { return m_engine() % n; }
  std::vector<int> numbers(std::size_t n, std::size_t bound) {
    std::vector<int> v(n);
    for (int &x : v)
      x = static_cast<int>(below(bound));
    return v;
  }

 private:
  std::mt19937 m_engine;
};

/// Calls f(policy, numbers, more numbers, random source) for each policy and many sizes.
template <class F>
void over_policies(F f) {
  unsigned seed = 1;
  const auto sizes = [&](auto policy) {
    random_source r(++seed);
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, 4 + r.below(60),
          100 + r.below(900), 3000 + r.below(3000), 20'000 + r.below(20'000)})
      for (const std::size_t bound : {std::size_t{3}, std::size_t{1'000'000}}) {
        SCOPED_TRACE("size " + std::to_string(n) + " below " + std::to_string(bound) + " policy " +
                     std::to_string(seed));
        f(policy, r.numbers(n, bound), r.numbers(n / 2 + r.below(n + 1), bound), r);
        if (::testing::Test::HasFailure())
          return;
      }
  };
  sizes(ex::seq);
  sizes(ex::unseq);
  sizes(ex::par);
  sizes(ex::par_unseq);
  sizes(ex::par.with(ex::grain(7)));
  sizes(ex::par.with(ex::grain(1000)));
  sizes(ex::par.with(ex::static_chunk));
  sizes(ex::par.with(ex::auto_chunk).with(weft::exception_policy::collect_all));
}

using vec = std::vector<int>;
const auto odd = [](int x) { return x % 2 != 0; };

TEST(algorithms, of_each_element) {
  over_policies([](auto p, vec a, vec b, random_source &) {
    vec x = a, y = a, out(a.size()), expected(a.size());
    const auto grow = [](int &i) { i = 3 * i + 1; };
    weft::for_each(p, x.begin(), x.end(), grow);
    std::for_each(y.begin(), y.end(), grow);
    EXPECT_EQ(x, y);
    EXPECT_EQ(weft::for_each_n(p, x.begin(), a.size() / 2, grow), x.begin() + a.size() / 2);
    std::for_each_n(y.begin(), a.size() / 2, grow);
    EXPECT_EQ(x, y);
    EXPECT_EQ(weft::transform(p, a, out.begin(), [](int i) { return i / 3; }), out.end());
    std::transform(a.begin(), a.end(), expected.begin(), [](int i) { return i / 3; });
    EXPECT_EQ(out, expected);
    EXPECT_EQ(weft::transform(p, a, x, out.begin(), std::minus<>()), out.end());
    std::transform(a.begin(), a.end(), x.begin(), expected.begin(), std::minus<>());
    EXPECT_EQ(out, expected);
    EXPECT_EQ(weft::copy(p, a, out.begin()), out.end());
    EXPECT_EQ(out, a);
    EXPECT_EQ(weft::reverse_copy(p, a, out.begin()), out.end());
    weft::reverse(p, out);
    EXPECT_EQ(out, a);
    weft::fill(p, out, 5);
    EXPECT_EQ(out, vec(a.size(), 5));
    EXPECT_EQ(weft::copy_n(p, a.begin(), a.size(), out.begin()), out.end());
    EXPECT_EQ(out, a);
    EXPECT_EQ(weft::fill_n(p, out.begin(), a.size(), 6), out.end());
    EXPECT_EQ(out, vec(a.size(), 6));
    weft::generate(p, out, [] { return 4; });
    EXPECT_EQ(out, vec(a.size(), 4));
    EXPECT_EQ(weft::generate_n(p, out.begin(), a.size(), [] { return 9; }), out.end());
    EXPECT_EQ(out, vec(a.size(), 9));
    x = y = a;
    weft::replace_if(p, x, odd, -1);
    std::replace_if(y.begin(), y.end(), odd, -1);
    EXPECT_EQ(x, y);
    weft::replace(p, x, 0, -2);
    std::replace(y.begin(), y.end(), 0, -2);
    EXPECT_EQ(x, y);
    EXPECT_EQ(weft::replace_copy_if(p, a, out.begin(), odd, -1), out.end());
    std::replace_copy_if(a.begin(), a.end(), expected.begin(), odd, -1);
    EXPECT_EQ(out, expected);
    EXPECT_EQ(weft::replace_copy(p, a, out.begin(), 1, -3), out.end());
    std::replace_copy(a.begin(), a.end(), expected.begin(), 1, -3);
    EXPECT_EQ(out, expected);
    const std::size_t common = std::min(a.size(), b.size());
    x = a, y = b;
    EXPECT_EQ(weft::swap_ranges(p, x.begin(), x.begin() + common, y.begin()), y.begin() + common);
    EXPECT_TRUE(std::equal(x.begin(), x.begin() + common, b.begin()));
    EXPECT_TRUE(std::equal(y.begin(), y.begin() + common, a.begin()));
    weft::move(p, a, out.begin());
    EXPECT_EQ(out, a);
  });
}

TEST(algorithms, that_rotate) {
  over_policies([](auto p, vec a, vec, random_source &r) {
    const std::size_t middle = r.below(a.size() + 1);
    for (const std::size_t m : {std::size_t{0}, middle, a.size()}) {
      vec x = a, y = a, out(a.size());
      EXPECT_EQ(weft::rotate(p, x.begin(), x.begin() + m, x.end()) - x.begin(),
                std::rotate(y.begin(), y.begin() + m, y.end()) - y.begin());
      EXPECT_EQ(x, y);
      EXPECT_EQ(weft::rotate_copy(p, a.begin(), a.begin() + m, a.end(), out.begin()), out.end());
      EXPECT_EQ(out, y);
    }
  });
}

TEST(algorithms, that_search) {
  over_policies([](auto p, vec a, vec b, random_source &r) {
    const int value = a.empty() ? 0 : a[r.below(a.size())];
    for (const int v : {value, -1}) {
      const auto is = [v](int x) { return x == v; };
      EXPECT_EQ(weft::find(p, a, v), std::find(a.begin(), a.end(), v));
      EXPECT_EQ(weft::find_if(p, a, is), std::find_if(a.begin(), a.end(), is));
      EXPECT_EQ(weft::find_if_not(p, a, is), std::find_if_not(a.begin(), a.end(), is));
      EXPECT_EQ(weft::all_of(p, a, is), std::all_of(a.begin(), a.end(), is));
      EXPECT_EQ(weft::any_of(p, a, is), std::any_of(a.begin(), a.end(), is));
      EXPECT_EQ(weft::none_of(p, a, is), std::none_of(a.begin(), a.end(), is));
      for (const int k : {0, 1, 2, 4})
        EXPECT_EQ(weft::search_n(p, a, k, v), std::search_n(a.begin(), a.end(), k, v));
      EXPECT_EQ(weft::count(p, a, v), std::count(a.begin(), a.end(), v));
    }
    EXPECT_EQ(weft::count_if(p, a, odd), std::count_if(a.begin(), a.end(), odd));
    EXPECT_EQ(weft::adjacent_find(p, a), std::adjacent_find(a.begin(), a.end()));
    const vec some(b.begin(), b.begin() + std::min<std::size_t>(b.size(), 3));
    EXPECT_EQ(weft::find_first_of(p, a, some),
              std::find_first_of(a.begin(), a.end(), some.begin(), some.end()));
    const std::size_t at = r.below(a.size() + 1);
    const vec part(a.begin() + at, a.begin() + std::min(at + 3, a.size()));
    for (const vec &needle : {part, some, vec{}, vec(a.size() + 1, 0)}) {
      EXPECT_EQ(weft::search(p, a, needle),
                std::search(a.begin(), a.end(), needle.begin(), needle.end()));
      EXPECT_EQ(weft::find_end(p, a, needle),
                std::find_end(a.begin(), a.end(), needle.begin(), needle.end()));
    }
  });
}

TEST(algorithms, that_compare) {
  over_policies([](auto p, vec a, vec b, random_source &r) {
    vec c = a;
    if (!c.empty())
      c[r.below(c.size())] += 1;
    for (const vec &other : {a, b, c}) {
      EXPECT_EQ(weft::equal(p, a, other),
                std::equal(a.begin(), a.end(), other.begin(), other.end()));
      EXPECT_EQ(weft::mismatch(p, a, other),
                std::mismatch(a.begin(), a.end(), other.begin(), other.end()));
      EXPECT_EQ(weft::lexicographical_compare(p, a, other),
                std::lexicographical_compare(a.begin(), a.end(), other.begin(), other.end()));
      EXPECT_EQ(weft::lexicographical_compare(p, other, a),
                std::lexicographical_compare(other.begin(), other.end(), a.begin(), a.end()));
    }
    EXPECT_EQ(weft::equal(p, a.begin(), a.end(), c.begin()),
              std::equal(a.begin(), a.end(), c.begin()));
    EXPECT_EQ(weft::mismatch(p, a.begin(), a.end(), c.begin()),
              std::mismatch(a.begin(), a.end(), c.begin()));
    EXPECT_EQ(weft::min_element(p, a), std::min_element(a.begin(), a.end()));
    EXPECT_EQ(weft::max_element(p, a), std::max_element(a.begin(), a.end()));
    EXPECT_EQ(weft::minmax_element(p, a), std::minmax_element(a.begin(), a.end()));
    vec sorted = a, heap = a;
    std::sort(sorted.begin(), sorted.end());
    std::make_heap(heap.begin(), heap.end());
    vec parted = a;
    std::partition(parted.begin(), parted.end(), odd);
    for (vec x : {a, sorted, heap, parted}) {
      EXPECT_EQ(weft::is_sorted(p, x), std::is_sorted(x.begin(), x.end()));
      EXPECT_EQ(weft::is_sorted_until(p, x), std::is_sorted_until(x.begin(), x.end()));
      EXPECT_EQ(weft::is_heap(p, x), std::is_heap(x.begin(), x.end()));
      EXPECT_EQ(weft::is_heap_until(p, x), std::is_heap_until(x.begin(), x.end()));
      EXPECT_EQ(weft::is_partitioned(p, x, odd), std::is_partitioned(x.begin(), x.end(), odd));
    }
  });
}

TEST(algorithms, that_pack) {
  over_policies([](auto p, vec a, vec, random_source &) {
    vec out(a.size()), expected(a.size());
    const auto same = [&](vec::iterator end, vec::iterator expected_end) {
      EXPECT_EQ(vec(out.begin(), end), vec(expected.begin(), expected_end));
    };
    same(weft::copy_if(p, a, out.begin(), odd),
         std::copy_if(a.begin(), a.end(), expected.begin(), odd));
    same(weft::remove_copy_if(p, a, out.begin(), odd),
         std::remove_copy_if(a.begin(), a.end(), expected.begin(), odd));
    same(weft::remove_copy(p, a, out.begin(), 1),
         std::remove_copy(a.begin(), a.end(), expected.begin(), 1));
    same(weft::unique_copy(p, a, out.begin()),
         std::unique_copy(a.begin(), a.end(), expected.begin()));
    out = expected = a;
    same(weft::remove_if(p, out, odd), std::remove_if(expected.begin(), expected.end(), odd));
    out = expected = a;
    same(weft::remove(p, out, 1), std::remove(expected.begin(), expected.end(), 1));
    out = expected = a;
    same(weft::unique(p, out), std::unique(expected.begin(), expected.end()));
    out = expected = a;
    const auto middle = weft::stable_partition(p, out, odd);
    std::stable_partition(expected.begin(), expected.end(), odd);
    EXPECT_EQ(out, expected);
    EXPECT_TRUE(std::all_of(out.begin(), middle, odd));
    EXPECT_TRUE(std::none_of(middle, out.end(), odd));
    out = a;
    const auto end = weft::partition(p, out, odd);
    EXPECT_EQ(end - out.begin(), std::count_if(a.begin(), a.end(), odd));
    EXPECT_TRUE(std::all_of(out.begin(), end, odd));
    std::sort(out.begin(), out.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(out, expected);
    vec yes(a.size()), no(a.size()), yes2(a.size()), no2(a.size());
    const auto ends = weft::partition_copy(p, a, yes.begin(), no.begin(), odd);
    const auto ends2 = std::partition_copy(a.begin(), a.end(), yes2.begin(), no2.begin(), odd);
    EXPECT_EQ(vec(yes.begin(), ends.first), vec(yes2.begin(), ends2.first));
    EXPECT_EQ(vec(no.begin(), ends.second), vec(no2.begin(), ends2.second));
  });
}

TEST(algorithms, that_sort) {
  over_policies([](auto p, vec a, vec, random_source &r) {
    vec x = a, y = a;
    weft::sort(p, x);
    std::sort(y.begin(), y.end());
    EXPECT_EQ(x, y);
    x = a;
    weft::sort(p, x, std::greater<>());
    std::reverse(y.begin(), y.end());
    EXPECT_EQ(x, y);
    std::vector<small> s, t;
    for (const int k : a)
      s.push_back({k % 50, static_cast<int>(s.size())});
    t = s;
    weft::stable_sort(p, s, by_key);
    std::stable_sort(t.begin(), t.end(), by_key);
    EXPECT_TRUE(s == t);
    std::vector<std::string> words, words2; // moves, constructors, destructors
    for (const int k : a)
      words.push_back("a word that needs memory " + std::to_string(k));
    words2 = words;
    weft::sort(p, words);
    std::sort(words2.begin(), words2.end());
    EXPECT_TRUE(words == words2);
    std::vector<std::unique_ptr<int>> owned;
    for (const int k : a)
      owned.push_back(std::make_unique<int>(k));
    weft::stable_sort(p, owned, [](const auto &l, const auto &m) { return *l < *m; });
    std::sort(y.begin(), y.end());
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_TRUE(owned[i] && *owned[i] == y[i]);
    for (const std::size_t k : {std::size_t{0}, a.size() / 50, r.below(a.size() + 1), a.size()}) {
      x = a;
      weft::partial_sort(p, x.begin(), x.begin() + k, x.end());
      EXPECT_TRUE(std::equal(x.begin(), x.begin() + k, y.begin())) << k;
      std::sort(x.begin() + k, x.end());
      EXPECT_EQ(x, y) << "the rest is what is left";
      vec out(k);
      EXPECT_EQ(weft::partial_sort_copy(p, a, out.begin(), out.end()), out.end());
      EXPECT_TRUE(std::equal(out.begin(), out.end(), y.begin()));
      x = a;
      weft::nth_element(p, x.begin(), x.begin() + k, x.end());
      if (k < a.size()) {
        EXPECT_EQ(x[k], y[k]);
        EXPECT_TRUE(std::all_of(x.begin(), x.begin() + k, [&](int i) { return i <= x[k]; }));
        EXPECT_TRUE(std::all_of(x.begin() + k, x.end(), [&](int i) { return i >= x[k]; }));
      }
      std::sort(x.begin(), x.end());
      EXPECT_EQ(x, y);
    }
  });
}

TEST(algorithms, of_sorted_ranges) {
  over_policies([](auto p, vec a, vec b, random_source &) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    vec out(a.size() + b.size()), expected(out.size());
    weft::merge(p, a, b, out.begin());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
    EXPECT_EQ(out, expected);
    std::copy(a.begin(), a.end(), out.begin());
    std::copy(b.begin(), b.end(), out.begin() + a.size());
    weft::inplace_merge(p, out.begin(), out.begin() + a.size(), out.end());
    EXPECT_EQ(out, expected);
    const auto same = [&](auto ours, auto theirs) {
      const auto end = ours(out.begin());
      const auto expected_end = theirs(expected.begin());
      EXPECT_EQ(vec(out.begin(), end), vec(expected.begin(), expected_end));
    };
#define WEFT_SAME(name)                                                                            \
  same([&](auto o) { return weft::name(p, a, b, o); },                                             \
       [&](auto o) { return std::name(a.begin(), a.end(), b.begin(), b.end(), o); })
    WEFT_SAME(set_union);
    WEFT_SAME(set_intersection);
    WEFT_SAME(set_difference);
    WEFT_SAME(set_symmetric_difference);
#undef WEFT_SAME
    vec some;
    for (std::size_t i = 0; i < a.size(); i += 2)
      some.push_back(a[i]);
    EXPECT_TRUE(weft::includes(p, a, some));
    EXPECT_EQ(weft::includes(p, a, b), std::includes(a.begin(), a.end(), b.begin(), b.end()));
    EXPECT_EQ(weft::includes(p, some, a),
              std::includes(some.begin(), some.end(), a.begin(), a.end()));
  });
}

/// Numbers are folded eight at a time, so each length up to several of these groups is checked. The
/// operation composes affine maps, whose two words are in one number: associative, not commutative.
TEST(algorithms, that_reduce_numbers_in_order) {
  const auto compose = [](std::uint64_t f, std::uint64_t g) {
    const auto word = [](std::uint64_t x) { return x & 0xFFFFFFFF; };
    return word((f >> 32) * (g >> 32)) << 32 | word(word(f) * (g >> 32) + word(g));
  };
  std::vector<std::uint64_t> maps(70);
  std::vector<double> powers(50, 1.0); // each sum of them names its members
  for (std::size_t i = 0; i < maps.size(); ++i)
    maps[i] = (2 * i + 3) << 32 | (i + 1);
  for (std::size_t i = 1; i < powers.size(); ++i)
    powers[i] = 2 * powers[i - 1];
  for (std::ptrdiff_t n = 0; n <= 70; ++n) {
    const auto end = maps.begin() + n;
    EXPECT_EQ(weft::reduce(ex::par, maps.begin(), end, maps[0], compose),
              std::accumulate(maps.begin(), end, maps[0], compose))
        << n;
    const auto last = powers.begin() + std::min<std::ptrdiff_t>(n, 50);
    EXPECT_EQ(weft::reduce(ex::par, powers.begin(), last, 0.5),
              std::accumulate(powers.begin(), last, 0.5))
        << n;
  }
}

TEST(algorithms, that_reduce_and_scan) {
  over_policies([](auto p, vec a, vec b, random_source &) {
    if (std::reduce(a.begin(), a.end(), 0L) < INT32_MAX) {
      EXPECT_EQ(weft::reduce(p, a), std::reduce(a.begin(), a.end()));
    }
    EXPECT_EQ(weft::reduce(p, a, 5L), std::reduce(a.begin(), a.end(), 5L));
    b.resize(a.size());
    const auto product = [](int x, int y) { return 1LL * x * y; };
    EXPECT_EQ(weft::transform_reduce(p, a, b, 1LL, std::plus<>(), product),
              std::transform_reduce(a.begin(), a.end(), b.begin(), 1LL, std::plus<>(), product));
    std::vector<double> halves(a.begin(), a.end()); // sums of them are exact
    for (double &x : halves)
      x = static_cast<int>(x) % 1000 * 0.5;
    EXPECT_EQ(weft::transform_reduce(p, halves, halves, 0.0),
              std::inner_product(halves.begin(), halves.end(), halves.begin(), 0.0));
    // Strings: associative, not commutative.
    std::vector<std::string> words(std::min<std::size_t>(a.size(), 3000));
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = std::to_string(a[i] % 10);
    const std::string all = std::accumulate(words.begin(), words.end(), std::string("<"));
    EXPECT_EQ(weft::reduce(p, words, std::string("<")), all);
    EXPECT_EQ(weft::transform_reduce(p, words, std::string("<"), std::plus<>(), std::identity()),
              all);
    // Affine maps under composition: the same, and small.
    const auto compose = [](const map &f, const map &g) {
      return map{f.factor * g.factor, f.sum * g.factor + g.sum};
    };
    std::vector<map> maps, out(a.size()), expected(a.size());
    for (const int k : a)
      maps.push_back({static_cast<unsigned>(2 * k + 1), static_cast<unsigned>(k)});
    const map one{1, 7};
    EXPECT_EQ(weft::inclusive_scan(p, maps, out.begin(), compose), out.end());
    std::inclusive_scan(maps.begin(), maps.end(), expected.begin(), compose);
    EXPECT_TRUE(out == expected);
    EXPECT_EQ(weft::inclusive_scan(p, maps, out.begin(), compose, one), out.end());
    std::inclusive_scan(maps.begin(), maps.end(), expected.begin(), compose, one);
    EXPECT_TRUE(out == expected);
    EXPECT_EQ(weft::exclusive_scan(p, maps, out.begin(), one, compose), out.end());
    std::exclusive_scan(maps.begin(), maps.end(), expected.begin(), one, compose);
    EXPECT_TRUE(out == expected);
    const auto turn = [](const map &f) { return map{f.factor, f.sum + 1}; };
    weft::transform_inclusive_scan(p, maps, out.begin(), compose, turn);
    std::transform_inclusive_scan(maps.begin(), maps.end(), expected.begin(), compose, turn);
    EXPECT_TRUE(out == expected);
    weft::transform_exclusive_scan(p, maps, out.begin(), one, compose, turn);
    std::transform_exclusive_scan(maps.begin(), maps.end(), expected.begin(), one, compose, turn);
    EXPECT_TRUE(out == expected);
    weft::exclusive_scan(p, out, out.begin(), one, compose); // in place
    std::exclusive_scan(expected.begin(), expected.end(), expected.begin(), one, compose);
    EXPECT_TRUE(out == expected);
    vec numbers(a.size()), numbers2(a.size());
    EXPECT_EQ(weft::adjacent_difference(p, a, numbers.begin()), numbers.end());
    std::adjacent_difference(a.begin(), a.end(), numbers2.begin());
    EXPECT_EQ(numbers, numbers2);
    weft::inclusive_scan(p, numbers, numbers.begin()); // the differences add up again
    EXPECT_EQ(numbers, a);
  });
}

TEST(algorithms, over_uninitialized_memory) {
  over_policies([](auto p, vec a, vec, random_source &) {
    using text = std::string;
    std::vector<text> from;
    for (const int k : a)
      from.push_back("some text of thirty characters " + std::to_string(k));
    const std::size_t n = from.size();
    std::allocator<text> memory;
    text *const raw = memory.allocate(n + 1);
    const auto all = [&](auto construct, auto expected) {
      construct();
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(raw[i], expected(i));
      weft::destroy(p, raw, raw + n);
    };
    const auto same = [&](std::size_t i) { return from[i]; };
    const auto none = [](std::size_t) { return text(); };
    const auto fixed = [](std::size_t) { return text("fixed"); };
    all([&] { EXPECT_EQ(weft::uninitialized_copy(p, from, raw), raw + n); }, same);
    all([&] { EXPECT_EQ(weft::uninitialized_copy_n(p, from.begin(), n, raw), raw + n); }, same);
    all([&] { weft::uninitialized_fill(p, raw, raw + n, text("fixed")); }, fixed);
    all([&] { EXPECT_EQ(weft::uninitialized_fill_n(p, raw, n, text("fixed")), raw + n); }, fixed);
    all([&] { weft::uninitialized_default_construct(p, raw, raw + n); }, none);
    all([&] { EXPECT_EQ(weft::uninitialized_default_construct_n(p, raw, n), raw + n); }, none);
    all([&] { weft::uninitialized_value_construct(p, raw, raw + n); }, none);
    all([&] { EXPECT_EQ(weft::uninitialized_value_construct_n(p, raw, n), raw + n); }, none);
    std::vector<text> copy = from;
    all([&] { EXPECT_EQ(weft::uninitialized_move(p, copy, raw), raw + n); }, same);
    copy = from;
    const auto ends = weft::uninitialized_move_n(p, copy.begin(), n, raw);
    EXPECT_EQ(ends.first, copy.end());
    EXPECT_EQ(ends.second, raw + n);
    EXPECT_EQ(weft::destroy_n(p, raw, n), raw + n);
    memory.deallocate(raw, n + 1);
  });
}

TEST(algorithms, run_in_order_over_lists) {
  const auto check = [](auto p) {
    for (const int n : {0, 1, 100}) {
      std::list<int> l;
      for (int i = 0; i < n; ++i)
        l.push_back(n - i);
      std::forward_list<int> f(l.begin(), l.end());
      EXPECT_EQ(weft::reduce(p, f), n * (n + 1) / 2);
      EXPECT_EQ(weft::count_if(p, l, odd), (n + 1) / 2);
      weft::for_each(p, f, [](int &i) { i *= 2; });
      EXPECT_EQ(weft::reduce(p, f.begin(), f.end(), 0), n * (n + 1));
      weft::reverse(p, l);
      EXPECT_TRUE(weft::is_sorted(p, l.begin(), l.end()));
      std::list<int> out(l.size());
      weft::inclusive_scan(p, l, out.begin());
      EXPECT_EQ(out.empty() ? 0 : out.back(), n * (n + 1) / 2);
      weft::stable_partition(p, l, odd);
      EXPECT_TRUE(weft::is_partitioned(p, l, odd));
      EXPECT_EQ(weft::max_element(p, l) == l.end(), l.empty());
      vec packed(l.size());
      EXPECT_EQ(weft::copy_if(p, l, packed.begin(), odd) - packed.begin(), (n + 1) / 2);
    }
  };
  check(ex::seq);
  check(ex::par);
  check(ex::par_unseq);
}

TEST(algorithms, over_views_and_flags) {
  const auto numbers = std::views::iota(0, 10'000);
  EXPECT_EQ(weft::reduce(ex::par.with(ex::grain(64)), numbers, 0L), 49'995'000);
  std::vector<char> seen(10'000);
  weft::for_each(ex::par.with(ex::grain(64)), numbers,
                 [&](int i) { seen[static_cast<std::size_t>(i)] = 1; });
  EXPECT_EQ(weft::count(ex::par, seen, 1), 10'000);
}

TEST(for_loop, covers_values_with_inductions_and_reductions) {
  const auto check = [](auto p) {
    std::vector<int> x(10'000), y(10'000);
    long sum = 100;
    int most = -1, at = 5;
    weft::for_loop(p, std::size_t{0}, x.size(), weft::reduction_plus(sum),
                   weft::reduction_max(most), weft::induction(at, 3),
                   [&](std::size_t i, long &s, int &m, int j) {
                     x[i] = j;
                     s += static_cast<long>(i);
                     m = std::max(m, static_cast<int>(i * 7919 % 10'007));
                   });
    long expected_sum = 100;
    int expected_most = -1;
    for (int i = 0; i < 10'000; ++i) {
      y[static_cast<std::size_t>(i)] = 5 + 3 * i;
      expected_sum += i;
      expected_most = std::max(expected_most, static_cast<int>(i * 7919L % 10'007));
    }
    EXPECT_EQ(x, y);
    EXPECT_EQ(sum, expected_sum);
    EXPECT_EQ(most, expected_most);
    EXPECT_EQ(at, 5 + 3 * 10'000);
    std::atomic<int> calls{0}, values{0};
    weft::for_loop_strided(p, 20, 0, -3, [&](int i) { ++calls, values += i; });
    EXPECT_EQ(calls, 7);
    EXPECT_EQ(values, 20 + 17 + 14 + 11 + 8 + 5 + 2);
    weft::for_loop_strided(p, y.begin(), y.end(), 5000, [&](auto it) { *it = -1; });
    EXPECT_EQ(std::count(y.begin(), y.end(), -1), 2);
    EXPECT_EQ(y[5000], -1);
    EXPECT_THROW(weft::for_loop_strided(p, 0, 3, 0, [](int) {}), weft::error);
  };
  check(ex::seq);
  check(ex::par);
  check(ex::par.with(ex::grain(10)));
  check(ex::par_unseq.with(ex::static_chunk));
}

TEST(algorithms, run_on_a_set_of_workers) {
  const auto only = weft::worker_set::of_workers({0});
  std::vector<std::atomic<int>> seen(5000);
  std::atomic<int> elsewhere{0};
  weft::for_each(ex::par.with(ex::grain(10)).on(only), seen, [&](auto &n) {
    ++n;
    elsewhere += weft::worker_id() != 0;
  });
  EXPECT_EQ(elsewhere, 0);
  for (const auto &n : seen)
    EXPECT_EQ(n, 1);
  EXPECT_EQ(weft::reduce(ex::par.on(only), std::views::iota(0, 100)), 4950);
  EXPECT_THROW(weft::for_each(ex::par.on(only), seen, [](auto &) { throw 3; }), int);
}

TEST(algorithms, nest) {
  std::vector<std::vector<int>> rows(50, std::vector<int>(2000, 1));
  std::atomic<long> sum{0};
  weft::for_each(ex::par.with(ex::grain(1)), rows,
                 [&](auto &row) { sum += weft::reduce(ex::par, row); });
  EXPECT_EQ(sum, 100'000);
}

} // namespace
