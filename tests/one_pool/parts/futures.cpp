// SPDX-License-Identifier: Apache-2.0
// links: weft::weft
// A future per index, waited for one by one, and futures under `when_all` with a continuation behind.
#include "../in_own_task.hpp"
#include "../part.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <stop_token>
#include <vector>

namespace {

void wait_one_by_one(int n, one_pool::body b) {
  std::vector<weft::future<void>> all;
  for (int i = 0; i < n; ++i)
    all.push_back(weft::async([&b, i] { b(i); }));
  one_pool::kept_exception kept;
  for (auto &f : all)
    kept.run([&] { f.get(); });
  kept.rethrow();
}

void wait_for_all(int n, one_pool::body b) {
  std::vector<weft::future<void>> all;
  for (int i = 0; i < n; ++i)
    all.push_back(weft::async([] {}).then([&b, i](weft::future<void>) { b(i); }));
  one_pool::kept_exception kept;
  for (auto &f : weft::when_all(all.begin(), all.end()).get())
    kept.run([&] { f.get(); });
  kept.rethrow();
}

void stop_at_hit(int n, one_pool::body b) {
  std::stop_source stop;
  std::vector<weft::future<void>> all;
  for (int i = 0; i < n; ++i)
    all.push_back(weft::async([&, i, token = stop.get_token()] {
      if (!token.stop_requested() && b(i))
        stop.request_stop();
    }));
  for (auto &f : all)
    f.get();
}

void loop(int n, one_pool::body b) {
  one_pool::in_own_task([&] { wait_one_by_one(n, b); });
}
void tasks(int n, one_pool::body b) {
  one_pool::in_own_task([&] { wait_for_all(n, b); });
}
void until(int n, one_pool::body b) {
  one_pool::in_own_task([&] { stop_at_hit(n, b); });
}

} // namespace

ONE_POOL_PART one_pool_futures{"futures", one_pool::place::task, nullptr, nullptr, nullptr, &loop,
                               &tasks,    &until};
