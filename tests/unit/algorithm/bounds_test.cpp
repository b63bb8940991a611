// SPDX-License-Identifier: Apache-2.0
// What the standard bounds (applications of a predicate, comparisons) and what it asks of elements; memory that an
// algorithm takes for itself; operations that wait.
#include "arch/sanitizer.hpp"
#include "support/gate.hpp"

#include <weft/algorithm.hpp>
#include <weft/error.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iterator>
#include <mutex>
#include <new>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

// A sanitizer has its own.
#if !defined(WEFT_ASAN) && !defined(WEFT_TSAN)
namespace {
std::atomic<bool> g_counts{false};
std::atomic<std::size_t> g_bytes{0};
std::atomic<std::size_t> g_refused{0}; // one allocation of so many bytes fails
} // namespace

// Not inlined: GCC would match malloc() with delete.
[[gnu::noinline]] void *operator new(std::size_t bytes) {
  if (g_counts.load(std::memory_order_relaxed))
    g_bytes += bytes;
  std::size_t refused = bytes;
  if (bytes != 0 && g_refused.compare_exchange_strong(refused, 0))
    throw std::bad_alloc();
  if (void *p = std::malloc(bytes))
    return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void *p, std::size_t) noexcept { std::free(p); }

#define WEFT_COUNTS_ALLOCATIONS 1
#endif

