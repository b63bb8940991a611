// SPDX-License-Identifier: Apache-2.0
// Coroutines: lazy tasks, eager futures, waits without a stack, and data flow between coroutines.
#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace {

struct tree {
  int value;
  std::unique_ptr<tree> left, right;
};

weft::task<int> sum(const tree *t) {
  if (!t)
    co_return 0;
  const int left = co_await sum(t->left.get());
  const int right = co_await sum(t->right.get());
  co_return t->value + left + right;
}

weft::task<int> sum_by_two(const tree *t) {
  weft::future<int> left = weft::async(sum(t->left.get()));
  const int right = co_await sum(t->right.get());
  co_return t->value + right + co_await left;
}

std::unique_ptr<tree> grow(int depth) {
  if (depth == 0)
    return nullptr;
  return std::make_unique<tree>(tree{1, grow(depth - 1), grow(depth - 1)});
}

// begins at once, in the caller
weft::future<std::string> greet(weft::future<std::string> name) {
  co_return "hello " + co_await name;
}

weft::task<void> produce(weft::channel<int> &numbers) {
  for (int i = 1; i <= 100; ++i)
    (void)co_await numbers.async_push(i);
  numbers.close();
}

weft::task<long> consume(weft::channel<int> &numbers) {
  long all = 0;
  while (auto n = co_await numbers.async_pop())
    all += *n;
  co_return all;
}

weft::task<bool> in_time(weft::event &arrived, std::chrono::steady_clock::time_point end) {
  co_return co_await arrived.async_wait_until(end); // false: it was not set in time
}

} // namespace

int main() {
  const auto grown = grow(10);
  const int nodes = sum(grown.get()).get(); // from plain code: runs as a task, and waits
  std::printf("%d nodes, %d\n", nodes, sum_by_two(grown.get()).get());

  weft::promise<std::string> name;
  weft::future<std::string> text = greet(name.get_future());
  name.set_value("weft");
  std::printf("%s\n", text.get().c_str());

  weft::channel<int> numbers(4);
  weft::task_group group;
  group.spawn(produce(numbers));
  const auto total = weft::async(consume(numbers)).get();
  group.wait();
  std::printf("%ld\n", total);

  int stored = 0, seen = 0;
  weft::event ready;
  weft::spawn(
      [&]() -> weft::task<void> {
        co_await ready.async_wait(); // no stack waits; `stored` stays the task's until it ends
        stored = 7;
      },
      weft::out(stored));
  weft::spawn([&] { seen = stored; }, weft::in(stored));
  ready.set();
  weft::taskwait();
  weft::event never;
  const auto now = std::chrono::steady_clock::now();
  if (in_time(never, now).get() || !in_time(ready, now).get())
    return 1;

  weft::mutex m;
  weft::condition_variable changed;
  bool done = false;
  auto waiter = weft::async([&]() -> weft::task<int> {
    co_await m.async_lock();
    std::unique_lock lock(m, std::adopt_lock);
    co_await weft::async_wait(changed, lock, [&] { return done; });
    co_return 1;
  });
  {
    const std::lock_guard here(m);
    done = true;
  }
  changed.notify_all();
  return waiter.get() == 1 && seen == 7 && nodes == 1023 && total == 5050 ? 0 : 1;
}
