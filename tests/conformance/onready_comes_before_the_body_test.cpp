// SPDX-License-Identifier: Apache-2.0
// Promise: the onready function is called once, when the accesses allow the task to run, and before its body.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <vector>

namespace {

struct log_of_events {
  std::vector<char> events;
};

TEST(onready, comes_before_the_body_and_after_what_the_task_waits_for) {
  log_of_events log;
  int x = 0;
  weft::spawn(
      [&] {
        test::dawdle();
        log.events.push_back('p');
      },
      weft::out(x));
  weft::spawn(
      [&] { log.events.push_back('b'); }, weft::in(x),
      weft::onready([](void *p) { static_cast<log_of_events *>(p)->events.push_back('r'); }, &log));
  weft::taskwait();
  EXPECT_EQ(log.events, (std::vector<char>{'p', 'r', 'b'}));
}

} // namespace
