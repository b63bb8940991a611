// SPDX-License-Identifier: Apache-2.0
// Traces of programs that find no room for them: a limit of file sizes stands for a full disk, because a write is cut there, too.
#include "support/babeltrace.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/text.hpp"

#include "os/file.hpp"
#include "trace/folder.hpp"
#include "trace/record.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <weft/weft.hpp>

namespace {

namespace fs = std::filesystem;

class trace_room : public testing::Test {
 protected:
  void SetUp() override {
    if (access(test::weft_program().c_str(), X_OK) != 0)
      GTEST_SKIP() << test::weft_program() << " was not built (WEFT_TOOLS is OFF)";
    if (const char *const given = std::getenv("TEST_ROOM_FOLDER"); given && test::is_child()) {
      m_folder = given;
      return;
    }
    char name[] = "/tmp/weft-trace-room-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    m_folder = name;
  }
  void TearDown() override { fs::remove_all(m_folder); }
  /// Runs `f` in a process that traces, into the folder "t".
  template <class F>
  test::ending traced(F f, const std::string &mode = "stream",
                      const std::string &buffer = "4MiB") const {
    fs::remove(said());
    auto end = test::in_process({{"TEST_ROOM_FOLDER", m_folder},
                                 {"WEFT_WORKERS", "1"},
                                 {"WEFT_WATCH_MAX_SPARES", "0"}, // all records are in one stream
                                 {"WEFT_TRACE_LEVEL", "task"},
                                 {"WEFT_TRACE_MODE", mode},
                                 {"WEFT_TRACE_BUFFER", buffer},
                                 {"WEFT_TRACE_DIR", m_folder + "/t"}},
                                [&] {
                                  const int file = weft::rt::open_new(said(), O_WRONLY);
                                  ASSERT_EQ(dup2(file, STDERR_FILENO), STDERR_FILENO);
                                  f();
                                });
    end.output += weft::rt::read_file(said()).value_or("");
    return end;
  }
  /// What the process of traced() has written on standard error.
  [[nodiscard]] std::string said() const { return m_folder + "/said"; }
  [[nodiscard]] bool tries_again() const {
    return test::eventually([this] {
      return test::contains(weft::rt::read_file(said()).value_or(""), "Weft tries again");
    });
  }
  static test::ending weft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::weft_program());
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  }
  std::string m_folder;
};

void limit_sizes_to(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

constexpr rlim_t k_capacity = 100 << 10; // for one packet and a half
constexpr int k_tasks = 10'000;      // each two records of 32 bytes: ten packets

void run_tasks() {
  for (int i = 0; i < k_tasks; ++i)
    weft::spawn([] {}, weft::label("one"));
  weft::taskwait();
}

/// The files that a trace has only until it is ended.
bool has_rings(const std::string &trace) {
  return access(weft::rt::ring_path(trace, 0).c_str(), F_OK) == 0 &&
         access(weft::rt::types_path(trace).c_str(), F_OK) == 0;
}

} // namespace

