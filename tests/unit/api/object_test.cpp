// SPDX-License-Identifier: Apache-2.0
// object(x): a container itself, whatever its elements are; and what names the elements instead.
#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using test::dawdle;
using weft::access_mode;
using weft::object;
using weft::region;

struct not_known_here;
struct grid : std::vector<double> {};
class tile {
 public:
  [[nodiscard]] const double *data() const;
  [[nodiscard]] int size() const;
};
struct message { // of which region() knows no elements either
  void *data();
  std::size_t size();
};

template <class... T>
constexpr bool all_are_refused = (weft::detail::elements_are_elsewhere<T>() && ...);
template <class... T>
constexpr bool none_is_refused = !(weft::detail::elements_are_elsewhere<T>() || ...);
static_assert(all_are_refused<std::vector<int>, const std::vector<int>, std::string,
                              std::string_view, std::span<int>, std::span<int, 4>, grid, tile>);
static_assert(none_is_refused<int, int *, int[4], int[4][4], std::array<int, 4>,
                              const std::array<int, 4>, std::array<std::vector<int>, 2>>);
static_assert(none_is_refused<std::array<int, 0>, std::vector<bool>, std::deque<int>,
                              std::map<int, int>, message, not_known_here>);
static_assert(sizeof(object<std::vector<int>>) == sizeof(void *) &&
              std::is_trivially_copyable_v<object<std::vector<int>>>);

template <class T>
void expect_access(weft::access a, access_mode mode, const T &named) {
  EXPECT_EQ(a.address, static_cast<const void *>(&named));
  EXPECT_EQ(a.mode, mode);
  EXPECT_EQ(a.bytes, sizeof(T));
}

TEST(object, has_the_address_and_the_bytes_of_the_container_in_every_mode) {
  std::vector<int> v(3);
  const object name(v); // the name may be kept, and be const
  expect_access(weft::in(name), access_mode::in, v);
  expect_access(weft::out(name), access_mode::out, v);
  expect_access(weft::inout(name), access_mode::inout, v);
  expect_access(weft::weak_in(name), access_mode::weak_in, v);
  expect_access(weft::weak_out(name), access_mode::weak_out, v);
  expect_access(weft::weak_inout(name), access_mode::weak_inout, v);
  expect_access(weft::concurrent(name), access_mode::concurrent, v);
  expect_access(weft::commutative(name), access_mode::commutative, v);
  expect_access(weft::weak_concurrent(name), access_mode::weak_concurrent, v);
  expect_access(weft::weak_commutative(name), access_mode::weak_commutative, v);
  const std::vector<int> &readable = v;
  expect_access(weft::in(object(readable)), access_mode::in, v);
  EXPECT_EQ(&name.get(), &v);
}

TEST(object, of_what_is_no_container_is_what_the_name_alone_is) {
  int x = 0, row[4] = {};
  std::array<int, 4> a{};
  std::map<int, int> m;
  expect_access(weft::inout(object(x)), access_mode::inout, x);
  expect_access(weft::inout(x), access_mode::inout, x);
  expect_access(weft::in(object(row)), access_mode::in, row);
  expect_access(weft::in(row), access_mode::in, row);
  expect_access(weft::out(object(a)), access_mode::out, a);
  expect_access(weft::out(a), access_mode::out, a);
  expect_access(weft::out(m), access_mode::out, m);
  EXPECT_EQ(weft::out(a).address, weft::out(a[0]).address)
      << "an array is named by its first element";
}

