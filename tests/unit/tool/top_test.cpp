// SPDX-License-Identifier: Apache-2.0
// weft top tells a worker whose task sleeps in the kernel from one that computes and one that is idle.
#include "tools/weft/cmd/top_view.hpp"

#include "observe/segment.hpp"
#include "observe/store.hpp"
#include "support/case_process.hpp"
#include "support/process.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <weft/layer/thread.hpp>
#include <weft/weft.hpp>

namespace {

using test::weft_program;

/// One of its two tasks blocks its thread, the other computes; the first thread is outside of Weft.
[[noreturn]] void block_and_compute(int ready, int never) {
  setenv("WEFT_WORKERS", "4", 1);
  static std::atomic<int> begun{0};
  weft::spawn([never] {
    char c;
    ++begun;
    _exit(read(never, &c, 1) == 1);
  });
  weft::spawn([] {
    ++begun;
    for (;;)
      asm volatile("");
  });
  while (begun != 2)
    usleep(1000);
  if (write(ready, "x", 1) != 1)
    _exit(1);
  for (;;)
    pause();
}

TEST(top, says_whose_task_sleeps_in_the_kernel) {
  if (access(weft_program().c_str(), X_OK) != 0)
    GTEST_SKIP() << weft_program() << " was not built (WEFT_TOOLS is OFF)";
  int ready[2], never[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(never), 0);
  const pid_t child = fork();
  if (child == 0)
    block_and_compute(ready[1], never[0]);
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  const auto count = [](const std::string &text, const std::string &part) {
    int n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  };
  const auto look = [&] {
    return test::run(
        {weft_program(), "top", "--once", "--json", "--every", "20ms", std::to_string(child)},
        {{"WEFT_CONFIG", ""}});
  };
  test::ending end = look();
  for (int i = 0; i != 300 && !(count(end.output, "\"state\":\"blocked\"") == 1 &&
                                count(end.output, "\"state\":\"idle\"") == 1);
       ++i)
    end =
        look(); // the task has still to reach its sleep, and the third worker to give up its search
  end = look();
  EXPECT_EQ(count(end.output, "\"state\":\"blocked\""), 1) << end;
  EXPECT_EQ(count(end.output, "\"state\":\"busy\""), 1) << end;
  EXPECT_EQ(count(end.output, "\"state\":\"idle\""), 1) << end;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  unlink(weft::rt::segment_path(child).c_str());
}

/// A thread of OpenMP's kind, and one of TBB's, compute on the two workers beside the first thread.
[[noreturn]] void compute_for_two(int ready) {
  using weft::layer::client;
  setenv("WEFT_WORKERS", "3", 1);
  static std::atomic<int> begun{0};
  for (const client runs : {client::openmp, client::tbb})
    weft::layer::start_thread(
        0,
        [](void *) {
          ++begun;
          for (;;)
            asm volatile("");
        },
        nullptr, runs);
  while (begun != 2)
    usleep(1000);
  if (write(ready, "x", 1) != 1)
    _exit(1);
  for (;;)
    pause();
}

TEST(top, shows_the_share_of_each_runtime) {
  if (access(weft_program().c_str(), X_OK) != 0)
    GTEST_SKIP() << weft_program() << " was not built (WEFT_TOOLS is OFF)";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0)
    compute_for_two(ready[1]);
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  const auto look = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), weft_program());
    arguments.push_back(std::to_string(child));
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  };
  test::ending end;
  const auto look_for = [&](const std::vector<std::string> &arguments, const char *one, const char *other) {
    // The watcher of the program may get no processor in the time of a look.
    for (int i = 0; i != 100 && !(end.printed(one) && end.printed(other)); ++i)
      end = look(arguments);
    EXPECT_TRUE(end.printed(one) && end.printed(other)) << end;
  };
  look_for({"top", "--once", "--every", "100ms"}, "OpenMP", "TBB");
  EXPECT_TRUE(end.printed("\nshares  ")) << end;
  EXPECT_FALSE(end.printed("GLT") || end.printed("Rayon")) << end;
  look_for({"top", "--once", "--json", "--every", "100ms"}, "\"shares\":{", "\"OpenMP\":0.");
  EXPECT_TRUE(end.printed("\"GLT\":0,")) << end;
  look_for({"doctor"}, "\nWeft's workers: ", "TBB ");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  unlink(weft::rt::segment_path(child).c_str());
}

