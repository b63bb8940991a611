// SPDX-License-Identifier: Apache-2.0
// Where a worker looks for work before it takes itself for idle.
#include "support/case_process.hpp"
#include "worker/runtime.hpp"

#include <weft/weft.hpp>

namespace {

using namespace weft::rt;

/// Children are counted together and told to their parent when nothing else is to be done: what follows the parent is found then, and not
/// by a worker that has gone idle, which costs microseconds.
TEST(search, finds_what_follows_a_parent_whose_last_children_it_has_run) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    int x = 0, steps = 0, children = 0;
    for (int i = 0; i != 1000; ++i)
      weft::spawn(
          [&] {
            ++steps;
            for (int k = 0; k != 4; ++k)
              weft::spawn([&] { ++children; });
          },
          weft::inout(x), weft::wait);
    weft::taskwait();
    EXPECT_EQ(steps, 1000);
    EXPECT_EQ(children, 4000);
    EXPECT_LE(peek(this_worker().counts->misses), 20u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
