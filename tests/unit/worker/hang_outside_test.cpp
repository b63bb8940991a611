// SPDX-License-Identifier: Apache-2.0
// What others than tasks may still do keeps a report back: time, stop requests, policies, threads of
// the program. The report comes when they can do nothing any more; until then the watcher seldom
// walks all tasks.
#include "base/clock.hpp"
#include "os/thread_state.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"
#include "unit/worker/hang_corpus.hpp"
#include "worker/runtime.hpp"

#include <weft/coro.hpp>
#include <weft/future.hpp>
#include <weft/sync.hpp>
#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
using test::must;
using weft::rt::the_runtime;

test::environment settings_of(const char *hang, const char *patience) {
  return {{"WEFT_WORKERS", "2"},
          {"WEFT_POLL_SLOW", "off"},
          {"WEFT_WATCH_HANG", hang},
          {"WEFT_WATCH_PATIENCE", patience}};
}

/// Two tasks that hold one mutex each and wait for the other's. Returns when they have these.
template <int Which>
void spawn_a_circle() {
  static weft::mutex a, b;
  static weft::event first, second;
  weft::spawn([] { a.lock(), first.set(), second.wait(), b.lock(); }, weft::label("left"));
  weft::spawn([] { b.lock(), second.set(), first.wait(), a.lock(); }, weft::label("right"));
  first.wait(), second.wait();
}

// ---- time

TEST(hang_outside, a_circle_is_reported_when_the_timed_wait_of_a_thread_is_over) {
  const auto end = test::in_process(settings_of("abort", "20ms"), [] {
    weft::start();
    std::thread([] {
      static weft::event never;
      EXPECT_FALSE(never.wait_for(400ms));
    }).detach();
    spawn_a_circle<0>();
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
}

TEST(hang_outside, a_circle_is_reported_when_the_last_service_is_gone) {
  const auto end = test::in_process(settings_of("abort", "20ms"), [] {
    weft::start();
    std::thread([] {
      const weft::service s(
          "idles", weft::poll_point::idle, [](void *) { return false; }, nullptr);
      std::this_thread::sleep_for(400ms);
    }).detach();
    spawn_a_circle<0>();
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
}

} // namespace
