// SPDX-License-Identifier: Apache-2.0
// Weft starts on first use, also in the constructor of a static object, also where it is linked statically.
#include <weft/weft.hpp>

#include <cstdio>

namespace {

int sum_by_tasks() {
  int x = 0;
  for (int i = 0; i != 100; ++i)
    weft::spawn([&] { ++x; }, weft::inout(x));
  weft::join([] { weft::critical([] {}); }, [] { weft::taskyield(); });
  weft::taskwait();
  return x;
}

const int g_before_main = sum_by_tasks();
weft::mutex g_mutex;

} // namespace

int main() {
  g_mutex.lock();
  const int in_main = sum_by_tasks();
  g_mutex.unlock();
  std::printf("%d before main, %d in main, on worker %d\n", g_before_main, in_main,
              weft::worker_id());
  return g_before_main == 100 && in_main == 100 && weft::worker_id() == 0 ? 0 : 1;
}
