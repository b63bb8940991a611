// SPDX-License-Identifier: Apache-2.0
// What tasks take goes back when they are over, whatever they name and whatever their children do: the bytes that are live do not grow with their number.
#include "mem/slab.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>

namespace {

constexpr std::int64_t k_unreported =
    1 << 20; // heaps tell what has changed in batches of 64 KiB, and workers end some tasks late

/// A task with an access takes 192 bytes at least, so a leak of each is seen.
template <class F>
void expect_all_comes_back(const char *what, F make) {
  constexpr int n = 10'000;
  const auto tasks = [&] {
    for (int i = 0; i != n; ++i)
      make();
    weft::taskwait();
  };
  tasks();
  const std::int64_t before = weft::rt::live_bytes();
  tasks();
  EXPECT_LT(weft::rt::live_bytes() - before, k_unreported) << what;
}

TEST(memory, of_tasks_with_accesses_comes_back) {
  int x = 0, y = 0, z = 0;
  expect_all_comes_back("one access", [&] { weft::spawn([] {}, weft::inout(x)); });
  expect_all_comes_back(
      "three", [&] { weft::spawn([] {}, weft::inout(x), weft::in(y), weft::commutative(z)); });
  expect_all_comes_back("readers", [&] { weft::spawn([] {}, weft::in(x), weft::in(y)); });
  expect_all_comes_back("one twice",
                        [&] { weft::spawn([] {}, weft::in(x), weft::out(x), weft::weak_in(x)); });
  expect_all_comes_back("that are shared",
                        [&] { weft::spawn([] {}, weft::concurrent(x), weft::commutative(y)); });
  expect_all_comes_back(
      "a handle", [&] { (void)weft::spawn([] { return 1; }, weft::inout(x), weft::tracked); });
}

TEST(memory, of_tasks_with_accesses_and_children_comes_back) {
  int x = 0, y = 0;
  expect_all_comes_back("a child of nothing",
                        [&] { weft::spawn([] { weft::spawn([] {}); }, weft::inout(x)); });
  expect_all_comes_back("a child of the same", [&] {
    weft::spawn([&] { weft::spawn([] {}, weft::inout(x)); }, weft::inout(x));
  });
  expect_all_comes_back("a child of a weak access", [&] {
    weft::spawn([&] { weft::spawn([] {}, weft::inout(x)); }, weft::weak_inout(x));
  });
  expect_all_comes_back("two children of two", [&] {
    weft::spawn(
        [&] {
          weft::spawn([] {}, weft::inout(x), weft::in(y));
          weft::spawn([] {}, weft::in(x));
        },
        weft::weak_inout(x), weft::in(y));
  });
  expect_all_comes_back("a child of something else", [&] {
    weft::spawn(
        [&] {
          int own = 0;
          weft::spawn([] {}, weft::inout(own));
          weft::taskwait();
        },
        weft::inout(x));
  });
  expect_all_comes_back("children that take turns", [&] {
    weft::spawn(
        [&] {
          weft::spawn([] {}, weft::commutative(x));
          weft::spawn([] {}, weft::commutative(x), weft::concurrent(y));
        },
        weft::weak_commutative(x), weft::weak_inout(y));
  });
}

TEST(memory, of_tasks_that_release_early_comes_back) {
  int x = 0, y = 0;
  expect_all_comes_back("one of two", [&] {
    weft::spawn([&] { weft::release(weft::inout(x)); }, weft::inout(x), weft::in(y));
  });
  expect_all_comes_back("with a child", [&] {
    weft::spawn(
        [&] {
          weft::spawn([] {}, weft::inout(x));
          weft::release(weft::inout(x));
        },
        weft::weak_inout(x), weft::in(y));
  });
}

TEST(memory, of_tasks_that_reduce_comes_back) {
  long x = 0;
  expect_all_comes_back("alone", [&] {
    weft::spawn([&] { weft::reduction_local(x) += 1; }, weft::reduction(x, weft::sum));
  });
  expect_all_comes_back("by a child", [&] {
    weft::spawn(
        [&] { weft::spawn([&] { weft::reduction_local(x) += 1; }, weft::reduction(x, weft::sum)); },
        weft::weak_reduction(x, weft::sum));
  });
  weft::taskwait();
}

} // namespace
