// SPDX-License-Identifier: Apache-2.0
// Promise: functions of one stream run one after another in the order of their spawns, from whatever thread, and each tells that it is
// complete.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

struct note {
  std::vector<int> *to;
  int what;
  std::atomic<int> *completed;
};

TEST(stream, keeps_its_order) {
  constexpr int n = 100;
  std::vector<int> order;
  std::atomic<int> completed{0};
  std::vector<note> notes;
  for (int i = 0; i != n; ++i)
    notes.push_back({&order, i, &completed});
  std::thread([&] {
    weft::function_stream in_order("notes");
    weft::function_options options;
    options.in = &in_order;
    for (note &x : notes)
      weft::spawn_function(
          [](void *p) {
            weft::taskyield();
            static_cast<note *>(p)->to->push_back(static_cast<note *>(p)->what);
          },
          &x, [](void *p) { ++*static_cast<note *>(p)->completed; }, &x, options);
    in_order.wait();
    EXPECT_EQ(completed, n);
  }).join();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(n));
  for (int i = 0; i != n; ++i)
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

} // namespace
