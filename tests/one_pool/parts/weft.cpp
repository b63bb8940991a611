// SPDX-License-Identifier: Apache-2.0
// links: weft::weft
#include "../part.hpp"

#include <weft/weft.hpp>

namespace {

void loop(int n, one_pool::body b) {
  weft::taskfor(weft::range(n), [&](int i) { b(i); }, weft::grain_size(1));
}

void tasks(int n, one_pool::body b) {
  weft::task_group group;
  for (int i = 0; i < n; ++i)
    group.spawn([&b, i] { b(i); });
  group.wait();
}

void until(int n, one_pool::body b) {
  weft::task_group group;
  for (int i = 0; i < n; ++i)
    group.spawn([&group, &b, i] {
      if (b(i))
        group.cancel();
    });
  group.wait();
}

} // namespace

ONE_POOL_PART one_pool_weft{"Weft", one_pool::place::task, nullptr, nullptr, nullptr, &loop, &tasks,
                            &until};
