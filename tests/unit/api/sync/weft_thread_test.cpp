// SPDX-License-Identifier: Apache-2.0
// weft::thread and weft::jthread.
#include <weft/sync.hpp>
#include <weft/thread.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

std::errc code_of(auto call) {
  try {
    call();
  } catch (const std::system_error &e) {
    return static_cast<std::errc>(e.code().value());
  }
  return {};
}

TEST(weft_thread, runs_its_function_with_copies_of_the_arguments) {
  int sum = 0;
  auto owned = std::make_unique<int>(3);
  weft::thread t([&](int a, int &b, std::unique_ptr<int> c) { b = a + *c; }, 4, std::ref(sum),
                 std::move(owned));
  EXPECT_TRUE(t.joinable());
  EXPECT_NE(t.get_id(), weft::thread::id());
  t.join();
  EXPECT_EQ(sum, 7);
  EXPECT_FALSE(t.joinable());
  EXPECT_EQ(t.get_id(), weft::thread::id());
}

TEST(weft_thread, destroys_its_arguments_before_a_join_returns) {
  auto shared = std::make_shared<int>(1);
  weft::thread t([](std::shared_ptr<int>) {}, shared);
  t.join();
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(weft_thread, is_no_child_of_the_task_that_starts_it) {
  weft::event go;
  std::atomic<bool> ended{false};
  weft::thread t;
  weft::spawn([&] {
    t = weft::thread([&] {
      go.wait();
      ended = true;
    });
    weft::taskwait();
  });
  weft::taskwait(); // returns, although the thread waits
  EXPECT_FALSE(ended);
  go.set();
  t.join();
  EXPECT_TRUE(ended);
}

TEST(weft_thread, many_suspend_and_end) {
  std::atomic<int> n{0};
  weft::latch all(200);
  std::vector<weft::thread> threads;
  for (int i = 0; i != 200; ++i)
    threads.emplace_back([&] {
      all.arrive_and_wait(); // all are alive at once
      ++n;
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(n, 200);
  std::thread outside([&] { weft::thread([&] { ++n; }).join(); });
  outside.join();
  EXPECT_EQ(n, 201);
  EXPECT_EQ(weft::thread::hardware_concurrency(), static_cast<unsigned>(weft::worker_count()));
}

TEST(weft_thread, has_a_name_of_its_own) {
  std::unordered_set<weft::thread::id> ids{weft::this_thread::get_id()};
  weft::spawn([&] { ids.insert(weft::this_thread::get_id()); });
  weft::taskwait();
  EXPECT_EQ(ids.size(), 2u);
  weft::thread::id inside;
  weft::thread t([&] {
    inside = weft::this_thread::get_id();
    weft::this_thread::sleep_for(std::chrono::microseconds(20));
    weft::this_thread::yield();
    weft::this_thread::sleep_until(std::chrono::steady_clock::now());
    EXPECT_EQ(inside, weft::this_thread::get_id());
  });
  const weft::thread::id name = t.get_id();
  ids.insert(name);
  t.join();
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(inside, name);
  std::ostringstream out;
  out << name;
  EXPECT_EQ(out.str(), std::to_string(name.number()));
  EXPECT_TRUE(weft::thread::id() < name);
}

TEST(weft_thread, refuses_what_std_thread_refuses) {
  weft::thread none;
  EXPECT_EQ(code_of([&] { none.join(); }), std::errc::invalid_argument);
  EXPECT_EQ(code_of([&] { none.detach(); }), std::errc::invalid_argument);
  weft::thread self;
  weft::event known, tried;
  std::errc joined{};
  self = weft::thread([&] {
    known.wait();
    joined = code_of([&] { self.join(); });
    tried.set();
  });
  known.set();
  tried.wait();
  EXPECT_EQ(joined, std::errc::resource_deadlock_would_occur);
  weft::thread moved(std::move(self));
  EXPECT_FALSE(self.joinable()); // NOLINT: what a moved object is
  self.swap(moved);
  swap(self, moved);
  moved.join();
}

TEST(weft_thread_death, ends_the_program_where_std_thread_does) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH({ const weft::thread left([] {}); }, "terminate");
  EXPECT_DEATH(weft::thread([] { throw 1; }).join(), "terminate");
  EXPECT_DEATH(
      {
        weft::thread t([] {});
        t = weft::thread([] {});
      },
      "terminate");
}

TEST(weft_thread, a_detached_one_goes_on) {
  auto ended = std::make_shared<weft::event>();
  weft::thread t([ended] { ended->set(); });
  t.detach();
  EXPECT_FALSE(t.joinable());
  ended->wait();
}

TEST(weft_jthread, requests_a_stop_and_joins) {
  std::atomic<bool> stopped{false};
  weft::binary_semaphore never(0);
  {
    weft::jthread t([&](std::stop_token stop, int) { stopped = !never.acquire(stop); }, 1);
    EXPECT_TRUE(t.joinable());
    EXPECT_TRUE(t.get_stop_token().stop_possible());
  }
  EXPECT_TRUE(stopped);
  int runs = 0;
  {
    weft::jthread t([&] { ++runs; });
    weft::jthread other;
    EXPECT_FALSE(other.get_stop_token().stop_possible());
    other = std::move(t);
    EXPECT_TRUE(other.request_stop());
    EXPECT_FALSE(other.get_stop_source().request_stop());
  }
  EXPECT_EQ(runs, 1);
}

} // namespace
