// SPDX-License-Identifier: Apache-2.0
// A program of libc++'s parallel algorithms, compiled with -include weft/pstl.hpp: all that libc++ 19
// has, against the same without a policy; and that Weft's workers take part.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <execution>
#include <functional>
#include <list>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#ifndef WEFT_PSTL
#error "weft/pstl.hpp was not included"
#endif

namespace {

void check(bool right, const char *what) {
  if (right)
    return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

std::vector<unsigned> numbers(std::size_t n) {
  std::vector<unsigned> v(n);
  for (std::size_t i = 0; i != n; ++i)
    v[i] = static_cast<unsigned>(i * 7919ul % 300'007);
  return v;
}

template <class Policy>
void loops(Policy &&policy, std::size_t n) {
  const std::vector<unsigned> v = numbers(n);
  std::vector<unsigned> x = v, y(n), expected(n);
  std::for_each(policy, x.begin(), x.end(), [](unsigned &i) { i = 2 * i + 1; });
  std::transform(v.begin(), v.end(), expected.begin(), [](unsigned i) { return 2 * i + 1; });
  check(x == expected, "for_each");
  std::transform(policy, v.begin(), v.end(), y.begin(), [](unsigned i) { return 2 * i + 1; });
  check(y == expected, "transform");
  std::transform(policy, v.begin(), v.end(), x.begin(), y.begin(), std::plus<>());
  std::transform(v.begin(), v.end(), expected.begin(), expected.begin(), std::plus<>());
  check(y == expected, "transform of two");
  std::for_each_n(policy, x.begin(), n, [](unsigned &i) { i = 3; });
  check(x == std::vector<unsigned>(n, 3), "for_each_n");
  std::fill(policy, x.begin(), x.end(), 4u);
  check(x == std::vector<unsigned>(n, 4), "fill");
  std::generate(policy, x.begin(), x.end(), [] { return 5u; });
  check(x == std::vector<unsigned>(n, 5), "generate");
  std::copy(policy, v.begin(), v.end(), x.begin());
  check(x == v, "copy");
  std::replace(policy, x.begin(), x.end(), 0u, 9u);
  expected = v;
  std::replace(expected.begin(), expected.end(), 0u, 9u);
  check(x == expected, "replace");
  std::rotate_copy(policy, v.begin(), v.begin() + static_cast<long>(n / 3), v.end(), x.begin());
  std::rotate_copy(v.begin(), v.begin() + static_cast<long>(n / 3), v.end(), expected.begin());
  check(x == expected, "rotate_copy");
}

template <class Policy>
void searches(Policy &&policy, std::size_t n) {
  const std::vector<unsigned> v = numbers(n);
  const auto even = [](unsigned i) { return i % 2 == 0; };
  check(std::count_if(policy, v.begin(), v.end(), even) == std::count_if(v.begin(), v.end(), even),
        "count_if");
  check(std::find(policy, v.begin(), v.end(), 300'006u) == std::find(v.begin(), v.end(), 300'006u),
        "find");
  for (const std::size_t at : {std::size_t{0}, n / 2, n - 1})
    check(
        std::find_if(policy, v.begin(), v.end(), [&](const unsigned &i) { return &i >= &v[at]; }) ==
            v.begin() + static_cast<long>(at),
        "find_if returns the first");
  check(std::any_of(policy, v.begin(), v.end(), [&](unsigned i) { return i == v[n - 1]; }),
        "any_of");
  check(!std::any_of(policy, v.begin(), v.end(), [](unsigned i) { return i > 400'000; }), "any_of");
  check(std::all_of(policy, v.begin(), v.end(), [](unsigned i) { return i < 400'000; }), "all_of");
  check(std::none_of(policy, v.begin(), v.end(), [](unsigned i) { return i > 400'000; }),
        "none_of");
  check(std::equal(policy, v.begin(), v.end(), numbers(n).begin()), "equal");
  check(std::is_partitioned(policy, v.begin(), v.end(), [](unsigned i) { return i < 400'000; }),
        "is_partitioned");
}

template <class Policy>
void sums(Policy &&policy, std::size_t n) {
  const std::vector<unsigned> v = numbers(n);
  check(std::reduce(policy, v.begin(), v.end(), 7ul) == std::accumulate(v.begin(), v.end(), 7ul),
        "reduce");
  const std::vector<unsigned long> wide(v.begin(), v.end()); // sums of products may be formed first
  check(std::transform_reduce(policy, wide.begin(), wide.end(), wide.begin(), 1ul) ==
            std::inner_product(wide.begin(), wide.end(), wide.begin(), 1ul),
        "transform_reduce of two");
  check(std::transform_reduce(
            policy, v.begin(), v.end(), std::string(),
            [](std::string a, const std::string &b) { return a.size() > b.size() ? a : b; },
            [](unsigned i) {
              return std::string(i % 40, 'x');
            }).size() == (n > 40 ? 39u : *std::max_element(v.begin(), v.end()) % 40),
        "transform_reduce with a value that has a destructor");
}

template <class Policy>
void orders(Policy &&policy, std::size_t n) {
  using pair = std::pair<unsigned, std::size_t>;
  std::vector<pair> v(n);
  for (std::size_t i = 0; i != n; ++i)
    v[i] = {static_cast<unsigned>(i * 7919ul % 97), i};
  std::vector<pair> x = v, y = v;
  const auto by_key = [](const pair &a, const pair &b) { return a.first < b.first; };
  std::stable_sort(policy, x.begin(), x.end(), by_key);
  std::stable_sort(y.begin(), y.end(), by_key);
  check(x == y, "stable_sort");
  x = v;
  std::sort(policy, x.begin(), x.end(), std::greater<>());
  std::sort(y.begin(), y.end(), std::greater<>());
  check(x == y, "sort");
  std::vector<std::string> words(n / 10 + 1);
  for (std::size_t i = 0; i != words.size(); ++i)
    words[i] = std::to_string(i * 7919 % 300'007) + " is longer than what fits in place";
  auto sorted = words;
  std::sort(policy, words.begin(), words.end());
  std::sort(sorted.begin(), sorted.end());
  check(words == sorted, "sort of strings");
  std::vector<unsigned> a = numbers(n), b = numbers(n / 2), merged(a.size() + b.size()),
                        all = merged;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::merge(policy, a.begin(), a.end(), b.begin(), b.end(), merged.begin());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), all.begin());
  check(merged == all, "merge");
}

template <class Policy>
void all(Policy &&policy) {
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{2}, std::size_t{1000}, std::size_t{300'000}}) {
    loops(policy, n);
    searches(policy, n);
    sums(policy, n);
    orders(policy, n);
  }
  std::vector<int> none;
  std::for_each(policy, none.begin(), none.end(), [](int) { check(false, "an empty range"); });
  std::sort(policy, none.begin(), none.end());
  check(std::reduce(policy, none.begin(), none.end(), 5) == 5, "reduce of nothing");
  std::list<int> list(1000, 1);
  std::for_each(policy, list.begin(), list.end(), [](int &i) { i = 2; });
  check(std::reduce(policy, list.begin(), list.end(), 0) == 2000, "a list");
}

/// Two iterations that wait for each other run on two threads.
void takes_part() {
  std::atomic<int> here{0};
  std::vector<int> v(64, 0);
  std::set<std::thread::id> threads;
  std::mutex lock;
  const char *const workers = std::getenv("WEFT_WORKERS");
  const unsigned least = !workers || std::string(workers) == "1" ? 1 : 2;
  int rounds = 0;
  do // on a full machine a worker may get no processor during one loop
    std::for_each(std::execution::par, v.begin(), v.end(), [&](int &) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard held(lock);
      threads.insert(std::this_thread::get_id());
      ++here;
    });
  while (++rounds < 100 && threads.size() < least);
  check(here == 64 * rounds, "all iterations run");
  check(threads.size() >= least, "workers take part");
}

/// An exception in an element function ends the program.
void ends_by_an_exception() {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<int> v(100'000, 0);
    std::set_terminate([] { std::_Exit(42); });
    try {
      std::for_each(std::execution::par, v.begin(), v.end(), [&](int &i) {
        if (&i == &v[77'777])
          throw std::runtime_error("not caught");
      });
    } catch (...) {
    }
    std::_Exit(0);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42,
        "an exception ends the program");
}

} // namespace

int main() {
  ends_by_an_exception(); // before Weft has threads
  all(std::execution::seq);
  all(std::execution::unseq);
  all(std::execution::par);
  all(std::execution::par_unseq);
  takes_part();
  return 0;
}
