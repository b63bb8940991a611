// SPDX-License-Identifier: Apache-2.0
// Awaits of ready children, of ready futures, and calls that nest deeply, on the stack of a task. Compiled without
// optimisation: neither the depth of the stack nor the size of a frame may depend on the number of awaits.
#include <weft/coro.hpp>
#include <weft/weft.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

weft::task<long> child(long n) { co_return n; }

weft::task<long> awaits_children(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i)
    sum += co_await child(1);
  co_return sum;
}

weft::task<long> throws(long n) {
  if (n >= 0)
    throw n;
  co_return n;
}

weft::task<long> awaits_failures(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i)
    try {
      co_await throws(1);
    } catch (long n) {
      sum += n;
    }
  co_return sum;
}

weft::task<long> awaits_futures(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i)
    sum += co_await weft::make_ready_future(1l);
  co_return sum;
}

weft::task<long> nests(long depth) {
  if (depth == 0)
    co_return 0;
  co_return 1 + co_await nests(depth - 1);
}

weft::task<long> waits(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    co_await weft::this_task::async_yield();
    ++sum;
  }
  co_return sum;
}

void check(const char *what, weft::task<long> t, long expected) {
  const long result = t.get();
  if (result == expected)
    return;
  std::fprintf(stderr, "%s: %ld, not %ld\n", what, result, expected);
  std::exit(1);
}

} // namespace

int main(int, char **argv) {
  const long rounds = std::atol(argv[1]);
  check("children", awaits_children(rounds), rounds);
  check("failures", awaits_failures(rounds / 100), rounds / 100);
  check("futures", awaits_futures(rounds / 10), rounds / 10);
  check("calls", nests(rounds / 100), rounds / 100);
  check("suspensions", waits(rounds / 100), rounds / 100);
}
