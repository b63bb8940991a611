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

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

/// Says whether Weft cannot know that no thread of the program is left.
bool nobody_left_is_unknown() {
  return test::k_thread_sanitized || weft::rt::process_threads() == 0;
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

// ---- stop requests

/// Tasks that wait for each other until a stop is requested.
struct stoppable {
  const char *name;
  void (*run)(std::stop_token stop); // returns when the stop has ended a wait
  friend std::ostream &operator<<(std::ostream &to, const stoppable &s) { return to << s.name; }
};

std::atomic<int> g_gave_up{0};

void mutexes(std::stop_token stop) {
  static weft::timed_mutex a, b;
  static weft::event first, second;
  const auto both = [=](weft::timed_mutex *one, weft::timed_mutex *other, weft::event *mine,
                        weft::event *his) {
    one->lock(), mine->set(), his->wait();
    if (other->lock(stop))
      other->unlock();
    else
      ++g_gave_up;
    one->unlock();
  };
  weft::spawn([=] { both(&a, &b, &first, &second); });
  weft::spawn([=] { both(&b, &a, &second, &first); });
  weft::taskwait();
}

/// Spawns a task that waits, in body(future), for the result of one that waits for its data.
template <class Body>
void before_its_future(Body body) {
  static int x;
  static weft::future<int> behind;
  static test::gate known;
  weft::spawn([=] { return must(known.pass()), body(&behind); }, weft::out(x));
  behind = weft::spawn([] { return x; }, weft::in(x));
  known.open();
  weft::taskwait();
}
void future_on_a_stack(std::stop_token stop) {
  before_its_future([=](weft::future<int> *behind) {
    try {
      behind->get(stop);
    } catch (const weft::error &) {
      ++g_gave_up;
    }
  });
}
weft::task<void> await_result(weft::future<int> *behind, std::stop_token stop) {
  try {
    co_await weft::async_get(*behind, stop);
  } catch (const weft::error &) {
    ++g_gave_up;
  }
}
void awaited_future(std::stop_token stop) {
  before_its_future([=](weft::future<int> *behind) { return await_result(behind, stop); });
}

void group_on_a_stack(std::stop_token stop) {
  static weft::mutex m;
  weft::spawn([=] {
    weft::task_group g;
    m.lock();
    g.spawn([] { m.lock(), m.unlock(); });
    if (!g.wait(stop))
      ++g_gave_up;
    m.unlock();
    g.wait();
  });
  weft::taskwait();
}
weft::task<void> await_group(weft::mutex *m, std::stop_token stop) {
  weft::task_group g;
  co_await m->async_lock();
  g.spawn([=] { m->lock(), m->unlock(); });
  if (!co_await weft::async_wait(g, stop))
    ++g_gave_up;
  m->unlock();
  co_await weft::async_wait(g);
}
void awaited_group(std::stop_token stop) {
  static weft::mutex m;
  weft::spawn(await_group(&m, stop));
  weft::taskwait();
}

void children_on_a_stack(std::stop_token stop) {
  static weft::mutex m;
  weft::spawn([=] {
    m.lock();
    weft::spawn([] { m.lock(), m.unlock(); });
    if (!weft::taskwait(stop))
      ++g_gave_up;
    m.unlock();
  });
  weft::taskwait();
}
weft::task<void> await_children(weft::mutex *m, std::stop_token stop) {
  co_await m->async_lock();
  weft::spawn([=] { m->lock(), m->unlock(); });
  if (!co_await weft::async_taskwait(stop))
    ++g_gave_up;
  m->unlock();
}
void awaited_children(std::stop_token stop) {
  static weft::mutex m;
  weft::spawn(await_children(&m, stop));
  weft::taskwait();
}

const stoppable k_stoppable[] = {{"mutexes", &mutexes},
                                 {"future_on_a_stack", &future_on_a_stack},
                                 {"awaited_future", &awaited_future},
                                 {"group_on_a_stack", &group_on_a_stack},
                                 {"awaited_group", &awaited_group},
                                 {"children_on_a_stack", &children_on_a_stack},
                                 {"awaited_children", &awaited_children}};

struct stop_request : testing::TestWithParam<stoppable> {};

TEST_P(stop_request, that_a_thread_may_make_keeps_the_report_back) {
  const auto end = test::in_process(settings_of("abort", "10ms"), [] {
    weft::start();
    std::stop_source breaks;
    std::thread other([&] {
      walked(1);
      std::this_thread::sleep_for(50ms);
      breaks.request_stop();
    });
    GetParam().run(breaks.get_token());
    other.join();
    EXPECT_GE(g_gave_up, 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST_P(stop_request, that_no_thread_is_left_to_make_does_not) {
  if (nobody_left_is_unknown())
    GTEST_SKIP() << "the threads of the process cannot be counted, or the sanitizer has one";
  const auto end = test::in_process(settings_of("abort", "10ms"), [] {
    const std::stop_source nobodys;
    GetParam().run(nobodys.get_token());
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("no thread is left to do what they wait for")) << end;
}

TEST_P(stop_request, that_cannot_be_made_is_none) {
  const auto end = test::in_process(settings_of("abort", "10ms"), [] {
    weft::start();
    std::thread([] { std::this_thread::sleep_for(1h); }).detach();
    GetParam().run(std::stop_token());
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
}

INSTANTIATE_TEST_SUITE_P(hang_outside, stop_request, testing::ValuesIn(k_stoppable),
                         [](const auto &p) { return std::string(p.param.name); });

// ---- policies

test::environment with_policies() {
  auto settings = settings_of("abort", "10ms");
  settings.emplace_back("WEFT_TUNE", "on");
  return settings;
}

TEST(hang_outside, a_policy_may_still_end_a_wait) {
  const auto end = test::in_process(with_policies(), [] {
    weft::event ends;
    const weft::tune::policy late("late", weft::tune::when::every(1ms),
                                  [&](const weft::tune::policy_call &) {
                                    if (the_runtime().hangs.fruitless_walks() != 0)
                                      ends.set();
                                  });
    weft::spawn([&] { ends.wait(); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft:")) << end;
}

TEST(hang_outside, a_policy_that_has_thrown_ends_no_wait) {
  if (nobody_left_is_unknown())
    GTEST_SKIP() << "the threads of the process cannot be counted, or the sanitizer has one";
  const auto end = test::in_process(with_policies(), [] {
    const weft::tune::policy bad("bad", weft::tune::when::every(1ms),
                                 [](const weft::tune::policy_call &) { throw 1; });
    weft::spawn([] { weft::this_task::block(); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("no thread is left to do what they wait for")) << end;
}

TEST(hang_outside, a_policy_that_was_withdrawn_ends_no_wait) {
  if (nobody_left_is_unknown())
    GTEST_SKIP() << "the threads of the process cannot be counted, or the sanitizer has one";
  const auto end = test::in_process(with_policies(), [] {
    weft::start();
    {
      const weft::tune::policy brief("brief", weft::tune::when::every(1ms),
                                     [](const weft::tune::policy_call &) {});
      must(test::eventually([&] { return brief.calls() != 0; }));
    }
    weft::spawn([] { weft::this_task::block(); });
    weft::taskwait();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("no thread is left to do what they wait for")) << end;
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

// ---- circles that are known

std::size_t times(const std::string &text, const std::string &part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

TEST(hang_outside, a_circle_is_reported_once_while_others_go_on) {
  const auto end = test::in_process(settings_of("report", "5ms"), [] {
    weft::start();
    spawn_a_circle<0>();
    weft::counting_semaphore<> requests(0);
    std::atomic<bool> next{false};
    weft::spawn([&] {
      for (bool known = false;;) {
        requests.acquire();
        if (next && !std::exchange(known, true))
          spawn_a_circle<1>();
      }
    });
    std::thread([&] {
      // A second walk that finds the circle again finds nothing to report; so does one after the
      // next circle is known, too.
      for (const bool second : {false, true}) {
        next = second;
        const auto before = the_runtime().hangs.fruitless_walks();
        for (auto pause = 20ms; pause < 20s && the_runtime().hangs.fruitless_walks() == before;
             pause *= 2) { // so that there is rest enough for a report
          requests.release();
          std::this_thread::sleep_for(pause);
        }
      }
      std::_Exit(3);
    }).detach();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(3)) << end;
  EXPECT_EQ(times(end.output, "these wait for each other:"), 2u) << end;
  EXPECT_EQ(times(end.output, "nothing goes on"), 2u) << end;
}

/// Makes standard error a pipe from which no thread reads, with room for the first line of a report. Returns
/// the end to read from, and how many bytes are in it.
std::pair<int, int> nearly_full_standard_error() {
  int ends[2];
  must(pipe(ends) == 0);
  const int capacity = fcntl(ends[1], F_SETPIPE_SZ, 1); // one page
  must(capacity > 0);
  const std::string filling(static_cast<std::size_t>(capacity) - 250, '.');
  must(write(ends[1], filling.data(), filling.size()) == static_cast<ssize_t>(filling.size()));
  must(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
  return {ends[0], static_cast<int>(filling.size())};
}

TEST(hang_outside, other_threads_go_on_while_a_report_is_written) {
  const auto end = test::in_process(settings_of("report", "20ms"), [] {
    const auto [output, filled] = nearly_full_standard_error();
    weft::start();
    static weft::event asked;
    static std::atomic<bool> answered{false};
    weft::spawn([] { asked.wait(), answered = true; });
    spawn_a_circle<0>();
    std::thread([output = output, filled = filled] {
      await([=] { // the report has begun, and waits for room
        int bytes = 0;
        return ioctl(output, FIONREAD, &bytes) == 0 && bytes > filled;
      });
      asked.set();
      await([] { return answered.load(); });
      std::_Exit(3);
    }).detach();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(3)) << end;
}

} // namespace
