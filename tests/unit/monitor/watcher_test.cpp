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
  alignas(8) std::uint32_t rung = 0;
  std::atomic<int> answered{0};
  bool is_shared = false;
  shared_word bell() const override { return is_shared ? shared_word{&rung, 0} : shared_word{}; }
  void answer() override {
    if (__atomic_exchange_n(&rung, 0, __ATOMIC_ACQUIRE))
      ++answered;
  }
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

/// Says whether the kernel can wait for two words; it could not before Linux 5.16.
bool waits_for_two_words() {
  std::atomic<std::uint32_t> own{0};
  const std::uint32_t changed = 1;
  const std::uint64_t deadline = now_ns() + 1'000'000'000;
  static_cast<void>(
      os_futex_wait_either(own, 0, static_cast<std::int64_t>(deadline), {&changed, 0}));
  return now_ns() < deadline;
}

TEST_F(watcher_alone, answers_another_process_while_it_rests) {
  if (!waits_for_two_words())
    GTEST_SKIP() << "this kernel does not wait for two words";
  world.is_shared = true;
  ASSERT_EQ(w.start(), 0);
  for (int i = 1; i != 4; ++i) {
    rests(); // without an end of its own
    __atomic_store_n(&world.rung, 1, __ATOMIC_RELEASE);
    os_futex_wake_shared(&world.rung);
    while (world.answered < i)
      os_yield();
  }
  w.stop();
  EXPECT_EQ(world.answered, 3);
}

TEST_F(watcher_alone, a_wait_for_two_words_ends_by_either_and_at_its_deadline) {
  std::atomic<std::uint32_t> own{1};
  std::uint32_t other = 0;
  EXPECT_TRUE(os_futex_wait_either(own, 0, 0, {&other, 0})) << "the first has changed";
  EXPECT_TRUE(os_futex_wait_either(own, 0, 0, {})) << "there is no other";
  own = 0;
  const std::uint64_t begin = now_ns();
  EXPECT_FALSE(
      os_futex_wait_either(own, 0, static_cast<std::int64_t>(begin + 2'000'000), {&other, 0}));
  EXPECT_GE(now_ns(), begin + 2'000'000) << "the deadline ends it, not less";
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
