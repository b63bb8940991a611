// SPDX-License-Identifier: Apache-2.0
// The file of findings: what is written is read again; what is cut, of another program, or made to do harm is
// ignored with a sentence, and stays as it is.
#include "tune/history.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace weft::rt;

class history : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/weft-history-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    m_folder = name;
    m_path = m_folder + "/a/b/tuning";
  }
  void TearDown() override {
    for (const char *name : {"/a/b/tuning", "/a/b/tuning.lock", "/a/b/other"})
      unlink((m_folder + name).c_str());
    for (const char *name : {"/a/b", "/a", ""})
      EXPECT_EQ(rmdir((m_folder + name).c_str()), 0) << "something was left in " << name;
  }

  static finding make(const std::string &site, unsigned workers = 2) {
    return {{"b1", site, 20, "machine, 2 cpus", workers},
            {{"x.size", "4096"}, {"x.order", "by row = 100%"}},
            0.5};
  }
  std::optional<std::string> write(const finding &found) {
    return write_history(m_path, found, 10'000'000'000);
  }
  std::vector<finding> read() { return read_history(m_path, m_trouble); }
  std::string text() {
    std::ifstream file(m_path);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void put(const std::string &text) {
    std::ofstream(m_path, std::ios::trunc) << text;
    chmod(m_path.c_str(), 0600);
  }
  bool says(const std::string &part) const { return m_trouble.find(part) != std::string::npos; }

  std::string m_folder, m_path, m_trouble;
};

TEST_F(history, is_read_as_it_was_written) {
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(m_trouble, "") << "a file that does not exist is no trouble";
  EXPECT_EQ(write(make("one")), "") << "folders are made";
  EXPECT_EQ(write(make("two")), "");
  EXPECT_EQ(write(make("one", 3)), "");
  const auto all = read();
  EXPECT_EQ(m_trouble, "");
  EXPECT_EQ(all, (std::vector<finding>{make("one"), make("two"), make("one", 3)}));
  EXPECT_EQ(find_in(all, make("one").key), make("one"));
  EXPECT_EQ(find_in(all, make("three").key), std::nullopt);
  finding other = make("one");
  other.values = {{"x.size", "8"}};
  EXPECT_EQ(write(other), "") << "in the place of that of its key";
  EXPECT_EQ(find_in(read(), other.key), other);
  EXPECT_EQ(read().size(), 3u);
  other.values.clear();
  EXPECT_EQ(write(other), "") << "one without values removes it";
  EXPECT_EQ(read().size(), 2u);
}

TEST_F(history, each_part_of_the_key_counts) {
  ASSERT_EQ(write(make("one")), "");
  const auto all = read();
  const finding_key key = make("one").key;
  for (int part = 0; part < 5; ++part) {
    finding_key other = key;
    (part == 0 ? other.build : part == 1 ? other.site : other.machine) += part < 3 ? "x" : "";
    other.size += part == 3;
    other.workers += part == 4;
    EXPECT_EQ(find_in(all, other), std::nullopt) << part;
  }
}

TEST_F(history, a_file_that_is_cut_loses_its_last_line_only) {
  ASSERT_EQ(write(make("one")), "");
  const std::size_t first = text().size();
  ASSERT_EQ(write(make("two")), "");
  const std::string whole = text();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    const auto all = read();
    EXPECT_EQ(all.size(), length >= first ? 1u : 0u) << length;
    EXPECT_EQ(m_trouble.empty(), length == first || length == 14 || length == 0)
        << length << ": " << m_trouble;
  }
}

TEST_F(history, any_changed_byte_is_noticed) {
  ASSERT_EQ(write(make("one")), "");
  const std::string whole = text();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char c : {'\0', '\n', '\t', '~', '\xff'}) {
      if (whole[at] == c)
        continue;
      std::string changed = whole;
      changed[at] = c;
      put(changed);
      EXPECT_TRUE(read().empty()) << at;
      EXPECT_FALSE(m_trouble.empty()) << at;
    }
}

TEST_F(history, files_of_others_are_neither_read_nor_written_and_say_why) {
  ASSERT_EQ(write(make("one")), "");
  const std::string mine = text();
  put("something else\n");
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(says("its first line is not 'weft-tuning 1'")) << m_trouble;
  EXPECT_TRUE(says("remove it, or let tune.history name another file")) << m_trouble;
  EXPECT_EQ(write(make("one")), m_trouble) << "it is not replaced";
  EXPECT_EQ(text(), "something else\n");
  put("weft-tuning 2\nof a later version\n");
  EXPECT_NE(write(make("one")), "");
  EXPECT_EQ(text(), "weft-tuning 2\nof a later version\n");
  put(mine);
  chmod(m_path.c_str(), 0622);
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(says("other users can write it")) << m_trouble;
  EXPECT_EQ(write(make("two")), m_trouble);
  EXPECT_EQ(text(), mine);
  if (geteuid() == 0) {
    chmod(m_path.c_str(), 0600);
    ASSERT_EQ(chown(m_path.c_str(), 4711, 0), 0);
    EXPECT_TRUE(read().empty());
    EXPECT_TRUE(says("it belongs to another user")) << m_trouble;
    EXPECT_EQ(write(make("two")), m_trouble);
    EXPECT_EQ(text(), mine);
  }
  unlink(m_path.c_str());
  const std::string other = m_folder + "/a/b/other";
  std::ofstream(other) << mine;
  ASSERT_EQ(symlink(other.c_str(), m_path.c_str()), 0);
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(says("it is a link")) << m_trouble;
  EXPECT_EQ(write(make("two")), m_trouble);
  EXPECT_EQ(unlink(other.c_str()), 0) << "the link is there";
  EXPECT_EQ(unlink(m_path.c_str()), 0);
  ASSERT_EQ(mkfifo(m_path.c_str(), 0600), 0);
  EXPECT_TRUE(read().empty()) << "and it does not block";
  EXPECT_TRUE(says("it is no plain file")) << m_trouble;
  EXPECT_EQ(write(make("two")), m_trouble);
  unlink(m_path.c_str());
  put(std::string(k_largest_history + 1, 'x'));
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(says("larger than 512 KiB")) << m_trouble;
  EXPECT_EQ(write(make("two")), m_trouble);
  EXPECT_EQ(text().size(), k_largest_history + 1);
}