TEST_F(trace_room, that_comes_again_takes_all_that_waited_for_it) {
  const std::string trace = m_folder + "/t";
  const auto end = traced([&] {
    run_tasks();
    limit_sizes_to(k_capacity);
    run_tasks();
    EXPECT_TRUE(tries_again());
    EXPECT_TRUE(test::eventually([&] { // a try that fails leaves a part of a packet until it cuts it off
      return fs::file_size(weft::rt::stream_path(trace, 0)) % weft::rt::k_packet_bytes == 0;
    }));
    limit_sizes_to(RLIM_INFINITY);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("cannot be written (File too large); Weft tries again")) << end;
  EXPECT_TRUE(end.printed("could be written again; 0 records were discarded")) << end;
  EXPECT_FALSE(has_rings(trace));
  const auto check = weft({"trace", "check", trace});
  EXPECT_TRUE(check.exited(0)) << check;
  EXPECT_TRUE(check.printed("as the counters say")) << check;
  EXPECT_TRUE(check.printed(std::to_string(2 * k_tasks) + " tasks created")) << check;
  test::expect_babeltrace_reads(trace);
}

TEST_F(trace_room, that_never_comes_leaves_the_rings_of_which_a_whole_trace_is_made) {
  for (const char *mode : {"stream", "flight"}) {
    const std::string trace = m_folder + "/t";
    const auto end = traced(
        [] {
          run_tasks();
          limit_sizes_to(k_capacity);
        },
        mode);
    EXPECT_TRUE(end.exited(0)) << end;
    EXPECT_TRUE(end.printed("the end of the trace in '" + trace +
                            "' is not written (0 records were discarded); it is in the rings there"))
        << end;
    EXPECT_TRUE(has_rings(trace)) << mode;
    EXPECT_EQ(fs::file_size(weft::rt::stream_path(trace, 0)) % weft::rt::k_packet_bytes, 0u) << mode;
    auto check = weft({"trace", "check", trace});
    EXPECT_TRUE(check.exited(0)) << check;
    EXPECT_FALSE(check.printed("is cut off")) << check;
    EXPECT_TRUE(check.printed(std::to_string(k_tasks) + " tasks created")) << check;
    EXPECT_TRUE(check.printed("has not ended its trace")) << check;
    EXPECT_TRUE(weft({"trace", "cut", "--output", m_folder + "/whole", trace}).exited(0));
    check = weft({"trace", "check", m_folder + "/whole"});
    EXPECT_TRUE(check.exited(0)) << check;
    EXPECT_TRUE(check.printed(std::to_string(k_tasks) + " tasks created")) << check;
    test::expect_babeltrace_reads(m_folder + "/whole");
  }
}

TEST_F(trace_room, that_is_too_small_is_told_with_what_was_discarded) {
  const std::string trace = m_folder + "/t";
  const auto end = traced(
      [this] {
        weft::spawn([] {});
        weft::taskwait(); // the ring is there
        limit_sizes_to(k_capacity);
        run_tasks();
        EXPECT_TRUE(tries_again());
        limit_sizes_to(RLIM_INFINITY);
      },
      "stream", "256KiB");
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("could be written again; ")) << end;
  EXPECT_FALSE(end.printed("; 0 records were discarded")) << end;
  const auto info = weft({"trace", "info", trace});
  EXPECT_TRUE(info.exited(0)) << info;
  EXPECT_FALSE(info.printed("is cut off")) << info;
  const auto at = end.output.find("written again; ") + 15;
  const std::string discarded = end.output.substr(at, end.output.find(' ', at) - at);
  EXPECT_TRUE(info.printed(discarded + " discarded")) << info << end;
}

TEST_F(trace_room, of_a_full_ring_is_read_to_the_last_packet) {
  const std::string trace = m_folder + "/t";
  const auto end = traced(
      [this] {
        weft::spawn([] {});
        weft::taskwait();
        limit_sizes_to(k_capacity);
        run_tasks();
        EXPECT_TRUE(tries_again());
        run_tasks(); // the place of the packet that was written is taken
      },
      "stream", "256KiB");
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("is not written (")) << end;
  EXPECT_FALSE(end.printed("is not written (0 records")) << end;
  EXPECT_TRUE(end.printed("has no room for all rings")) << "the counters are left out\n" << end;
  EXPECT_EQ(fs::file_size(weft::rt::stream_path(trace, 0)), weft::rt::k_packet_bytes);
  const auto info = weft({"trace", "info", trace});
  EXPECT_TRUE(info.exited(0)) << info;
  const auto at = info.output.find("records");
  ASSERT_NE(at, std::string::npos) << info;
  EXPECT_EQ(std::strtoull(info.output.c_str() + info.output.find_first_of("0123456789", at), nullptr,
                          10),
            5 * weft::rt::k_packet_records)
      << "one packet of the stream, four of the ring\n"
      << info;
}

