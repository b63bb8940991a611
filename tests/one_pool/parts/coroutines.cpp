// SPDX-License-Identifier: Apache-2.0
// links: weft::weft
// One coroutine that awaits an eager coroutine per index, and a spawned coroutine per index.
#include "../in_own_task.hpp"
#include "../part.hpp"

#include <weft/coro.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <utility>
#include <vector>

namespace {

weft::task<> one(const one_pool::body &b, int i) {
  co_await weft::this_task::async_yield();
  b(i);
}

weft::future<void> eager(const one_pool::body &b, int i) {
  co_await weft::this_task::async_yield();
  b(i);
}

weft::task<> all_of(int n, const one_pool::body &b) {
  std::vector<weft::future<void>> running;
  for (int i = 0; i < n; ++i)
    running.push_back(eager(b, i));
  one_pool::kept_exception kept;
  for (auto &f : running) {
    try {
      co_await std::move(f);
    } catch (...) {
      kept.run([] { throw; });
    }
  }
  kept.rethrow();
}

void loop(int n, one_pool::body b) {
  one_pool::in_own_task([&] { all_of(n, b).get(); });
}

void tasks(int n, one_pool::body b) {
  weft::task_group group;
  for (int i = 0; i < n; ++i)
    group.spawn(one(b, i));
  group.wait();
}

weft::task<> unless_over(const one_pool::body &b, int i, std::atomic<bool> &over) {
  co_await weft::this_task::async_yield();
  if (!over.load() && b(i))
    over.store(true);
}

void until(int n, one_pool::body b) {
  std::atomic<bool> over{false};
  weft::task_group group;
  for (int i = 0; i < n; ++i)
    group.spawn(unless_over(b, i, over));
  group.wait();
}

} // namespace

ONE_POOL_PART one_pool_coroutines{"coroutines", one_pool::place::task, nullptr, nullptr, nullptr, &loop,
                                  &tasks,       &until};
