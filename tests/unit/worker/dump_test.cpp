// SPDX-License-Identifier: Apache-2.0
// A program that runs tells what lives when it is asked, and goes on.
#include "observe/segment.hpp"
#include "observe/store.hpp"
#include "os/file.hpp"
#include "support/case_process.hpp"
#include "support/soon.hpp"
#include "support/text.hpp"
#include "worker/runtime.hpp"
#include "worker/safepoint.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

using namespace weft::rt;
using namespace std::chrono_literals;
using test::contains;
using test::soon;

/// What the program has left for the request; empty when it did not answer.
std::string asked() {
  static std::uint64_t ticket = 0;
  segment_request &r = store_request();
  __atomic_store_n(&r.asked, ++ticket, __ATOMIC_RELEASE);
  for (int i = 0; i < 6000; ++i, std::this_thread::sleep_for(5ms))
    if (__atomic_load_n(&r.answered, __ATOMIC_ACQUIRE) == ticket)
      return read_file(segment_path(getpid()) + ".waits").value_or("");
  return "";
}

TEST(dump, shows_what_is_ready_and_what_waits_while_tasks_run) {
  for (const char *policy : {"stealing", "central"}) {
    const auto end = test::in_process(
        {{"WEFT_WORKERS", "2"}, {"WEFT_SCHED_POLICY", policy}, {"WEFT_WATCH_HANG", "report"}}, [] {
          weft::start();
          static int x;
          std::atomic<bool> enough{false};
          std::atomic<long> ran{0};
          long spawned = 0;
          std::string seen;
          std::thread other([&] {
            EXPECT_TRUE(soon([&] {
              seen = asked();
              return contains(seen, "\tbehind\n") && contains(seen, "\tbegins on worker ") &&
                     contains(seen, "waits, with inout(");
            }));
            enough = true;
          });
          while (!enough) {
            for (int i = 0; i < 100; ++i) {
              weft::spawn([&ran] { std::this_thread::sleep_for(20us), ++ran; },
                          weft::label("free"));
              weft::spawn([&ran] { std::this_thread::sleep_for(100us), ++ran; }, weft::inout(x),
                          weft::label("behind"));
              spawned += 2;
            }
            weft::taskwait();
          }
          other.join();
          EXPECT_TRUE(contains(seen, "\nasked\t")) << seen.substr(0, 2000);
          EXPECT_EQ(ran, spawned);
        });
    EXPECT_TRUE(end.exited(0)) << policy << end;
  }
}

TEST(dump, says_who_does_not_stop) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "report"}}, [] {
    std::atomic<bool> over{false};
    std::atomic<bool> runs{false};
    weft::spawn(
        [&] {
          runs = true;
          while (!over)
            std::this_thread::sleep_for(1ms);
        },
        weft::label("endless"));
    std::string seen;
    std::thread other([&] {
      EXPECT_TRUE(soon([&] { return runs.load(); }));
      seen = asked();
      over = true;
    });
    weft::taskwait();
    other.join();
    EXPECT_TRUE(contains(seen, "note\tworker ")) << seen;
    EXPECT_TRUE(contains(seen, "has begun no task for 500 ms")) << seen;
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i)
      weft::spawn([&ran] { ++ran; });
    weft::taskwait();
    EXPECT_EQ(ran, 100) << "everybody goes on";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(dump, tells_where_a_suspended_task_stands_and_was_spawned) {
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "report"}, {"WEFT_WATCH_SPAWN_SITES", "true"}},
      [] {
        weft::start();
        weft::task_ref blocked;
        std::atomic<bool> known{false};
        weft::spawn(
            [&] {
              blocked = weft::this_task::self();
              known = true;
              weft::this_task::block();
            },
            weft::label("sleeper"));
        std::string seen;
        std::thread other([&] {
          EXPECT_TRUE(soon([&] {
            return known && contains(seen = asked(), "is blocked and can only be unblocked");
          }));
          weft::unblock(blocked);
        });
        weft::taskwait();
        other.join();
        EXPECT_TRUE(contains(seen, "\tspawned by ") && contains(seen, "TestBody")) << seen;
#if !defined(WEFT_CONTEXT_BOOST)
        EXPECT_TRUE(contains(seen, "\nstack\t")) << seen;
#endif
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
