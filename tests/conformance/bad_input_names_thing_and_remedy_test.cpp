// SPDX-License-Identifier: Apache-2.0
// Promise: bad input gets a code and a sentence that names the thing and the remedy, in C++ and in C alike.
#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft.h>
#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace {

struct answer {
  int code = 0; // as C returns it
  std::string what;
  friend std::ostream &operator<<(std::ostream &to, const answer &a) {
    return to << a.code << ": " << a.what;
  }
};

template <class F>
answer of_cxx(F &&f) {
  try {
    f();
  } catch (const weft::error &e) {
    return {-static_cast<int>(e.code()), e.what()};
  }
  return {};
}

answer of_c(int code) { return code == 0 ? answer{} : answer{code, weft_last_error_message()}; }

/// Both doors say the code and all of the words.
void expect(const answer &cxx, const answer &c, int code,
            std::initializer_list<const char *> words) {
  for (const answer *a : {&cxx, &c}) {
    EXPECT_EQ(a->code, code) << *a;
    for (const char *word : words)
      EXPECT_NE(a->what.find(word), std::string::npos) << "lacks \"" << word << "\": " << *a;
  }
}

TEST(bad_input, settings) {
  const struct {
    const char *key, *value;
    std::initializer_list<const char *> words;
  } cases[] = {
      {"worker", "2", {"unknown setting 'worker'", "API", "did you mean 'workers'?"}},
      {"sched.polcy", "x", {"did you mean 'sched.policy'?"}},
      {"nothing like it", "x", {"`weft config` lists all"}},
      {"workers",
       "0",
       {"setting workers cannot be '0'", "API", "auto, or an integer from 1 to 1024"}},
      {"workers", "1025", {"cannot be '1025'", "from 1 to 1024"}},
      {"workers", "two", {"cannot be 'two'", "from 1 to 1024"}},
      {"sched.policy", "stealin", {"one of stealing, delegated", "did you mean 'stealing'?"}},
      {"preset",
       "latencies",
       {"one of none, latency, throughput, debug", "did you mean 'latency'?"}},
      {"stack.bytes", "1KiB", {"setting stack.bytes", "from 16KiB"}},
      {"spin.us", "20 parsecs", {"setting spin.us", "units us, ms, s"}},
      {"stats", "maybe", {"setting stats", "true or false"}},
  };
  const auto end = test::in_process({}, [&] { // before the runtime starts
    for (const auto &c : cases)
      expect(of_cxx([&] { weft::configure(c.key, c.value); }), of_c(weft_configure(c.key, c.value)),
             WEFT_ERR_BAD_SETTING, c.words);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(bad_input, settings_of_the_environment_and_of_the_file) {
  auto end = test::in_process({{"WEFT_WORKERS", "1025"}}, [] {
    for (int i = 0; i != 2; ++i) // also the second time
      expect(of_cxx([] { weft::spawn([] {}); }), of_c(weft_start()), WEFT_ERR_BAD_SETTING,
             {"setting workers cannot be '1025'", "environment WEFT_WORKERS", "from 1 to 1024"});
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(bad_input, a_file_that_is_not_there) {
  auto end = test::in_process({{"WEFT_CONFIG", "/no/such/file"}}, [] {
    expect(of_cxx([] { weft::start(); }), of_c(weft_taskwait(nullptr)), WEFT_ERR_BAD_SETTING,
           {"WEFT_CONFIG names the file '/no/such/file'", "No such file"});
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(bad_input, unblock_without_a_block) {
  answer cxx, c;
  weft::spawn(
      [&] {
        const weft::task_ref self = weft::this_task::self();
        weft::unblock(self); // one may come early
        cxx = of_cxx([&] { weft::unblock(self); });
        c = of_c(weft_task_unblock(reinterpret_cast<weft_task *>(self.get())));
        weft::this_task::block();
      },
      weft::label("sleeper"));
  weft::taskwait();
  expect(cxx, c, WEFT_ERR_NO_BLOCK,
         {"task 'sleeper' is unblocked twice", "unblock it once per block"});
  expect(of_cxx([] { weft::unblock({}); }),
         {WEFT_ERR_INVALID_ARGUMENT, "unblock() of no task; pass what"}, WEFT_ERR_INVALID_ARGUMENT,
         {"unblock() of no task; pass what"});
  EXPECT_EQ(of_c(weft_task_unblock(nullptr)).code, WEFT_ERR_INVALID_ARGUMENT);
}

TEST(bad_input, events_below_zero) {
  answer cxx, c;
  weft::spawn(
      [&] {
        const weft::task_ref self = weft::this_task::self();
        weft::this_task::increase_events(2);
        cxx = of_cxx([&] { weft::decrease_events(self, 3); });
        std::thread([&] {
          c = of_c(weft_task_decrease_events(reinterpret_cast<weft_task *>(self.get()), 3));
        }).join();
        weft::decrease_events(self, 2); // a refused call has taken none
      },
      weft::label("courier"));
  weft::taskwait();
  expect(cxx, c, WEFT_ERR_EVENT_UNDERFLOW,
         {"task 'courier' has fewer than 3 external events", "decrease as often as you increase"});
}

TEST(bad_input, events_of_a_thread) {
  expect(of_cxx([] { weft::this_task::increase_events(); }), of_c(weft_task_increase_events(1)),
         WEFT_ERR_NOT_A_TASK, {"increase_events() outside of a task", "spawn a task"});
}

TEST(bad_input, use_after_shutdown) {
  auto end = test::in_process({}, [] {
    weft::start();
    weft::shutdown();
    expect(of_cxx([] { weft::taskwait(); }), of_c(weft_taskwait(nullptr)), WEFT_ERR_SHUT_DOWN,
           {"Weft is used after shutdown()", "call shutdown() last, or not at all"});
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(bad_input, a_group_of_somebody_else) {
  answer cxx, c;
  weft::task_group group;
  weft_group *of_main = nullptr;
  ASSERT_EQ(weft_group_create(WEFT_POLICY_COLLECT_ALL, &of_main), 0);
  weft::spawn(
      [&] {
        cxx = of_cxx([&] { group.wait(); });
        c = of_c(weft_group_wait(of_main, nullptr));
      },
      weft::label("intruder"));
  weft::taskwait();
  EXPECT_EQ(weft_group_destroy(of_main), 0);
  expect(cxx, c, WEFT_ERR_INVALID_ARGUMENT,
         {"called by task 'intruder'", "wait where the group was made"});
}

TEST(bad_input, a_mutex_that_nobody_holds) {
  weft::mutex mutex;
  weft_mutex *of_c_door = nullptr;
  ASSERT_EQ(weft_mutex_create(&of_c_door), 0);
  expect(of_cxx([&] { mutex.unlock(); }), of_c(weft_mutex_unlock(of_c_door)),
         WEFT_ERR_INVALID_ARGUMENT,
         {"unlock() of a weft::mutex that no task holds", "unlock once per lock"});
  EXPECT_TRUE(mutex.try_lock()); // and it is as good as before
  mutex.unlock();
  weft_mutex_destroy(of_c_door);
}

TEST(bad_input, an_exception_of_an_external_thread_stays_with_that_thread) {
  std::thread([] {
    weft::spawn([] { throw std::runtime_error("of a thread"); });
    try {
      weft::taskwait();
      ADD_FAILURE() << "taskwait() did not throw";
    } catch (const std::runtime_error &e) {
      EXPECT_STREQ(e.what(), "of a thread");
    }
    int code = 0;
    EXPECT_EQ(weft_spawn([](void *) { return 9; }, nullptr, 0, nullptr, 0, nullptr, nullptr), 0);
    EXPECT_EQ(weft_taskwait(&code), WEFT_ERR_TASK_FAILED);
    EXPECT_EQ(code, 9);
  }).join();
  weft::taskwait(); // nothing of it arrives here
}

TEST(bad_input, an_exception_of_an_external_thread_that_it_never_asked_for) {
  auto end = test::in_process({}, [] {
    weft::start();
    std::thread([] {
      weft::spawn([] { throw std::runtime_error("unheard of"); }, weft::label("lost"));
    }).join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed(
      "weft: warning: a thread ended and its task had thrown, and no caller asked for the exception: unheard of"))
      << end;
}

} // namespace