TEST(object, orders_tasks_that_fill_grow_and_read_a_container_that_was_empty) {
  std::vector<int> v;
  std::string text;
  int sum = -1;
  weft::spawn([&] { dawdle(), v = {1, 2, 3}; }, weft::out(object(v)));
  weft::spawn([&] { dawdle(), v.resize(1000, 1); }, weft::inout(object(v)));
  weft::spawn([&] { dawdle(), text.assign(v.size(), 'x'); }, weft::in(object(v)),
              weft::out(object(text)));
  weft::spawn(
      [&] { dawdle(), sum = std::accumulate(v.begin(), v.end(), static_cast<int>(text.size())); },
      weft::in(object(v)), weft::in(object(text)), weft::out(sum));
  weft::spawn([&] { v.clear(), text.clear(); }, weft::out(object(v)), weft::out(object(text)));
  weft::taskwait(weft::in(object(text)), weft::in(sum));
  EXPECT_EQ(sum, 1000 + 6 + 997);
  EXPECT_TRUE(v.empty() && text.empty());
  weft::taskwait();
}

TEST(object, is_not_ordered_with_an_element_of_the_container) {
  std::vector<int> v(4);
  test::gate of_vector, of_element;
  bool met[2] = {};
  weft::spawn([&] { of_vector.open(), met[0] = of_element.pass(); }, weft::inout(object(v)));
  weft::spawn([&] { of_element.open(), met[1] = of_vector.pass(); }, weft::inout(v[0]));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1]) << "one waited for the other";
}

TEST(object, among_regions_has_other_bytes_than_the_elements_of_the_container) {
  std::vector<int> v(4);
  test::gate of_vector, of_elements;
  bool met[2] = {};
  int x = 0;
  weft::spawn([&] { of_vector.open(), met[0] = of_elements.pass(); }, weft::inout(object(v)),
              weft::in(region(&x, 1))); // from here on all are regions
  weft::spawn([&] { of_elements.open(), met[1] = of_vector.pass(); }, weft::inout(region(v)));
  weft::spawn([&] { v.clear(); }, weft::inout(object(v)), weft::inout(region(v)));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1]) << "one waited for the other";
  EXPECT_TRUE(v.empty());
}

TEST(object, stands_in_lists_in_loops_and_in_release) {
  std::vector<std::vector<int>> rows(3);
  std::vector<weft::access> all;
  for (std::vector<int> &row : rows)
    all.push_back(weft::inout(object(row)));
  weft::spawn(
      [&] {
        dawdle();
        for (std::vector<int> &row : rows)
          row.push_back(1);
        EXPECT_NO_THROW(weft::release(weft::out(object(rows[0]))));
      },
      weft::accesses(all));
  weft::taskloop(
      weft::range<std::size_t>(0, 3), [&](std::size_t r) { dawdle(), rows[r].push_back(2); },
      weft::grain_size(1), weft::chunk_accesses([&](weft::range<std::size_t> c) {
        return weft::inout(object(rows[c.first()]));
      }));
  weft::taskfor(
      weft::range<std::size_t>(0, 1), [&](std::size_t) { dawdle(), rows[1].push_back(3); },
      weft::inout(object(rows[1])));
  weft::taskwait(weft::in(object(rows[1])));
  EXPECT_EQ(rows[1], (std::vector{1, 2, 3}));
  weft::taskwait();
  EXPECT_EQ(rows[0], (std::vector{1, 2}));
  EXPECT_EQ(rows[2], (std::vector{1, 2}));
}

TEST(object, connects_children_of_weak_parents) {
  std::vector<int> v;
  for (int i = 0; i != 4; ++i)
    weft::spawn(
        [&v, i] { weft::spawn([&v, i] { dawdle(), v.push_back(i); }, weft::inout(object(v))); },
        weft::weak_inout(object(v)));
  std::size_t seen = 0;
  weft::spawn([&] { seen = v.size(); }, weft::in(object(v)));
  weft::taskwait();
  EXPECT_EQ(seen, 4u);
  EXPECT_EQ(v, (std::vector{0, 1, 2, 3}));
}

