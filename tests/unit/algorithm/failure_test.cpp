// SPDX-License-Identifier: Apache-2.0
// Exceptions of element functions, comparisons and constructors.
#include <weft/algorithm.hpp>
#include <weft/numeric.hpp>
#include <weft/runtime.hpp>
#include <weft/sync/event.hpp>

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace ex = weft::execution;

/// Counts its objects, and throws at one of its copies or moves.
struct counted {
  static inline std::atomic<long> alive{0}, until{-1};
  int value = 0;
  static void step() {
    if (until.load() >= 0 && until.fetch_sub(1) == 0)
      throw std::runtime_error("a copy");
  }
  explicit counted(int v = 0) : value(v) { step(), ++alive; }
  counted(const counted &other) : value(other.value) { step(), ++alive; }
  counted(counted &&other) noexcept : value(other.value) { ++alive; }
  counted &operator=(const counted &) = default;
  counted &operator=(counted &&) noexcept = default;
  ~counted() { --alive; }
};

TEST(algorithm_failures, the_first_exception_is_rethrown_and_stops_the_rest) {
  std::atomic<int> ran{0};
  EXPECT_THROW(weft::for_each(ex::par.with(ex::grain(1)), std::views::iota(0, 1'000'000'000),
                              [&](int) {
                                ++ran;
                                throw std::runtime_error("once");
                              }),
               std::runtime_error);
  EXPECT_LE(ran, weft::worker_count() + 1);
  EXPECT_THROW(weft::for_each(ex::par, std::views::iota(0, 10), [](int) { throw 1; }), int);
}

TEST(algorithm_failures, are_collected_where_the_policy_says_so) {
  const auto all = ex::par.with(ex::grain(10)).with(weft::exception_policy::collect_all);
  std::atomic<int> ran{0};
  try {
    weft::for_each(all, std::views::iota(0, 100), [&](int i) {
      ++ran;
      if (i % 10 == 4)
        throw i;
    });
    FAIL();
  } catch (const weft::exception_list &list) {
    EXPECT_EQ(list.size(), 10u) << "one of each block";
    EXPECT_EQ(ran, 50) << "the rest of a block is skipped, the other blocks are not";
  }
  const auto small = ex::par.with(weft::exception_policy::collect_all);
  for (int i = 0; i < 20; ++i) { // with and without looks at the clock
    const auto call = [&] {
      weft::for_each(small, std::views::iota(0, 3), [i](int k) {
        if (i > 4 && k == 1)
          throw 1;
      });
    };
    if (i > 4)
      EXPECT_THROW(call(), weft::exception_list);
    else
      EXPECT_NO_THROW(call());
  }
}

TEST(algorithm_failures, in_comparisons_lose_no_object) {
  const long before = counted::alive;
  for (const int at : {1, 50, 2000, 30'000}) {
    std::vector<counted> v;
    for (int i = 0; i < 5000; ++i)
      v.emplace_back(i * 7919 % 5003);
    std::atomic<int> calls{0};
    const auto comp = [&](const counted &a, const counted &b) {
      if (++calls == at)
        throw std::runtime_error("a comparison");
      return a.value < b.value;
    };
    EXPECT_THROW(weft::sort(ex::par.with(ex::grain(100)), v, comp), std::runtime_error);
    calls = 0;
    EXPECT_THROW(weft::stable_sort(ex::par.with(ex::grain(100)), v, comp), std::runtime_error);
    EXPECT_EQ(counted::alive, before + 5000);
  }
  EXPECT_EQ(counted::alive, before);
}

TEST(algorithm_failures, of_predicates_leave_a_partition_as_it_was) {
  std::vector<int> v(5000);
  std::iota(v.begin(), v.end(), 0);
  const std::vector<int> before = v;
  EXPECT_THROW(weft::stable_partition(ex::par.with(ex::grain(100)), v,
                                      [](int i) {
                                        if (i == 3333)
                                          throw 1;
                                        return i % 2 == 0;
                                      }),
               int);
  EXPECT_EQ(v, before);
}

TEST(algorithm_failures, of_constructors_destroy_what_was_constructed) {
  const long before = counted::alive;
  std::vector<counted> from(3000);
  std::allocator<counted> memory;
  counted *const raw = memory.allocate(3000);
  for (const long at : {0L, 5L, 1500L, 2999L})
    for (const std::uint64_t grain : {std::uint64_t{0}, std::uint64_t{64}}) {
      counted::until = at;
      EXPECT_THROW(weft::uninitialized_copy(ex::par.with(ex::grain(grain)), from, raw),
                   std::runtime_error);
      EXPECT_EQ(counted::alive, before + 3000);
    }
  counted::until = -1;
  memory.deallocate(raw, 3000);
}

TEST(algorithm_failures, of_reductions_and_scans_are_rethrown) {
  std::vector<int> v(20'000, 1), out(v.size());
  const auto op = [](int a, int b) {
    if (a > 100 && b == 1)
      throw std::runtime_error("an operation");
    return a + b;
  };
  for (const auto &p : {ex::par, ex::par.with(ex::grain(500)), ex::par.with(ex::static_chunk)}) {
    EXPECT_THROW(weft::reduce(p, v, 0, op), std::runtime_error);
    EXPECT_THROW(weft::inclusive_scan(p, v, out.begin(), op), std::runtime_error);
  }
}

/// Is a value that operations may not use once it is moved from.
using boxed = std::shared_ptr<const int>;
boxed add(const boxed &a, const boxed &b) { return std::make_shared<const int>(*a + *b); }

TEST(algorithm_failures, of_scans_leave_no_value_that_is_moved_from_to_later_blocks) {
  std::vector<boxed> v(20'000, std::make_shared<const int>(1)), out(v.size());
  const auto op = [](const boxed &a, const boxed &b) {
    if (*a == 2) // in an early block of the caller, while it is alone
      throw std::runtime_error("an operation");
    return add(a, b);
  };
  const auto all = ex::par.with(weft::exception_policy::collect_all);
  const auto one = std::make_shared<const int>(1);
  for (int i = 0; i != 3; ++i) // a first call is in blocks, while the site is unknown
    for (const auto &call : std::vector<std::function<void()>>{
             [&] { weft::inclusive_scan(all, v, out.begin(), op); },
             [&] { weft::exclusive_scan(all, v, out.begin(), one, op); }})
      try {
        call();
        ADD_FAILURE();
      } catch (const weft::exception_list &list) {
        EXPECT_EQ(list.size(), 1U) << "a scan ends at the first exception";
      }
}

TEST(algorithm_failures, where_runs_are_combined_follow_the_policy) {
  const auto call = [](const auto &policy) {
    weft::event second;
    static_cast<void>(weft::transform_reduce(
        policy.with(ex::grain(1)), std::views::iota(0, 2), 0,
        [](int a, int b) {
          if (a == 1 && b == 1)
            throw std::runtime_error("an operation");
          return a + b;
        },
        [&](int i) { // so that two participants have a run each
          if (i == 0)
            second.wait();
          else
            second.set();
          return 1;
        }));
  };
  EXPECT_THROW(call(ex::par), std::runtime_error);
  EXPECT_THROW(call(ex::par.with(weft::exception_policy::collect_all)), weft::exception_list);
}

TEST(algorithm_failures, of_the_last_comparison_follow_the_policy) {
  std::vector<int> a(1000, 1), b(a);
  b[700] = 2;
  std::atomic<int> differing{0};
  const auto all = ex::par.with(weft::exception_policy::collect_all);
  EXPECT_THROW(weft::lexicographical_compare(all, a.begin(), a.end(), b.begin(), b.end(),
                                             [&](int x, int y) {
                                               if (x != y && ++differing == 2)
                                                 throw std::runtime_error("a comparison");
                                               return x < y;
                                             }),
               weft::exception_list);
}

/// Is left without its value when it is moved from.
struct moving {
  std::string text;
  friend moving operator+(moving a, const moving &b) {
    if (b.text == "fails")
      throw std::runtime_error("an operation");
    a.text += b.text;
    return a;
  }
};

TEST(algorithm_failures, of_a_reduction_of_a_loop_leave_all_variables_as_they_were) {
  const std::string before = "a text that is too long to be in the string itself";
  moving first{before}, second{before};
  int place = 7;
  const auto run = [&](const auto &policy) {
    weft::for_loop(policy, 0, 1, weft::loop_reduction(first, moving(), std::plus<>()),
                   weft::induction(place, 3), weft::loop_reduction(second, moving(), std::plus<>()),
                   [](int, moving &one, int, moving &other) {
                     one.text = "more";
                     other.text = "fails";
                   });
  };
  EXPECT_THROW(run(ex::par), std::runtime_error);
  EXPECT_THROW(run(ex::seq), std::runtime_error);
  EXPECT_THROW(run(ex::par.with(weft::exception_policy::collect_all)), weft::exception_list);
  EXPECT_EQ(first.text, before);
  EXPECT_EQ(second.text, before);
  EXPECT_EQ(place, 7);
}

TEST(algorithm_failures, are_not_the_end_of_a_thread) {
  std::vector<int> v(3, 1);
  std::atomic<bool> ends{false};
  std::atomic<int> unwound{0};
  struct program {
    std::vector<int> &v;
    std::atomic<bool> &ends;
    std::atomic<int> &unwound;
    void run() {
      struct guard {
        std::atomic<int> &unwound;
        ~guard() { ++unwound; }
      } const at_end{unwound};
      weft::for_each(ex::par, v, [this](int &x) {
        if (++x, ends)
          pthread_exit(nullptr);
      });
    }
  } calls{v, ends, unwound};
  constexpr int k_before = 40; // until the site is known: then all is one block
  for (int i = 0; i != k_before; ++i)
    calls.run();
  ends = true;
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void *p) -> void * {
                  static_cast<program *>(p)->run();
                  return p;
                },
                &calls),
            0);
  void *returned = &calls;
  ASSERT_EQ(pthread_join(thread, &returned), 0);
  EXPECT_EQ(returned, nullptr) << "the call has not returned";
  EXPECT_EQ(unwound, k_before + 1) << "the frames of the thread have ended";
}

} // namespace
