// SPDX-License-Identifier: Apache-2.0
// Files that settings name for output: another user who plants a link or a file there gets nothing,
// and the program says so.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

/// Has a folder in which another user could have made the files first. A case's child finds its
/// files by the settings.
class output_file : public testing::Test {
 protected:
  output_file() {
    std::string name = testing::TempDir() + "weft-output-XXXXXX";
    if (!test::is_child() && mkdtemp(name.data()))
      top = name;
    counters = top + "/counters";
    reference = top + "/reference";
    aim = top + "/aim";
  }
  ~output_file() override {
    if (!top.empty())
      fs::remove_all(top);
  }

  /// Runs a program that prints counters at its end and writes a reference.
  [[nodiscard]] test::ending program(const std::string &to) const {
    return test::in_process({{"WEFT_WORKERS", "1"},
                             {"WEFT_COUNTERS_PRINT", "/threads/count/cumulative"},
                             {"WEFT_COUNTERS_FORMAT", "json"},
                             {"WEFT_COUNTERS_FILE", to},
                             {"WEFT_COUNTERS_REFERENCE", reference}},
                            [] {
                              weft::task_group g;
                              g.spawn([] {});
                              g.wait();
                              weft::shutdown();
                            });
  }
  static std::string text_of(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static void write(const std::string &path, const char *text) { std::ofstream(path) << text; }

  std::string top, counters, reference, aim;
};

TEST_F(output_file, is_reached_by_no_link) {
  if (!test::is_child()) {
    write(aim, "of the user");
    ASSERT_EQ(symlink(aim.c_str(), counters.c_str()), 0);
    ASSERT_EQ(symlink(aim.c_str(), reference.c_str()), 0);
  }
  const auto end = program(counters);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("counters.file: '" + counters + "' cannot be written (it is a link); "))
      << end;
  EXPECT_TRUE(end.printed("counters.reference: '" + reference +
                          "' cannot be written: it is a link"))
      << end;
  EXPECT_TRUE(end.printed("{\"/threads/count/cumulative\":")) << "on standard error: " << end;
  EXPECT_EQ(text_of(aim), "of the user");
}

TEST_F(output_file, is_made_by_no_link_to_nothing) {
  if (!test::is_child()) {
    ASSERT_EQ(symlink(aim.c_str(), counters.c_str()), 0);
  }
  const auto end = program(counters);
  EXPECT_TRUE(end.printed("cannot be written (it is a link); ")) << end;
  EXPECT_FALSE(fs::exists(aim));
}

TEST_F(output_file, with_a_second_name_is_not_emptied) {
  if (!test::is_child()) {
    write(aim, "of the user");
    ASSERT_EQ(link(aim.c_str(), counters.c_str()), 0);
  }
  const auto end = program(counters);
  EXPECT_TRUE(end.printed("cannot be written (it has a second name); ")) << end;
  EXPECT_EQ(text_of(aim), "of the user");
}

TEST_F(output_file, of_another_user_gets_no_data) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file to another user";
  if (!test::is_child()) {
    for (const std::string &planted : {counters, reference}) {
      write(planted, "");
      ASSERT_EQ(chmod(planted.c_str(), 0666), 0);
      ASSERT_EQ(chown(planted.c_str(), 65534, 65534), 0);
    }
  }
  const auto end = program(counters);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("cannot be written (it belongs to another user); ")) << end;
  EXPECT_TRUE(end.printed("cannot be written: it belongs to another user")) << end;
  EXPECT_EQ(text_of(counters) + text_of(reference), "");
}

TEST_F(output_file, of_a_pipe_of_another_user_is_waited_for_by_no_program) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a pipe to another user";
  if (!test::is_child()) {
    ASSERT_EQ(mkfifo(counters.c_str(), 0666), 0);
    ASSERT_EQ(chown(counters.c_str(), 65534, 65534), 0);
  }
  const auto end = program(counters);
  EXPECT_TRUE(end.printed("cannot be written (it belongs to another user); ")) << end;
}

TEST_F(output_file, of_the_user_is_emptied_and_a_new_one_is_private) {
  if (!test::is_child())
    write(counters, "a run before this one that has written much more than the next one will");
  const mode_t mask = umask(0);
  const auto end = program(counters);
  umask(mask);
  EXPECT_TRUE(end.exited(0)) << end;
  const std::string line = text_of(counters);
  EXPECT_TRUE(line.starts_with("{")) << line;
  EXPECT_TRUE(line.ends_with("}\n")) << line;
  struct stat made{};
  ASSERT_EQ(stat(reference.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 07777, 0600u);
}

TEST_F(output_file, may_be_one_that_is_open) {
  for (const char *open_already : {"/dev/stdout", "/dev/fd/2", "/proc/self/fd/1"}) {
    const auto end = program(open_already);
    EXPECT_TRUE(end.exited(0)) << end;
    EXPECT_FALSE(end.printed("cannot be written")) << end;
    EXPECT_TRUE(end.printed("{\"/threads/count/cumulative\":")) << open_already << end;
  }
}

} // namespace
