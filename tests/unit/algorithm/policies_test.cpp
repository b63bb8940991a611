// SPDX-License-Identifier: Apache-2.0
// What each algorithm throws under each exception policy, when it calls a function that throws: the
// same whether it runs as one block, in blocks, in steps or in order.
#include "support/case_process.hpp"

#include <weft/algorithm.hpp>
#include <weft/group.hpp>
#include <weft/numeric.hpp>
#include <weft/worker_set.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

namespace ex = weft::execution;
using weft::exception_policy;

struct failure {};
std::atomic<bool> g_armed{false};
int g_at = 0; // the value at which functions throw

int touch(int v) {
  if (v == g_at && g_armed.load(std::memory_order_relaxed))
    throw failure();
  return v;
}

/// Holds functions back from throwing, or has them throw.
class armed {
 public:
  explicit armed(bool is) noexcept : m_before(g_armed.exchange(is)) {}
  armed(const armed &) = delete;
  armed &operator=(const armed &) = delete;
  ~armed() { g_armed = m_before; }

 private:
  const bool m_before;
};

/// Is equal to no element, and throws when it is compared to the one.
struct needle {
  friend bool operator==(int a, const needle &) { return touch(a) < 0; }
  operator int() const { return -1; }
};

/// Throws when it is copied with the value, to a place or to raw memory.
struct number {
  int v = 0;
  number() { touch(g_at); }
  explicit number(int value) noexcept : v(value) {}
  number(const number &other) : v(touch(other.v)) {}
  number &operator=(const number &other) {
    v = touch(other.v);
    return *this;
  }
};

const auto never = [](int v) { return touch(v) < 0; };
const auto always = [](int v) { return touch(v) >= 0; };
const auto odd = [](int v) { return touch(v) % 2 != 0; };
const auto same = [](int a, int b) { return touch(a) == touch(b); };
const auto less = [](int a, int b) { return touch(a) < touch(b); };
const auto greater = [](int a, int b) { return touch(a) > touch(b); };
const auto most = [](int a, int b) { return std::max(touch(a), touch(b)); };

using check_function =
    std::function<void(const std::string &name, const std::function<void()> &call)>;

