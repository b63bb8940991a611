// SPDX-License-Identifier: Apache-2.0
// TBB inside of Weft's tasks, and Weft's tasks inside of TBB's.
#include "door.hpp"
#include "sums.hpp"

#include <atomic>
#include <functional>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <weft/weft.hpp>

int main() {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<std::size_t>(door::threads_asked()));
  long value = 0;
  std::atomic<int> wrong{0}, ran{0};
  for (int i = 0; i < 100; ++i) {
    weft::spawn(
        [&, i] {
          wrong += sum_by_tbb(1000 + i) != (1000L + i) * (999 + i) / 2;
          value += i;
        },
        weft::inout(value));
    weft::spawn([&] { wrong += sum_by_tbb(3000) != 3000L * 2999 / 2; });
  }
  weft::taskwait();
  CHECK(wrong == 0 && value == 99 * 100 / 2);
  tbb::parallel_for(0, 100, [&](int) {
    weft::task_group g;
    for (int i = 0; i < 5; ++i)
      g.spawn([&] { ++ran; });
    g.wait();
  });
  CHECK(ran == 500);
  door::check_threads();
  std::puts("with_weft: ok");
}
