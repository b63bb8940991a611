// SPDX-License-Identifier: Apache-2.0
// weft set: another process changes settings and knobs of a program that runs.
#include "observe/layout.hpp"
#include "observe/segment.hpp"
#include "os/thread_state.hpp"
#include "support/case_process.hpp"
#include "support/process.hpp"
#include "support/text.hpp"
#include "tune/mailbox.hpp"

#include <weft/knob.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <memory>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using test::contains;
using test::weft_program;

class set_tool : public testing::Test {
 protected:
  void SetUp() override {
    if (access(weft_program().c_str(), X_OK) != 0)
      GTEST_SKIP() << weft_program() << " was not built (WEFT_TOOLS is OFF)";
  }
  void TearDown() override {
    if (m_child > 0)
      end();
  }

  static test::ending weft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), weft_program());
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  }

  /// Starts a program with a knob app.tile, which runs until it is killed.
  std::string start(const test::environment &settings = {}, int knobs = 1) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    m_child = fork();
    if (m_child == 0) {
      setenv("WEFT_WORKERS", "2", 1);
      for (const auto &[name, value] : settings)
        setenv(name.c_str(), value.c_str(), 1);
      static weft::tune::knob tile("app.tile", 8, weft::tune::range{1, 64},
                                   weft::tune::takes_hold::next_loop);
      static std::vector<std::unique_ptr<weft::tune::knob>> more;
      for (int i = 1; i < knobs; ++i)
        more.push_back(std::make_unique<weft::tune::knob>("app.tile-" + std::to_string(i), 8,
                                                          weft::tune::range{1, 64}));
      weft::start();
      if (write(ready[1], "x", 1) != 1)
        _exit(1);
      for (;;)
        usleep(100'000);
    }
    char c = 0;
    EXPECT_EQ(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return std::to_string(m_child);
  }
  void end() {
    kill(m_child, SIGKILL);
    waitpid(m_child, nullptr, 0);
    unlink(weft::rt::segment_path(m_child).c_str());
    m_child = -1;
  }

  pid_t m_child = -1;
};

TEST_F(set_tool, changes_settings_and_knobs_and_shows_them) {
  const auto pid = start();
  auto end = weft({"set", pid, "spin.us=5", "app.tile=16"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output, "spin.us = 5us\napp.tile = 16\n");
  end = weft({"set", pid});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "spin.us                      5us          from the next call"))
      << end;
  EXPECT_TRUE(contains(
      end.output,
      "app.tile                     16           from the next loop  an integer from 1 to 64 (of the program)"))
      << end;
  EXPECT_FALSE(contains(end.output, "counters.port")) << end;
  end = weft({"set", "--json", pid});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(
      end.output,
      R"({"name": "app.tile", "value": "16", "first": "8", "takes_hold": "next loop", "of_program": true, "allowed": "an integer from 1 to 64"})"))
      << end;
  EXPECT_TRUE(end.output.starts_with("[\n {\"name\": \"sched.workers\"")) << end;
  end = weft({"get", pid, "/knobs/count/changed"});
  EXPECT_TRUE(contains(end.output, " 2")) << end;
}

TEST_F(set_tool, shows_more_knobs_than_an_answer_has_room_for) {
  const auto end = weft({"set", start({}, 500)});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "\napp.tile  "));
  for (int i = 1; i < 500; ++i)
    EXPECT_TRUE(contains(end.output, "\napp.tile-" + std::to_string(i) + " ")) << i;
  EXPECT_FALSE(contains(end.output, "\n ")) << "a line without a name";
}

TEST_F(set_tool, shows_answers_that_cannot_change_the_screen) {
  const auto pid = start();
  for (const auto &end : {weft({"set", pid, "app.tile=\033[2J"}), weft({"set", pid, "\033=1"})}) {
    EXPECT_TRUE(end.exited(1)) << end;
    EXPECT_TRUE(contains(end.output, "'\\x1b")) << end;
    EXPECT_FALSE(contains(end.output, "\033")) << end;
  }
}

TEST_F(set_tool, shows_lists_that_cannot_change_the_screen) {
  using namespace weft::rt;
  start();
  kill(m_child, SIGSTOP); // this process answers in its place
  const int file = open(segment_path(m_child).c_str(), O_RDWR | O_CLOEXEC);
  const auto seen = map_segment(segment_path(m_child));
  void *const p = mmap(nullptr, sizeof(settings_mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, file,
                       static_cast<off_t>(
                           reinterpret_cast<const segment_header *>(seen.base)->mailbox_offset));
  ASSERT_NE(p, MAP_FAILED);
  auto &box = *static_cast<settings_mailbox *>(p);
  const auto answers = [&](const char *text) {
    std::atomic<bool> has_ended{false};
    std::thread answerer([&] {
      for (; !has_ended; usleep(1000)) {
        const std::uint64_t asked = __atomic_load_n(&box.asked, __ATOMIC_ACQUIRE);
        if (asked == box.answered)
          continue;
        std::strcpy(box.reply, text);
        box.status = 0;
        __atomic_store_n(&box.answered, asked, __ATOMIC_RELEASE);
      }
    });
    const auto end = weft({"set", std::to_string(m_child)});
    has_ended = true;
    answerer.join();
    return end;
  };
  const auto end = answers("a\033.b\t1\033\t1\tcall\033\tsetting\tany\033\n");
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "a\\x1b.b ") && contains(end.output, " 1\\x1b ") &&
              contains(end.output, " call\\x1b ") && contains(end.output, " any\\x1b\n"))
      << end;
  const auto again = answers("a\t1\t1\tcall\tsetting\tany\n\t5\n"); // and so for ever
  EXPECT_TRUE(again.exited(0)) << again;
  EXPECT_EQ(std::count(again.output.begin(), again.output.end(), '\n'), 2) << again;
  munmap(p, sizeof(settings_mailbox));
  close(file);
}