/// Calls check(name, call) for each algorithm, over containers C of n elements.
template <template <class...> class C, class P>
void for_each_algorithm(const P &p, int n, const check_function &check) {
  std::vector<int> up(static_cast<std::size_t>(n)), all_even(up.size());
  std::iota(up.begin(), up.end(), 0);
  const std::vector<int> down(up.rbegin(), up.rend());
  std::vector<int> mixed(up.size());
  for (int i = 0; i < n; ++i) {
    mixed[static_cast<std::size_t>(i)] = static_cast<int>(static_cast<long>(i) * 7919 % n);
    all_even[static_cast<std::size_t>(i)] = 2 * i;
  }
  g_at = 2 * (n / 3); // even, so that both sequences have it
  const auto copy_of = [](const std::vector<int> &v) { return C<int>(v.begin(), v.end()); };
  const C<int> a = copy_of(up), same_a = a, even = copy_of(all_even), heap = copy_of(down);
  const auto numbers = [&] {
    const armed nothing(false);
    std::vector<number> v;
    for (const int i : up)
      v.emplace_back(i);
    return C<number>(v.begin(), v.end());
  };
  const auto places = [&] {
    const armed nothing(false);
    return C<number>(up.size());
  };
  const auto out = [&] { return C<int>(2 * up.size()); };
  const auto middle = [](auto &c) { return std::next(c.begin(), std::ssize(c) / 3); };

  // ---- of each element
  check("for_each", [&] { weft::for_each(p, a.begin(), a.end(), always); });
  check("for_each_n", [&] { weft::for_each_n(p, a.begin(), n, always); });
  check("transform", [&] {
    auto o = out();
    weft::transform(p, a.begin(), a.end(), o.begin(), touch);
  });
  check("transform of two", [&] {
    auto o = out();
    weft::transform(p, a.begin(), a.end(), even.begin(), o.begin(), most);
  });
  check("copy", [&] {
    auto x = numbers();
    auto o = places();
    weft::copy(p, x.begin(), x.end(), o.begin());
  });
  check("move", [&] {
    auto x = numbers();
    auto o = places();
    weft::move(p, x.begin(), x.end(), o.begin());
  });
  check("copy_n", [&] {
    auto x = numbers();
    auto o = places();
    weft::copy_n(p, x.begin(), n, o.begin());
  });
  check("reverse_copy", [&] {
    auto x = numbers();
    auto o = places();
    weft::reverse_copy(p, x.begin(), x.end(), o.begin());
  });
  check("fill", [&] {
    auto x = numbers();
    weft::fill(p, x.begin(), x.end(), *std::next(x.begin(), g_at));
  });
  check("fill_n", [&] {
    auto x = numbers();
    weft::fill_n(p, x.begin(), n, *std::next(x.begin(), g_at));
  });
  check("generate", [&] {
    auto x = out();
    weft::generate(p, x.begin(), x.end(), [] { return touch(g_at); });
  });
  check("generate_n", [&] {
    auto x = out();
    weft::generate_n(p, x.begin(), n, [] { return touch(g_at); });
  });
  check("replace_if", [&] {
    auto x = a;
    weft::replace_if(p, x.begin(), x.end(), odd, 1);
  });
  check("replace", [&] {
    auto x = a;
    weft::replace(p, x.begin(), x.end(), needle(), needle());
  });
  check("replace_copy_if", [&] {
    auto o = out();
    weft::replace_copy_if(p, a.begin(), a.end(), o.begin(), odd, 1);
  });
  check("replace_copy", [&] {
    auto o = out();
    weft::replace_copy(p, a.begin(), a.end(), o.begin(), needle(), needle());
  });
  check("swap_ranges", [&] {
    auto x = numbers(), y = numbers();
    weft::swap_ranges(p, x.begin(), x.end(), y.begin());
  });
  check("reverse", [&] {
    auto x = numbers();
    weft::reverse(p, x.begin(), x.end());
  });
  check("rotate", [&] {
    auto x = numbers();
    weft::rotate(p, x.begin(), middle(x), x.end());
  });
  check("rotate_copy", [&] {
    auto x = numbers();
    auto o = places();
    weft::rotate_copy(p, x.begin(), middle(x), x.end(), o.begin());
  });

  // ---- search
  check("find_if", [&] { (void)weft::find_if(p, a.begin(), a.end(), never); });
  check("find_if_not", [&] { (void)weft::find_if_not(p, a.begin(), a.end(), always); });
  check("find", [&] { (void)weft::find(p, a.begin(), a.end(), needle()); });
  check("all_of", [&] { (void)weft::all_of(p, a.begin(), a.end(), always); });
  check("any_of", [&] { (void)weft::any_of(p, a.begin(), a.end(), never); });
  check("none_of", [&] { (void)weft::none_of(p, a.begin(), a.end(), never); });
  const std::vector<int> absent{-2, -3};
  check("find_first_of", [&] {
    (void)weft::find_first_of(p, a.begin(), a.end(), absent.begin(), absent.end(), same);
  });
  check("adjacent_find", [&] { (void)weft::adjacent_find(p, a.begin(), a.end(), same); });
  check("search",
        [&] { (void)weft::search(p, a.begin(), a.end(), absent.begin(), absent.end(), same); });
  check("find_end",
        [&] { (void)weft::find_end(p, a.begin(), a.end(), absent.begin(), absent.end(), same); });
  check("search_n", [&] { (void)weft::search_n(p, a.begin(), a.end(), 1, -2, same); });
  check("mismatch", [&] { (void)weft::mismatch(p, a.begin(), a.end(), same_a.begin(), same); });
  check("mismatch to an end",
        [&] { (void)weft::mismatch(p, a.begin(), a.end(), same_a.begin(), same_a.end(), same); });
  check("equal", [&] { (void)weft::equal(p, a.begin(), a.end(), same_a.begin(), same); });
  check("equal to an end",
        [&] { (void)weft::equal(p, a.begin(), a.end(), same_a.begin(), same_a.end(), same); });
  check("lexicographical_compare", [&] {
    (void)weft::lexicographical_compare(p, a.begin(), a.end(), same_a.begin(), same_a.end(), less);
  });

  // ---- counts, order
  check("count_if", [&] { (void)weft::count_if(p, a.begin(), a.end(), odd); });
  check("count", [&] { (void)weft::count(p, a.begin(), a.end(), needle()); });
  check("min_element", [&] { (void)weft::min_element(p, a.begin(), a.end(), less); });
  check("max_element", [&] { (void)weft::max_element(p, a.begin(), a.end(), less); });
  check("minmax_element", [&] { (void)weft::minmax_element(p, a.begin(), a.end(), less); });
  check("is_sorted_until", [&] { (void)weft::is_sorted_until(p, a.begin(), a.end(), less); });
  check("is_sorted", [&] { (void)weft::is_sorted(p, a.begin(), a.end(), less); });
  check("is_partitioned", [&] { (void)weft::is_partitioned(p, a.begin(), a.end(), always); });
  check("is_partitioned, behind the border", [&] {
    (void)weft::is_partitioned(p, a.begin(), a.end(), [](int v) { return touch(v) < 3; });
  });

  // ---- choices
  check("copy_if", [&] {
    auto o = out();
    weft::copy_if(p, a.begin(), a.end(), o.begin(), odd);
  });
  check("remove_copy_if", [&] {
    auto o = out();
    weft::remove_copy_if(p, a.begin(), a.end(), o.begin(), odd);
  });
  check("remove_copy", [&] {
    auto o = out();
    weft::remove_copy(p, a.begin(), a.end(), o.begin(), needle());
  });
  check("unique_copy", [&] {
    auto o = out();
    weft::unique_copy(p, a.begin(), a.end(), o.begin(), same);
  });
  check("remove_if", [&] {
    auto x = a;
    (void)weft::remove_if(p, x.begin(), x.end(), odd);
  });
  check("remove", [&] {
    auto x = a;
    (void)weft::remove(p, x.begin(), x.end(), needle());
  });
  check("unique", [&] {
    auto x = a;
    (void)weft::unique(p, x.begin(), x.end(), same);
  });
  check("partition", [&] {
    auto x = a;
    weft::partition(p, x.begin(), x.end(), odd);
  });
  check("stable_partition", [&] {
    auto x = a;
    weft::stable_partition(p, x.begin(), x.end(), odd);
  });
  check("partition_copy", [&] {
    auto o = out(), o2 = out();
    weft::partition_copy(p, a.begin(), a.end(), o.begin(), o2.begin(), odd);
  });

  // ---- sorted ranges
  check("merge", [&] {
    auto o = out();
    weft::merge(p, a.begin(), a.end(), even.begin(), even.end(), o.begin(), less);
  });
  check("inplace_merge", [&] {
    std::vector<int> both(up.begin(), up.end());
    both.insert(both.end(), all_even.begin(), all_even.end());
    auto x = copy_of(both);
    weft::inplace_merge(p, x.begin(), std::next(x.begin(), n), x.end(), less);
  });
  check("includes",
        [&] { (void)weft::includes(p, a.begin(), a.end(), same_a.begin(), same_a.end(), less); });
  const auto of_sets = [&](const char *name, auto call) {
    check(name, [&] {
      auto o = out();
      call(a, even, o.begin());
    });
  };
  of_sets("set_union", [&](auto &x, auto &y, auto o) {
    weft::set_union(p, x.begin(), x.end(), y.begin(), y.end(), o, less);
  });
  of_sets("set_intersection", [&](auto &x, auto &y, auto o) {
    weft::set_intersection(p, x.begin(), x.end(), y.begin(), y.end(), o, less);
  });
  of_sets("set_difference", [&](auto &x, auto &y, auto o) {
    weft::set_difference(p, x.begin(), x.end(), y.begin(), y.end(), o, less);
  });
  of_sets("set_symmetric_difference", [&](auto &x, auto &y, auto o) {
    weft::set_symmetric_difference(p, x.begin(), x.end(), y.begin(), y.end(), o, less);
  });

  // ---- numbers
  check("reduce", [&] { (void)weft::reduce(p, a.begin(), a.end(), 0, most); });
  check("reduce, the initial value",
        [&] { (void)weft::reduce(p, even.begin(), std::next(even.begin(), 3), g_at, most); });
  check("transform_reduce",
        [&] { (void)weft::transform_reduce(p, a.begin(), a.end(), 0, most, touch); });
  check("transform_reduce of two",
        [&] { (void)weft::transform_reduce(p, a.begin(), a.end(), even.begin(), 0, most, most); });
  check("inclusive_scan", [&] {
    auto o = out();
    weft::inclusive_scan(p, a.begin(), a.end(), o.begin(), most);
  });
  check("inclusive_scan from a value", [&] {
    auto o = out();
    weft::inclusive_scan(p, a.begin(), a.end(), o.begin(), most, 0);
  });
  check("exclusive_scan", [&] {
    auto o = out();
    weft::exclusive_scan(p, a.begin(), a.end(), o.begin(), 0, most);
  });
  check("transform_inclusive_scan", [&] {
    auto o = out();
    weft::transform_inclusive_scan(p, a.begin(), a.end(), o.begin(), most, touch);
  });
  check("transform_exclusive_scan", [&] {
    auto o = out();
    weft::transform_exclusive_scan(p, a.begin(), a.end(), o.begin(), 0, most, touch);
  });
  check("adjacent_difference", [&] {
    auto o = out();
    weft::adjacent_difference(p, a.begin(), a.end(), o.begin(), most);
  });

  // ---- raw memory
  const auto raw = [&](const char *name, auto call) {
    check(name, [&] {
      struct memory {
        explicit memory(std::size_t count)
            : size(count), at(std::allocator<number>().allocate(count)) {}
        memory(const memory &) = delete;
        memory &operator=(const memory &) = delete;
        ~memory() { std::allocator<number>().deallocate(at, size); }
        std::size_t size;
        number *at;
      } const to(up.size());
      auto from = numbers();
      call(from, to.at);
    });
  };
  raw("uninitialized_copy",
      [&](auto &x, number *to) { weft::uninitialized_copy(p, x.begin(), x.end(), to); });
  raw("uninitialized_move",
      [&](auto &x, number *to) { weft::uninitialized_move(p, x.begin(), x.end(), to); });
  raw("uninitialized_copy_n",
      [&](auto &x, number *to) { weft::uninitialized_copy_n(p, x.begin(), n, to); });
  raw("uninitialized_move_n",
      [&](auto &x, number *to) { weft::uninitialized_move_n(p, x.begin(), n, to); });
  raw("uninitialized_fill", [&](auto &x, number *to) {
    weft::uninitialized_fill(p, to, to + n, *std::next(x.begin(), g_at));
  });
  raw("uninitialized_fill_n", [&](auto &x, number *to) {
    weft::uninitialized_fill_n(p, to, n, *std::next(x.begin(), g_at));
  });
  raw("uninitialized_default_construct",
      [&](auto &, number *to) { weft::uninitialized_default_construct(p, to, to + n); });
  raw("uninitialized_default_construct_n",
      [&](auto &, number *to) { weft::uninitialized_default_construct_n(p, to, n); });
  raw("uninitialized_value_construct",
      [&](auto &, number *to) { weft::uninitialized_value_construct(p, to, to + n); });
  raw("uninitialized_value_construct_n",
      [&](auto &, number *to) { weft::uninitialized_value_construct_n(p, to, n); });

  if constexpr (std::random_access_iterator<typename C<int>::iterator>) {
    check("is_heap_until", [&] { (void)weft::is_heap_until(p, heap.begin(), heap.end(), less); });
    check("is_heap", [&] { (void)weft::is_heap(p, heap.begin(), heap.end(), less); });
    check("sort", [&] {
      auto x = mixed;
      weft::sort(p, x.begin(), x.end(), greater);
    });
    check("stable_sort", [&] {
      auto x = mixed;
      weft::stable_sort(p, x.begin(), x.end(), greater);
    });
    check("partial_sort", [&] {
      auto x = mixed;
      weft::partial_sort(p, x.begin(), x.begin() + n / 8, x.end(), less);
    });
    check("partial_sort of most", [&] {
      auto x = mixed;
      weft::partial_sort(p, x.begin(), x.begin() + n / 2, x.end(), less);
    });
    check("partial_sort_copy", [&] {
      std::vector<int> o(static_cast<std::size_t>(n / 8));
      weft::partial_sort_copy(p, mixed.begin(), mixed.end(), o.begin(), o.end(), less);
    });
    check("nth_element", [&] {
      auto x = mixed;
      weft::nth_element(p, x.begin(), x.begin() + n / 2, x.end(), less);
    });
    check("nth_element, its sample", [&] {
      auto x = mixed;
      std::iter_swap(x.begin() + n / 9 * 4 + n / 18, std::find(x.begin(), x.end(), g_at));
      weft::nth_element(p, x.begin(), x.begin() + n / 2, x.end(), less);
    });
    check("for_loop", [&] { weft::for_loop(p, 0, n, touch); });
    check("for_loop_strided", [&] { weft::for_loop_strided(p, 0, n, 2, touch); });
    check("for_loop, at its end", [&] {
      int into = g_at;
      weft::for_loop(p, 0, n, weft::loop_reduction(into, -1, most), [](int, int &) {});
    });
  }
}

