// SPDX-License-Identifier: Apache-2.0
// Futures: results, continuations, several at once, and data flow beside them.
#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

int failures = 0;
void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    ++failures;
  }
}

int fib(int n) {
  if (n < 2)
    return n;
  weft::future<int> a = weft::async(fib, n - 1);
  const int b = fib(n - 2);
  return a.get() + b; // runs fib(n - 1) here if no other worker has begun it
}

void continuations() {
  weft::future<std::string> text = weft::async([] { return 6; })
                                       .then([](int x) { return 7 * x; })
                                       .then([](int x) { return std::to_string(x); });
  expect(text.get() == "42", "text");

  weft::future<int> risky = weft::async([]() -> int { throw std::runtime_error("no luck"); });
  weft::future<int> safe = risky.then([](weft::future<int> before) {
    try {
      return before.get();
    } catch (const std::runtime_error &) {
      return -1;
    }
  });
  expect(safe.get() == -1, "safe");
}

void promises() {
  weft::promise<int> answer;
  weft::future<int> asked = answer.get_future();
  std::thread device([&answer] { answer.set_value(42); }); // a thread that does not use Weft
  expect(asked.get() == 42, "answer");
  device.join();
}

void several() {
  std::vector<weft::future<int>> parts;
  for (int i = 0; i != 10; ++i)
    parts.push_back(weft::async([i] { return i * i; }));
  weft::future<int> sum = weft::dataflow(weft::unwrapping([](const std::vector<int> &all) {
                                           int s = 0;
                                           for (int each : all)
                                             s += each;
                                           return s;
                                         }),
                                         std::move(parts));
  expect(sum.get() == 285, "sum");

  auto first = weft::when_any(weft::async([] { return 1; }), weft::async([] { return 2; })).get();
  expect(first.index < 2, "first");
}

void data_flow() {
  double x = 0, y = 0;
  weft::promise<double> measured;
  weft::future<double> value = measured.get_future();
  weft::spawn([&] { x = 2; }, weft::out(x));
  weft::future<double> scaled =
      value.then([&](double v) { return y = v * x; }, weft::in(x), weft::out(y));
  weft::spawn([&] { y += 1; }, weft::inout(y)); // after the continuation
  measured.set_value(3);
  expect(scaled.get() == 6, "scaled");
  weft::taskwait();
  expect(y == 7, "y");
}

void deferred() {
  weft::future<int> lazy = weft::async(weft::launch::deferred, [] { return 1; });
  expect(lazy.wait_for(std::chrono::seconds(1)) == weft::future_status::deferred, "not started");
  expect(lazy.get() == 1, "lazy");
}

} // namespace

int main() {
  weft::spawn([] { expect(fib(15) == 610, "fib"); });
  weft::taskwait();
  continuations();
  promises();
  several();
  data_flow();
  deferred();
  std::puts(failures == 0 ? "all right" : "failed");
  return failures;
}
