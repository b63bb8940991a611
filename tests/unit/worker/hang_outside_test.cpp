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

/// Waits on a thread that never uses Weft.
template <class Condition>
void await(Condition condition) {
  for (int i = 0; !condition(); ++i, std::this_thread::sleep_for(1ms))
    must(i != 60'000);
}
/// Waits so until the watcher has examined so often.
void examined(std::uint64_t times) {
  await([=] { return the_runtime().hangs.examinations() >= times; });
}
/// Waits so until so many walks of all tasks have found nothing to report.
void walked(std::uint64_t times) {
  await([=] { return the_runtime().hangs.fruitless_walks() >= times; });
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

// ---- how often all tasks are walked

TEST(hang_outside, the_same_waits_are_walked_once) {
  const auto end = test::in_process(settings_of("report", "5ms"), [] {
    weft::start();
    weft::event ends;
    std::thread other([&] {
      walked(1);
      examined(the_runtime().hangs.examinations() + 3); // nothing has gone on since
      const auto before = the_runtime().hangs.fruitless_walks();
      examined(the_runtime().hangs.examinations() + 5);
      EXPECT_EQ(the_runtime().hangs.fruitless_walks(), before);
      ends.set();
    });
    weft::spawn([&] { ends.wait(); });
    weft::taskwait();
    other.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang_outside, walks_take_a_small_part_of_the_time) {
  const auto end = test::in_process(settings_of("report", "1ms"), [] {
    weft::start();
    const std::uint64_t begin = weft::rt::now_ns();
    int x = 0;
    weft::event ends;
    weft::counting_semaphore<> requests(0);
    std::atomic<bool> over{false};
    weft::spawn([&] { ends.wait(); }, weft::inout(x));
    for (int i = 0; i != 500; ++i)
      weft::spawn([] {}, weft::inout(x));
    weft::spawn([&] {
      while (!over)
        requests.acquire();
    });
    std::thread other([&] {
      auto &hangs = the_runtime().hangs;
      std::uint64_t of_two = 0;
      for (std::uint64_t walks = 0; walks < 3;) {
        const std::uint64_t spent = hangs.fruitless_ns();
        walks = hangs.fruitless_walks();
        if (walks == 2)
          of_two = spent;
        requests.release(); // so that the next walk would find something else
        std::this_thread::sleep_for(2ms);
      }
      EXPECT_GE(weft::rt::now_ns() - begin, 64 * of_two);
      over = true;
      requests.release();
      ends.set();
    });
    weft::taskwait();
    other.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

} // namespace