TEST_F(set_tool, says_why_a_change_is_refused) {
  const auto pid = start();
  auto end = weft({"set", pid, "app.tile=9", "spin.uss=5", "app.tile=10"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_EQ(end.output, "app.tile = 9\nweft: there is no setting and no knob 'spin.uss'; did you "
                        "mean 'spin.us'?\n");
  end = weft({"set", pid, "app.tile=65"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_EQ(end.output, "weft: knob app.tile cannot be '65': it must be an integer from 1 to 64\n");
  for (const char *at_start : {"workers=1", "counters.port=80"}) {
    end = weft({"set", pid, at_start});
    EXPECT_TRUE(end.exited(1)) << end;
    EXPECT_TRUE(contains(end.output, "is read at start only, and Weft has started")) << end;
  }
  end = weft({"set", pid, "app.tile=" + std::string(2000, '1')});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "longer than the 999 characters")) << end;
  end = weft({"set", pid});
  EXPECT_TRUE(contains(end.output, "app.tile                     9 ")) << end;
}

TEST_F(set_tool, says_what_is_wrong_with_the_command_line) {
  for (const auto &[arguments, message] :
       {std::pair<std::vector<std::string>, const char *>{{"set"}, "set needs a PID"},
        {{"set", "1", "x"}, "set needs NAME=VALUE, not 'x'"},
        {{"set", "1", "=x"}, "set needs NAME=VALUE, not '=x'"},
        {{"set", "--json", "1", "a=b"}, "--json goes with a list"}}) {
    const auto end = weft(arguments);
    EXPECT_TRUE(end.exited(2)) << end;
    EXPECT_TRUE(contains(end.output, message)) << end;
  }
  const auto end = weft({"set", "2147483646"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "cannot be opened")) << end;
}

TEST_F(set_tool, a_program_without_watcher_or_at_its_end_does_not_answer) {
  auto pid = start({{"WEFT_WATCH_HANG", "off"}, {"WEFT_WATCH_MAX_SPARES", "0"}});
  auto end = weft({"set", pid});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "does not answer: it has no watcher")) << end;
  this->end();
  pid = start();
  kill(m_child, SIGKILL);
  waitpid(m_child, nullptr, 0);
  end = weft({"set", pid, "spin.us=1"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "has ended; its settings cannot change")) << end;
}

TEST_F(set_tool, askers_come_one_after_the_other) {
  const auto pid = start();
  std::vector<pid_t> askers;
  for (int i = 1; i <= 4; ++i) {
    const pid_t asker = fork();
    if (asker == 0) {
      const std::string number = std::to_string(i);
      _exit(weft::rt::ask_program(m_child, "set app.tile=" + number).text == number ? 0 : 1);
    }
    askers.push_back(asker);
  }
  for (const pid_t asker : askers) {
    int status = 1;
    waitpid(asker, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(set_tool, an_asker_wakes_what_sleeps_on_its_number) {
  using namespace weft::rt;
  const auto pid = start();
  segment area = map_segment(segment_path(m_child));
  const auto *box = reinterpret_cast<const settings_mailbox *>(
      area.base + reinterpret_cast<const segment_header *>(area.base)->mailbox_offset);
  const shared_word bell{reinterpret_cast<const std::uint32_t *>(&box->asked),
                         static_cast<std::uint32_t>(box->asked)};
  std::atomic<int> tid{0};
  std::thread sleeper([&] {
    tid = gettid();
    while (__atomic_load_n(bell.word, __ATOMIC_RELAXED) == bell.seen) // without a deadline
      syscall(SYS_futex, bell.word, FUTEX_WAIT, bell.seen, nullptr, nullptr, 0);
  });
  while (tid == 0 || !thread_sleeps(tid))
    usleep(1000);
  EXPECT_EQ(ask_program(m_child, "set app.tile=5").text, "5");
  sleeper.join();
  unmap(area);
}

TEST_F(set_tool, what_an_asker_left_behind_is_no_request) {
  using weft::rt::settings_mailbox;
  const auto pid = start();
  const std::string path = weft::rt::segment_path(m_child);
  const auto area = weft::rt::map_segment(path);
  const auto at = static_cast<off_t>(
      reinterpret_cast<const weft::rt::segment_header *>(area.base)->mailbox_offset);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  const std::string garbage(sizeof(settings_mailbox::request), '\xff'); // without a zero
  ASSERT_EQ(pwrite(file, garbage.data(), garbage.size(),
                   at + static_cast<off_t>(offsetof(settings_mailbox, request))),
            static_cast<ssize_t>(garbage.size()));
  const std::uint64_t asked = 77;
  ASSERT_EQ(pwrite(file, &asked, sizeof asked, at), static_cast<ssize_t>(sizeof asked));
  close(file);
  const auto end = weft({"set", pid, "app.tile=3"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output, "app.tile = 3\n");
}

} // namespace