/// A program with as many workers as no machine has; each has run as many tasks as its number.
weft::rt::reading of_workers(unsigned number) {
  using namespace weft::rt;
  open_store({2, 2, 8, false, false, false});
  block_of_slot(0, block_kind::worker);
  reading r = read_segment(store_base(), program_state::running);
  const std::size_t executed = r.find("/threads/count/executed");
  r.slots.clear();
  for (unsigned id = 0; id < number; ++id)
    r.slots.push_back({id, block_kind::worker, true, false});
  r.durations.assign(number, {});
  r.cells.assign(r.catalogue.size() * (number + 1), 0);
  for (unsigned id = 0; id < number; ++id)
    r.cells[executed * (number + 1) + 1 + id] = id;
  return r;
}

// One that adds up all workers for each value of each, as weft top once did, takes most of an hour.
TEST(top, shows_thousands_of_workers) {
  constexpr unsigned k_workers = 5000;
  const auto end = test::in_process({}, [] {
    const weft::rt::reading all = of_workers(k_workers);
    weft::rt::reading earlier = all;
    std::fill(earlier.cells.begin(), earlier.cells.end(), 0);
    const weft::rt::reading spent = difference(all, earlier);
    const std::string text = ::weft_tool::top_text(all, spent, {7}, 100'000);
    EXPECT_TRUE(test::contains(text, "\n4999  worker  busy ")) << text.substr(0, 1000);
    EXPECT_TRUE(test::contains(text, "\n   7  worker  blocked ")) << text.substr(0, 1000);
    const std::string json = ::weft_tool::top_json(all, spent, {});
    EXPECT_TRUE(test::contains(json, "{\"id\":4999,\"kind\":\"worker\",\"state\":\"busy\","
                                     "\"/threads/count/cumulative\":4999,"))
        << json.substr(0, 1000);
    EXPECT_TRUE(test::contains(json, "\"/threads/count/cumulative\":12497500,"));
    const std::string few = ::weft_tool::top_text(all, spent, {}, 40);
    EXPECT_EQ(std::count(few.begin(), few.end(), '\n'), 39) << "and one is left free";
    EXPECT_TRUE(test::contains(few, " more; a higher window shows them\n")) << few;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(top, shows_names_that_cannot_change_the_screen) {
  const auto end = test::in_process({}, [] {
    weft::rt::reading r = of_workers(2);
    r.program = "\033]0;title\007";
    r.types.push_back({"a\nb\033[31m", 5, 0, 0});
    const std::string text = ::weft_tool::top_text(r, r, {}, 100);
    EXPECT_TRUE(text.starts_with("\\x1b]0;title\\x07 (pid ")) << text;
    EXPECT_TRUE(test::contains(text, "\n  a\\x0ab\\x1b[31m  ")) << text;
    EXPECT_FALSE(test::contains(text, "\033") || test::contains(text, "\007"));
    const std::string json = ::weft_tool::top_json(r, r, {});
    EXPECT_TRUE(test::contains(json, "\"name\":\"a\\u000ab\\u001b[31m\"")) << json;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// A catalogue is another program's, and may say anything of a counter.
TEST(top, has_no_number_where_a_program_counts_for_the_whole_process) {
  const auto end = test::in_process({}, [] {
    weft::rt::reading r = of_workers(2);
    r.catalogue[r.find("/threads/count/stolen")].scope = weft::rt::counter_scope::process;
    const std::string json = ::weft_tool::top_json(r, r, {});
    EXPECT_TRUE(test::contains(json, "\"/threads/count/stolen\":null,")) << json;
    EXPECT_TRUE(test::contains(::weft_tool::top_text(r, r, {}, 100), "\n   1  worker ")) << json;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