namespace {

namespace ex = weft::execution;

// ---- search_n

/// Says where the first run of so many ones begins; the size if there is none.
std::uint64_t first_run(const std::vector<int> &v, std::uint64_t length) {
  return static_cast<std::uint64_t>(std::search_n(v.begin(), v.end(), length, 1) - v.begin());
}

TEST(search_n, looks_at_each_element_of_a_block_at_most_once) {
  constexpr unsigned n = 9;
  for (unsigned bits = 0; bits != 1u << n; ++bits) {
    std::vector<int> v;
    for (unsigned i = 0; i != n; ++i)
      v.push_back(bits >> i & 1);
    for (std::uint64_t length = 1; length <= n; ++length)
      for (std::uint64_t cut = 0; cut <= n; ++cut) {
        std::vector<int> looks(n);
        auto matches = [&](std::uint64_t i) {
          ++looks[i];
          return v[i] != 0;
        };
        const auto a = weft::detail::look_for_run(0, cut, length, matches),
                   b = weft::detail::look_for_run(cut, n, length, matches);
        const std::uint64_t found = weft::detail::join_runs(a, b, length).found;
        ASSERT_EQ(found == weft::detail::match_runs::k_none ? n : found, first_run(v, length))
            << "bits " << bits << " length " << length << " cut " << cut;
        ASSERT_LE(*std::max_element(looks.begin(), looks.end()), 1);
      }
  }
}

TEST(search_n, joins_runs_over_several_blocks) {
  constexpr unsigned n = 7;
  for (unsigned bits = 0; bits != 1u << n; ++bits) {
    std::vector<int> v;
    for (unsigned i = 0; i != n; ++i)
      v.push_back(bits >> i & 1);
    for (std::uint64_t length = 1; length <= n; ++length) {
      auto matches = [&](std::uint64_t i) { return v[i] != 0; };
      const auto of = [&](std::uint64_t i) {
        return weft::detail::look_for_run(i, i + 1, length, matches);
      };
      auto from_left = of(0), from_right = of(n - 1);
      for (unsigned i = 1; i != n; ++i) {
        from_left = join_runs(from_left, of(i), length);
        from_right = join_runs(of(n - 1 - i), from_right, length);
      }
      const std::uint64_t expected = first_run(v, length),
                          none = weft::detail::match_runs::k_none;
      ASSERT_EQ(from_left.found, expected == n ? none : expected) << bits << ' ' << length;
      ASSERT_EQ(from_right.found, expected == n ? none : expected) << bits << ' ' << length;
    }
  }
}

TEST(search_n, applies_its_predicate_at_most_once_to_each_element) {
  std::vector<int> v(20'000, 1);
  for (std::size_t i = 99; i < v.size(); i += 100)
    v[i] = 0; // no run of 100 before the end
  v.insert(v.end(), 100, 1);
  for (const auto &p : {ex::par, ex::par.with(ex::grain(1)), ex::par.with(ex::grain(1000)),
                        ex::par.with(ex::static_chunk)}) {
    std::vector<std::atomic<int>> looks(v.size());
    const auto found = weft::search_n(p, v, 100, 1, [&](const int &a, int b) {
      ++looks[static_cast<std::size_t>(&a - v.data())];
      return a == b;
    });
    EXPECT_EQ(found - v.begin(), 20'000);
    EXPECT_TRUE(std::all_of(looks.begin(), looks.end(), [](int n) { return n <= 1; }));
  }
}

TEST(search_n, leaves_out_what_is_behind_a_run) {
  std::vector<int> v(1000, 0);
  std::fill_n(v.begin() + 10, 5, 1);
  int calls = 0;
  const auto alone = ex::par.on(weft::worker_set::of_workers({0})).with(ex::grain(10));
  const auto found = weft::search_n(alone, v, 5, 1, [&](int a, int b) {
    ++calls;
    return a == b;
  });
  EXPECT_EQ(found - v.begin(), 10);
  EXPECT_LE(calls, 20);
}

// ---- nth_element

/// Answers so that each pivot is bad (M. D. McIlroy: A Killer Adversary for Quicksort, 1999). Values are numbers; what they
/// are worth is decided when it has to be.
class adversary {
 public:
  explicit adversary(int n) : m_worth(static_cast<std::size_t>(n), n), m_undecided(n) {}
  bool operator()(int a, int b) {
    const std::lock_guard guard(m_lock);
    if (++m_calls > 300 * m_undecided)
      throw std::length_error("too many comparisons");
    int &x = worth(a), &y = worth(b);
    if (x == m_undecided && y == m_undecided)
      (a == m_candidate ? x : y) = m_next++;
    if (x == m_undecided)
      m_candidate = a;
    else if (y == m_undecided)
      m_candidate = b;
    return x < y;
  }
  int &worth(int i) { return m_worth[static_cast<std::size_t>(i)]; }

 private:
  std::mutex m_lock;
  std::vector<int> m_worth;
  int m_undecided, m_candidate = 0, m_next = 0;
  std::int64_t m_calls = 0;
};

TEST(nth_element, takes_few_rounds_whatever_the_pivots_are) {
  constexpr int n = 40'000;
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  adversary against(n);
  const auto nth = v.end() - 2;
  ASSERT_NO_THROW(weft::nth_element(ex::par.with(ex::grain(1000)), v.begin(), nth, v.end(),
                                    std::ref(against)));
  for (auto i = v.begin(); i != nth; ++i)
    ASSERT_LE(against.worth(*i), against.worth(*nth));
  EXPECT_GE(against.worth(*(nth + 1)), against.worth(*nth));
}

// ---- elements

/// Is small and trivially copyable, and has no copies.
struct sole {
  int value;
  explicit sole(int v) : value(v) {}
  sole(sole &&) = default;
  sole &operator=(sole &&) = default;
  friend bool operator<(const sole &a, const sole &b) { return a.value < b.value; }
};
static_assert(std::is_trivially_copyable_v<sole> && !std::is_copy_constructible_v<sole>);

std::vector<sole> in_no_order(int n) {
  std::vector<sole> v;
  for (int i = 0; i != n; ++i)
    v.emplace_back(static_cast<int>(i * 7919L % n));
  return v;
}

TEST(sort, moves_small_elements_that_have_no_copies) {
  constexpr int n = 20'000;
  const auto p = ex::par.with(ex::grain(100));
  const auto is_sorted = [](const std::vector<sole> &v) {
    return std::is_sorted(v.begin(), v.end());
  };
  std::vector<sole> v = in_no_order(n);
  weft::sort(p, v);
  EXPECT_TRUE(is_sorted(v));
  v = in_no_order(n);
  weft::stable_sort(p, v);
  EXPECT_TRUE(is_sorted(v));
  v = in_no_order(n);
  weft::partial_sort(p, v.begin(), v.begin() + 50, v.end());
  EXPECT_TRUE(std::is_sorted(v.begin(), v.begin() + 50));
  EXPECT_EQ(v[49].value, 49);
  v = in_no_order(n);
  std::sort(v.begin(), v.begin() + n / 3);
  std::sort(v.begin() + n / 3, v.end());
  weft::inplace_merge(p, v.begin(), v.begin() + n / 3, v.end());
  EXPECT_TRUE(is_sorted(v));
}

TEST(merge, moves_from_iterators_that_move) {
  constexpr int n = 5000;
  std::vector<sole> a = in_no_order(n), b = in_no_order(n), out = in_no_order(2 * n);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto moved = [](auto it) { return std::make_move_iterator(it); };
  weft::merge(ex::par.with(ex::grain(100)), moved(a.begin()), moved(a.end()), moved(b.begin()),
              moved(b.end()), out.begin());
  EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
  EXPECT_EQ(out[1].value, 0);
  EXPECT_EQ(out.back().value, n - 1);
}

// ---- memory

/// Lets two constructions meet, so that each is in a block of its own.
struct meeting {
  static inline std::atomic<int> s_begun{0}, s_alive{0};
  static inline weft::event s_both;
  meeting() { ++s_alive; }
  meeting(const meeting &) {
    if (++s_begun == 2) {
#ifdef WEFT_COUNTS_ALLOCATIONS
      g_refused = 2 * sizeof(std::pair<std::uint64_t, std::uint64_t>); // what notes two blocks
#endif
      s_both.set();
    }
    s_both.wait();
    ++s_alive;
  }
  ~meeting() { --s_alive; }
};

TEST(uninitialized, needs_no_memory_once_an_element_is_constructed) {
#ifndef WEFT_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "a sanitizer has its own operator new";
#else
  std::allocator<meeting> memory;
  meeting *const raw = memory.allocate(2);
  {
    const meeting value;
    EXPECT_NO_THROW(
        weft::uninitialized_fill(ex::par.with(ex::grain(1)), raw, raw + 2, value));
    g_refused = 0;
    EXPECT_EQ(meeting::s_alive, 3);
    std::destroy_n(raw, 2);
  }
  memory.deallocate(raw, 2);
#endif
}

TEST(uninitialized, notes_its_blocks_in_linear_memory) {
#ifndef WEFT_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "a sanitizer has its own operator new";
#else
  constexpr int n = 4000;
  std::allocator<int> memory;
  int *const raw = memory.allocate(n);
  g_bytes = 0;
  g_counts = true;
  weft::uninitialized_fill(ex::par.with(ex::grain(1)), raw, raw + n, 5);
  g_counts = false;
  EXPECT_LT(g_bytes, 500u * n);
  EXPECT_EQ(std::accumulate(raw, raw + n, 0), 5 * n);
  memory.deallocate(raw, n);
#endif
}

// ---- operations that wait

/// Tells when two values have been moved.
struct watched {
  static inline std::atomic<int> s_moved{0};
  static inline weft::event s_both;
  int part = 0; // a bit; 0: says nothing
  watched() = default;
  watched(const watched &) = default;
  watched &operator=(const watched &) = default;
  watched(watched &&other) noexcept : part(other.part) { tell(); }
  watched &operator=(watched &&other) noexcept {
    part = other.part;
    tell();
    return *this;
  }
  void tell() const noexcept {
    if (part != 0 && (s_moved.fetch_or(part) | part) == 3)
      s_both.set();
  }
};

TEST(for_loop, an_operation_of_a_reduction_may_wait_for_other_participants) {
  watched sum;
  std::atomic<int> begun{0}, operations{0};
  weft::event all_begun;
  weft::for_loop(ex::par.with(ex::grain(1)), 0, 2,
                 weft::loop_reduction(sum, watched(),
                                      [&](watched &&a, watched &&b) {
                                        ++operations;
                                        watched::s_both.wait(); // both have left their loops
                                        watched c;
                                        c.part = a.part | b.part;
                                        return c;
                                      }),
                 [&](int i, watched &mine) {
                   if (++begun == 2)
                     all_begun.set();
                   all_begun.wait(); // so each has a participant of its own
                   mine.part = 1 << i;
                 });
  EXPECT_EQ(sum.part, 3);
  EXPECT_EQ(operations, 2);
}

TEST(for_loop, a_reduction_that_throws_leaves_its_variable) {
  for (const auto &p : {ex::par.with(ex::grain(10)), ex::par}) {
    int sum = 7;
    EXPECT_THROW(weft::for_loop(p, 0, 100, weft::reduction_plus(sum),
                                [](int i, int &mine) {
                                  mine += i;
                                  if (i == 55)
                                    throw std::domain_error("meant");
                                }),
                 std::domain_error);
    EXPECT_EQ(sum, 7);
  }
}

// ---- workers of a policy

TEST(on_a_set, an_algorithm_that_may_not_wait_calls_nothing) {
  struct outcome {
    weft::errc code{};
    std::atomic<int> calls{0};
  } seen;
  weft::spawn([] {},
              weft::onready(
                  [](void *p) {
                    auto &o = *static_cast<outcome *>(p);
                    std::vector<int> v(100);
                    try {
                      weft::for_each(ex::par.on(weft::worker_set()), v,
                                     [&o](int &) { ++o.calls; });
                    } catch (const weft::error &e) {
                      o.code = e.code();
                    }
                  },
                  &seen));
  weft::taskwait();
  test::dawdle(); // what was spawned would begin
  EXPECT_EQ(seen.code, weft::errc::no_block);
  EXPECT_EQ(seen.calls, 0);
}

TEST(on_a_set, an_algorithm_waits_for_what_its_function_spawns) {
  std::atomic<int> ended{0};
  const std::vector<int> v(10);
  weft::for_each(ex::par.on(weft::worker_set()), v, [&](int) {
    weft::spawn([&] {
      weft::taskyield();
      ++ended;
    });
  });
  EXPECT_EQ(ended, 10);
}

} // namespace