TEST(object, is_taken_in_turns) {
  std::vector<int> v;
  for (int i = 0; i != 20; ++i)
    weft::spawn([&v, i] { weft::taskyield(), v.push_back(i); }, weft::commutative(object(v)));
  std::size_t seen = 0;
  weft::spawn([&] { seen = v.size(); }, weft::in(object(v)));
  weft::taskwait();
  EXPECT_EQ(seen, 20u);
  std::sort(v.begin(), v.end());
  for (int i = 0; i != 20; ++i)
    EXPECT_EQ(v.at(static_cast<std::size_t>(i)), i);
}

struct append_op {
  template <class T>
  static T identity() {
    return {};
  }
  void operator()(std::string &into, const std::string &from) const { into += from; }
};
constexpr append_op append{};

TEST(object, is_reduced_as_a_whole) {
  std::string text = "a";
  std::string words = "a";
  const auto add = [](std::string &to, char c) { weft::reduction_local(to) += c; };
  for (const char c : {'b', 'c', 'd'}) {
    weft::spawn([&, c] { add(text, c); }, weft::reduction(object(text), append));
    weft::spawn(
        [&, c] {
          weft::spawn([&, c] { add(words, c); },
                      weft::reduction(object(words), append, std::string("-")));
        },
        weft::weak_reduction(object(words), append, std::string("-")));
  }
  for (const char c : {'e', 'f'})
    weft::spawn(
        [&, c] { weft::spawn([&, c] { add(text, c); }, weft::reduction(object(text), append)); },
        weft::weak_reduction(object(text), append));
  std::string seen;
  weft::spawn([&] { seen = text; }, weft::in(object(text)), weft::out(object(seen)));
  weft::taskwait();
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, "abcdef");
  std::erase(words, '-'); // one for each copy
  std::sort(words.begin(), words.end());
  EXPECT_EQ(words, "abcd");
}

void expect_elements_in_order() {
  std::vector<int> v(4, 0);
  std::string text = "....";
  int sum = 0;
  weft::spawn([&] { dawdle(), v[0] = 1; }, weft::out(v[0]));
  weft::spawn([&] { dawdle(), std::fill(v.begin(), v.end(), v[0] + 1); }, weft::inout(region(v)));
  weft::spawn([&] { dawdle(), v[3] *= 10; }, weft::inout(v[3]));
  weft::spawn([&] { dawdle(), sum = std::accumulate(v.begin(), v.end(), 0); }, weft::in(region(v)),
              weft::out(sum));
  weft::spawn([&] { dawdle(), text[2] = static_cast<char>('0' + sum % 10); }, weft::in(sum),
              weft::out(text[2]));
  weft::spawn([&] { dawdle(), v[1] = text == "..6."; }, weft::in(region(text)), weft::out(v[1]));
  weft::taskwait(weft::in(v[1]));
  EXPECT_EQ(sum, 26);
  EXPECT_EQ(v, (std::vector{2, 1, 2, 20}));
  weft::taskwait();
}

TEST(region_of_a_container, is_ordered_with_its_elements) { expect_elements_in_order(); }

TEST(region_of_a_container, is_ordered_with_its_elements_where_all_accesses_are_regions) {
  const test::ending end =
      test::in_process({{"WEFT_DEPS_SYSTEM", "regions"}}, expect_elements_in_order);
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(region_of_a_container, that_is_empty_names_nothing) {
  std::vector<int> v;
  test::gate first, second;
  bool met[2] = {};
  weft::spawn([&] { first.open(), met[0] = second.pass(); }, weft::inout(region(v)));
  weft::spawn([&] { second.open(), met[1] = first.pass(); }, weft::inout(region(v)));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1]) << "one waited for the other";
}

TEST(std_array, is_ordered_with_its_first_element) {
  std::array<int, 4> a{};
  int seen = 0;
  weft::spawn([&] { dawdle(), a.fill(1); }, weft::out(a));
  weft::spawn([&] { dawdle(), a[0] = a[0] * 10 + a[3]; }, weft::inout(a[0]));
  weft::spawn([&] { seen = a[0]; }, weft::in(a));
  weft::taskwait();
  EXPECT_EQ(seen, 11);
}

} // namespace