TEST_F(history, an_empty_file_and_bad_lines_do_not_keep_others_from_being_written) {
  ASSERT_EQ(write(make("one")), "");
  const std::string mine = text();
  put("");
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(m_trouble, "");
  EXPECT_EQ(write(make("one")), "");
  EXPECT_EQ(text(), mine);
  put(mine + "a bad line\n");
  EXPECT_EQ(write(make("two")), "");
  EXPECT_EQ(read(), (std::vector<finding>{make("one"), make("two")}));
  EXPECT_EQ(m_trouble, "") << "it has gone";
}

TEST_F(history, waits_for_another_writer_as_long_as_it_is_told) {
  ASSERT_EQ(write(make("one")), "");
  const int lock = open((m_path + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  for (const std::uint64_t patience : {0, 5'000'000})
    EXPECT_EQ(write_history(m_path, make("two"), patience), std::nullopt);
  EXPECT_EQ(read().size(), 1u);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flock(lock, LOCK_UN);
  });
  EXPECT_EQ(write(make("two")), "");
  other.join();
  EXPECT_EQ(read().size(), 2u);
  close(lock);
}

TEST_F(history, keeps_the_newest_findings) {
  ASSERT_EQ(write(make("s")), "");
  std::string lines = "weft-tuning 1\n";
  const std::string one = text().substr(lines.size());
  for (std::size_t i = 0; i < k_most_findings + 5; ++i)
    lines += one;
  put(lines);
  EXPECT_EQ(read().size(), k_most_findings);
  EXPECT_TRUE(says("5 lines of the history")) << m_trouble;
  put(lines.substr(0, 14 + one.size() * k_most_findings));
  ASSERT_EQ(write(make("new")), "");
  const auto all = read();
  ASSERT_EQ(all.size(), k_most_findings) << "the oldest has gone";
  EXPECT_EQ(all.back(), make("new"));
}

TEST_F(history, a_finding_that_is_too_long_is_not_written) {
  EXPECT_NE(write(make(std::string(2000, 's'))), "");
  ASSERT_EQ(write(make("one\ttab\nline")), "");
  EXPECT_EQ(read().size(), 1u);
  EXPECT_EQ(read()[0].key.site, "one tab line");
}

TEST_F(history, a_site_with_control_characters_has_one_line_and_is_found) {
  const finding odd = make("one\ttab\nline");
  ASSERT_EQ(write(odd), "");
  ASSERT_EQ(write(odd), "");
  EXPECT_EQ(read().size(), 1u) << "the second one is in the place of the first";
  const auto found = find_in(read(), odd.key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->values, odd.values);
}

TEST_F(history, a_place_that_cannot_be_written_is_a_sentence) {
  mkdir((m_folder + "/a").c_str(), 0700);
  std::ofstream(m_folder + "/a/b") << "a file";
  const auto said = write(make("one"));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("the program goes on without"), std::string::npos) << *said;
  unlink((m_folder + "/a/b").c_str());
  mkdir((m_folder + "/a/b").c_str(), 0700);
}

TEST_F(history, processes_that_write_at_once_lose_nothing) {
  constexpr int k_processes = 4, k_each = 8;
  std::vector<pid_t> writers;
  for (int p = 0; p < k_processes; ++p) {
    const pid_t writer = fork();
    if (writer == 0) {
      for (int i = 0; i < k_each; ++i)
        if (write(make(std::to_string(p * 100 + i))) != "")
          _exit(1);
      _exit(0);
    }
    writers.push_back(writer);
  }
  for (const pid_t writer : writers) {
    std::string trouble;
    static_cast<void>(read_history(m_path, trouble));
    EXPECT_EQ(trouble, "") << "a reader sees a whole file";
    int status = 1;
    waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read().size(), static_cast<std::size_t>(k_processes * k_each));
}

TEST_F(history, is_where_the_setting_says) {
  EXPECT_EQ(history_path("none"), "");
  EXPECT_EQ(history_path("/x/y"), "/x/y");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(history_path("auto"), "/cache/weft/tuning");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(history_path("auto"), "/home/me/.cache/weft/tuning");
  setenv("HOME", "", 1);
  EXPECT_EQ(history_path("auto"), "");
  mkdir((m_folder + "/a").c_str(), 0700);
  mkdir((m_folder + "/a/b").c_str(), 0700);
}

TEST(finding_keys, name_build_machine_and_size) {
  EXPECT_GE(build_of_program().size(), 8u);
  EXPECT_EQ(build_of_program(), build_of_program());
  EXPECT_NE(machine_name(2), machine_name(3));
  EXPECT_EQ(size_bucket(1024), 10);
  EXPECT_EQ(size_bucket(2047), 10);
  EXPECT_EQ(size_bucket(2048), 11);
  EXPECT_EQ(size_bucket(0), 0);
  EXPECT_EQ(size_bucket(-3), 0);
}

} // namespace
