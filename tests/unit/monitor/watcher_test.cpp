// SPDX-License-Identifier: Apache-2.0
// The watcher alone, in a world where nothing happens.
#include "base/clock.hpp"
#include "monitor/watcher.hpp"
#include "os/thread_state.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace weft::rt;

struct desert final : watched {
  std::atomic<int> examined{0}, tid{0};
  unsigned slots() const override { return 0; }
  bool read(unsigned, reading &) const override { return false; }
  bool any_worker_searches() const override { return false; }
  bool work_waits() const override { return false; }
  bool chores_wait() const override { return false; }
  std::uint64_t cpu_ns(int) const override { return 0; }
  bool sleeps(int) const override { return false; }
  void publish() override { tid = gettid(); }
  unsigned spares() const override { return 0; }
  bool add_spare() override { return false; }
  void retire_spare(unsigned) override {}
  external_list<weft::layer::external_thread> externals;
  external_list<weft::layer::external_thread> &external_threads() override { return externals; }
  bool examine() override { return ++examined, false; }
};

struct watcher_alone : testing::Test {
  desert world;
  eventcount<> idle{1};
  watcher w{world, idle, 0, 50'000'000, 50'000'000};
  /// Until it has looked for the last time and sleeps.
  void rests() {
    while (!idle.announced(0) || !thread_sleeps(world.tid))
      os_yield();
  }
};

TEST_F(watcher_alone, is_stopped_while_it_rests) {
  ASSERT_EQ(w.start(), 0);
  rests();
  w.stop(); // would not return
  EXPECT_EQ(idle.idle(), 0u);
}

TEST_F(watcher_alone, examines_when_it_is_asked_while_it_rests) {
  ASSERT_EQ(w.start(), 0);
  for (int i = 1; i != 4; ++i) {
    rests();
    w.examine_soon();
    while (world.examined < i)
      os_yield();
  }
  w.stop();
  EXPECT_EQ(world.examined, 3);
}

TEST_F(watcher_alone, looks_seldom_however_often_pool_threads_change) {
  ASSERT_EQ(w.start(), 0);
  rests();
  const std::uint64_t looks = w.looks(), begin = now_ns();
  for (std::uint64_t last = looks; now_ns() - begin < 100'000'000 || last < looks + 3;
       last = w.looks())
    w.pool_threads_have_changed();
  const std::uint64_t most = (now_ns() - begin) / 200'000 + 2; // a fifth of a millisecond apart
  EXPECT_LE(w.looks() - looks, most);
  w.stop();
}

} // namespace