TEST_F(trace_room, that_the_description_did_not_get_is_asked_for_again) {
  const auto end = traced([this] {
    weft::spawn([] {}, weft::label("first"));
    weft::taskwait();
    limit_sizes_to(1 << 10); // no packet is full: it keeps out the description alone
    weft::spawn([] {}, weft::label("second"));
    weft::taskwait();
    EXPECT_TRUE(tries_again());
    limit_sizes_to(RLIM_INFINITY);
    EXPECT_TRUE(test::eventually([this] {
      return test::contains(
          weft::rt::read_file(weft::rt::description_path(m_folder + "/t")).value_or(""), "second");
    }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_F(trace_room, of_a_file_that_cannot_be_made_is_taken_when_it_can_be) {
  const std::string trace = m_folder + "/t";
  constexpr unsigned k_slots = 40; // of which a thread gets one
  const auto end = traced([&] {
    weft::spawn([] {});
    weft::taskwait();
    for (unsigned slot = 1; slot < k_slots; ++slot)
      fs::create_directory(weft::rt::stream_path(trace, slot)); // in the way of the file
    std::thread([] {
      weft::spawn([] {}, weft::label("of a thread"));
      weft::taskwait();
    }).join();
    EXPECT_TRUE(tries_again());
    bool any = false;
    for (unsigned slot = 1; slot < k_slots; ++slot) {
      const std::string stream = weft::rt::stream_path(trace, slot);
      fs::remove(stream);
      if (!fs::exists(weft::rt::ring_path(trace, slot)))
        continue;
      any = true;
      EXPECT_TRUE(test::eventually([&] { return fs::is_regular_file(stream); })) << slot;
    }
    EXPECT_TRUE(any);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  const auto check = weft({"trace", "check", trace});
  EXPECT_TRUE(check.exited(0)) << check;
  EXPECT_TRUE(check.printed("2 tasks created")) << check;
  EXPECT_TRUE(check.printed("as the counters say")) << check;
}

TEST_F(trace_room, of_a_file_that_is_never_made_is_that_of_its_ring) {
  const std::string trace = m_folder + "/t";
  for (const unsigned slot : {0u, weft::rt::k_counters_slot}) {
    const auto end = traced(
        [&] {
          run_tasks();
          fs::create_directory(weft::rt::stream_path(trace, slot));
        },
        "flight");
    EXPECT_TRUE(end.exited(0)) << end;
    EXPECT_TRUE(end.printed("the end of the trace in '" + trace + "' is not written")) << end;
    const auto check = weft({"trace", "check", trace});
    EXPECT_TRUE(check.exited(0)) << check;
    EXPECT_TRUE(check.printed(std::to_string(k_tasks) + " tasks created")) << check;
    fs::remove_all(trace);
  }
}

TEST_F(trace_room, of_which_the_kernels_part_has_none_is_told) {
  const std::string trace = m_folder + "/t";
  const auto end = test::in_process({{"TEST_ROOM_FOLDER", m_folder},
                                     {"WEFT_WORKERS", "1"},
                                     {"WEFT_TRACE_LEVEL", "task"},
                                     {"WEFT_TRACE_KERNEL", "true"},
                                     {"WEFT_TRACE_DIR", trace}},
                                    [] {
                                      weft::spawn([] {});
                                      weft::taskwait();
                                      limit_sizes_to(1);
                                      for (int i = 0; i < 100; ++i)
                                        usleep(1000);
                                      weft::taskwait();
                                    });
  if (end.printed("context switches cannot be seen"))
    GTEST_SKIP() << "the system shows no context switches";
  EXPECT_TRUE(end.printed("context switches are missing from the trace")) << end;
  EXPECT_EQ(fs::file_size(weft::rt::kernel_path(trace, 0)), 0u);
}

TEST_F(trace_room, is_of_the_program_that_lives_under_whatever_number) {
  if (test::is_child()) { // a second program
    traced([] { run_tasks(); });
    return;
  }
  const std::string trace = m_folder + "/t";
  int up[2], go[2];
  ASSERT_EQ(pipe(up) + pipe(go), 0);
  const pid_t first = fork();
  if (first == 0) {
    setenv("WEFT_WORKERS", "1", 1);
    setenv("WEFT_TRACE_LEVEL", "task", 1);
    setenv("WEFT_TRACE_DIR", trace.c_str(), 1);
    run_tasks();
    char byte = 0;
    if (write(up[1], "u", 1) != 1 || read(go[0], &byte, 1) != 1)
      _exit(3);
    run_tasks();
    std::exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(up[0], &byte, 1), 1);
  const std::string path = weft::rt::description_path(trace),
                    number = "\npid " + std::to_string(first) + "\n";
  std::string text = weft::rt::read_file(path).value_or("");
  ASSERT_NE(text.find(number), std::string::npos) << text;
  text.replace(text.find(number), number.size(), "\npid 999999999\n"); // its number elsewhere
  ASSERT_TRUE(weft::rt::replace_file(path, text));
  const auto second = traced([] { run_tasks(); });
  EXPECT_TRUE(second.exited(0)) << second;
  EXPECT_TRUE(second.printed("'" + trace + "' cannot be used (process 999999999 writes its trace there; "
                             "put %p into the name); nothing is traced"))
      << second;
  ASSERT_EQ(write(go[1], "g", 1), 1);
  int status = 0;
  waitpid(first, &status, 0);
  EXPECT_EQ(status, 0);
  const auto check = weft({"trace", "check", trace});
  EXPECT_TRUE(check.exited(0)) << check;
  EXPECT_TRUE(check.printed(std::to_string(2 * k_tasks) + " tasks created")) << check;
  EXPECT_TRUE(check.printed("as the counters say")) << check;
  for (const int end : {up[0], up[1], go[0], go[1]})
    close(end);
}

TEST_F(trace_room, with_one_number_for_two_programs_in_a_row_both_are_kept) {
  const std::string program = test::program_path();
  const auto end = weft({"run", "--report=" + m_folder + "/page.html", "--set",
                         "trace.dir=" + m_folder + "/t.%p", "--set", "workers=1", "--",
                         program, "--gtest_filter=DISABLED_trace_room.becomes_another_program",
                         "--gtest_also_run_disabled_tests"});
  EXPECT_TRUE(end.exited(0)) << end;
  std::string first, second;
  for (const auto &entry : fs::directory_iterator(m_folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("t."))
      (name.ends_with("-2") ? second : first) = entry.path();
  }
  ASSERT_EQ(second, first + "-2") << end;
  auto check = weft({"trace", "check", first});
  EXPECT_TRUE(check.exited(0)) << check;
  EXPECT_TRUE(check.printed("1 tasks created") || check.printed("1 task created")) << check;
  check = weft({"trace", "check", second});
  EXPECT_TRUE(check.exited(0)) << check;
  EXPECT_TRUE(check.printed("2 tasks created")) << check;
  const std::string page = weft::rt::read_file(m_folder + "/page.html").value_or("");
  EXPECT_TRUE(test::contains(page, "second")) << "a page about the newest of them\n" << end;
  EXPECT_FALSE(test::contains(page, "\"first\""));
}

TEST(DISABLED_trace_room, becomes_another_program) {
  const bool again = std::getenv("TEST_ROOM_AGAIN") != nullptr;
  for (int i = 0; i < (again ? 2 : 1); ++i)
    weft::spawn([] {}, weft::label(again ? "second" : "first"));
  weft::taskwait();
  if (again)
    return;
  setenv("TEST_ROOM_AGAIN", "1", 1);
  const std::string program = test::program_path();
  execl(program.c_str(), program.c_str(),
        "--gtest_filter=DISABLED_trace_room.becomes_another_program",
        "--gtest_also_run_disabled_tests", nullptr);
  FAIL() << "no other program";
}