/// Calls check(name, call) for each algorithm, as a policy would that says nothing of blocks, over few
/// elements that are one block and over many, with blocks, and in order.
void in_each_way(exception_policy errors, const check_function &check) {
  const auto named = [&check](const char *way) {
    return [&check, way](const std::string &name, const std::function<void()> &call) {
      check(name + ", " + way, call);
    };
  };
  const auto par = ex::par.with(errors);
  for_each_algorithm<std::vector>(par, 60, named("few"));
  for_each_algorithm<std::vector>(par, 40'000, named("many"));
  for_each_algorithm<std::vector>(par.with(ex::grain(1000)), 20'000, named("by grain"));
  for_each_algorithm<std::vector>(par.with(ex::static_chunk), 3000, named("a block each"));
  for_each_algorithm<std::list>(par, 60, named("a list"));
  for_each_algorithm<std::vector>(ex::seq.with(errors), 60, named("seq"));
}

/// Calls it until the call site knows what an element takes, and then with functions that throw.
void call_armed(const std::function<void()> &call) {
  for (int i = 0; i != 3; ++i)
    call();
  const armed all(true);
  call();
}

TEST(exception_policies, the_first_exception_is_thrown_as_it_is) {
  in_each_way(exception_policy::first_cancels,
              [](const std::string &name, const std::function<void()> &call) {
                EXPECT_THROW(call_armed(call), failure) << name;
              });
}

TEST(exception_policies, all_exceptions_are_in_one_list) {
  in_each_way(exception_policy::collect_all,
              [](const std::string &name, const std::function<void()> &call) {
                try {
                  call_armed(call);
                  ADD_FAILURE() << name << " throws nothing";
                } catch (const weft::exception_list &list) {
                  EXPECT_GE(list.size(), 1U) << name;
                  for (const std::exception_ptr &error : list)
                    EXPECT_THROW(std::rethrow_exception(error), failure) << name;
                } catch (...) {
                  ADD_FAILURE() << name << " throws the exception itself";
                }
              });
}

TEST(exception_policies, hold_on_the_workers_of_a_set) {
  const auto par = ex::par.with(exception_policy::collect_all).on(weft::worker_set());
  for_each_algorithm<std::vector>(par, 60,
                                  [](const std::string &name, const std::function<void()> &call) {
                                    EXPECT_THROW(call_armed(call), weft::exception_list) << name;
                                  });
}

TEST(exception_policies, terminate_ends_the_program) {
  const auto end = test::in_process({}, [] { // Weft does not run here, only in the children
    const rlimit no_core{};
    ASSERT_EQ(setrlimit(RLIMIT_CORE, &no_core), 0);
    in_each_way(exception_policy::terminate, [](const std::string &name,
                                                const std::function<void()> &call) {
      if (name.ends_with(", many")) // by grain they take the same ways
        return;
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        try {
          call_armed(call);
        } catch (...) {
          _exit(3);
        }
        _exit(2);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
          << name
          << (WIFEXITED(status) && WEXITSTATUS(status) == 3 ? " throws" : " does not end so");
    });
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("its exception policy is terminate")) << end;
}

} // namespace
