// SPDX-License-Identifier: Apache-2.0
// What killed programs leave is bounded: the oldest go first, what lives or was taken off the list stays.
#include "os/file.hpp"
#include "os/leftovers.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using weft::rt::leftover_kind;
using weft::rt::leftovers;

namespace {

namespace fs = std::filesystem;

bool lives(const std::string &path) { return path.find("alive") != std::string::npos; }
void remove(const std::string &path) { unlink(path.c_str()); }
std::uint64_t measured(const std::string &path) {
  std::error_code none;
  const auto bytes = fs::file_size(path, none);
  return none ? 0 : bytes;
}

std::vector<std::string> g_strays;
std::vector<std::string> strays() { return g_strays; }

class leftover_list : public testing::Test {
 protected:
  leftover_list() {
    std::string name = testing::TempDir() + "weft-leftovers-XXXXXX";
    if (mkdtemp(name.data()))
      folder = name + "/";
  }
  ~leftover_list() override { fs::remove_all(folder); }

  std::string make(const std::string &name, std::size_t bytes = 1) const {
    std::ofstream(folder + name) << std::string(bytes, 'x');
    return folder + name;
  }
  void enter(const leftover_kind &kind, const std::string &name, std::uint64_t bytes = 1) const {
    leftovers(list(), kind).enter(make(name), bytes);
  }
  [[nodiscard]] std::string list() const { return folder + "list"; }
  [[nodiscard]] bool is_there(const std::string &name) const {
    return access((folder + name).c_str(), F_OK) == 0;
  }
  [[nodiscard]] std::size_t lines() const {
    const std::string text = weft::rt::read_file(list()).value_or("");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) -
           1; // the first tells of strays
  }

  std::string folder;
};

constexpr leftover_kind k_three{3, 1000, 0, &lives, nullptr, &remove};

TEST_F(leftover_list, keeps_the_newest_and_removes_the_oldest) {
  for (int i = 0; i < 10; ++i)
    enter(k_three, std::to_string(i));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(is_there(std::to_string(i)), i >= 6)
        << i << ": three, and that of the program itself";
  EXPECT_EQ(lines(), 4u);
}

TEST_F(leftover_list, leaves_what_lives_and_looks_at_the_next) {
  enter(k_three, "alive");
  for (int i = 0; i < 10; ++i)
    enter(k_three, std::to_string(i));
  EXPECT_TRUE(is_there("alive"));
  EXPECT_TRUE(is_there("9"));
  EXPECT_FALSE(is_there("5"));
  EXPECT_LE(lines(), 5u);
}

TEST_F(leftover_list, of_programs_that_all_live_grows_and_shrinks_again) {
  for (int i = 0; i < 20; ++i)
    enter(k_three, "alive" + std::to_string(i));
  EXPECT_EQ(lines(), 20u);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(is_there("alive" + std::to_string(i)));
    leftovers(list(), k_three).take_off(folder + "alive" + std::to_string(i));
  }
  EXPECT_EQ(lines(), 0u);
  EXPECT_TRUE(is_there("alive0")) << "it was the program's to remove";
}

TEST_F(leftover_list, is_bounded_by_size_but_for_the_newest) {
  constexpr leftover_kind sized{100, 1000, 0, &lives, nullptr, &remove};
  enter(sized, "a", 400);
  enter(sized, "b", 400);
  enter(sized, "c", 5000);
  EXPECT_TRUE(is_there("a") && is_there("b") && is_there("c"));
  enter(sized, "d", 1);
  EXPECT_FALSE(is_there("a") || is_there("b"));
  EXPECT_TRUE(is_there("c") && is_there("d")) << "what came last is read, however large";
  leftovers(list(), sized).resize(folder + "d", 2000);
  enter(sized, "e", 1);
  EXPECT_FALSE(is_there("c"));
  EXPECT_TRUE(is_there("d"));
}

TEST_F(leftover_list, measures_what_grows_unseen) {
  constexpr leftover_kind sized{100, 1000, 0, &lives, &measured, &remove};
  enter(sized, "a");
  enter(sized, "b");
  make("a", 2000);
  enter(sized, "c");
  EXPECT_FALSE(is_there("a"));
  EXPECT_TRUE(is_there("b") && is_there("c"));
}

TEST_F(leftover_list, removes_what_is_too_old) {
  constexpr leftover_kind aged{100, 1000, 3600, &lives, nullptr, &remove};
  enter(aged, "old");
  enter(aged, "young");
  std::string text = weft::rt::read_file(list()).value_or("");
  const auto at = text.find(' ', text.find('\n')) - 10;
  text.replace(at, 10, "1000000000"); // of 2001
  std::ofstream(list()) << text;
  enter(aged, "newest");
  EXPECT_FALSE(is_there("old"));
  EXPECT_TRUE(is_there("young") && is_there("newest"));
}

TEST_F(leftover_list, does_not_touch_what_has_taken_the_place_of_an_entry) {
  enter(k_three, "a");
  const std::string held = make("first");
  rename(held.c_str(), (folder + "a").c_str()); // another file of that name
  for (int i = 0; i < 10; ++i)
    enter(k_three, std::to_string(i));
  EXPECT_TRUE(is_there("a"));
}

TEST_F(leftover_list, that_others_could_write_is_not_used) {
  const std::string victim = make("victim");
  ASSERT_EQ(symlink(victim.c_str(), list().c_str()), 0);
  enter(k_three, "a");
  EXPECT_EQ(weft::rt::read_file(victim), "x");
  unlink(list().c_str());
  std::ofstream(list()) << "1 1 1 1 " << victim << "\n";
  ASSERT_EQ(chmod(list().c_str(), 0666), 0);
  const std::string before = weft::rt::read_file(list()).value_or("");
  enter(k_three, "b");
  EXPECT_EQ(weft::rt::read_file(list()), before);
}

TEST_F(leftover_list, that_is_a_link_to_another_file_is_not_written) {
  const std::string private_file = make("private");
  fs::permissions(private_file, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_EQ(link(private_file.c_str(), list().c_str()), 0);
  enter(k_three, "a");
  EXPECT_EQ(weft::rt::read_file(private_file), "x");
}

TEST_F(leftover_list, that_is_broken_is_read_as_far_as_it_makes_sense) {
  std::ofstream(list())
      << "swept x\nnonsense\n1 2\n1 2 3 4 relative\n99999999999999999999999 1 1 1 /x\n";
  ASSERT_EQ(chmod(list().c_str(), 0600), 0);
  enter(k_three, "a");
  EXPECT_EQ(lines(), 1u);
}

TEST_F(leftover_list, that_was_lost_is_made_again_from_what_lies_there) {
  g_strays.clear();
  for (int i = 0; i < 10; ++i)
    g_strays.push_back(make(std::to_string(i)));
  g_strays.push_back(make("alive"));
  const leftovers all(list(), k_three);
  all.enter(make("own"), 1, &strays);
  EXPECT_EQ(is_there("0"), false);
  EXPECT_EQ(is_there("6"), false);
  EXPECT_TRUE(is_there("alive") && is_there("own"));
  EXPECT_LE(lines(), 4u);
  g_strays = {make("late")};
  all.enter(make("next"), 1, &strays);
  const std::string text = weft::rt::read_file(list()).value_or("");
  EXPECT_EQ(text.find("late"), std::string::npos) << "it was looked for today";
}

TEST(file, without_end_is_not_read_for_ever) {
  EXPECT_EQ(weft::rt::read_file("/dev/zero", 10'000), std::nullopt);
  EXPECT_EQ(errno, EFBIG);
  const std::string path = testing::TempDir() + "weft-file-limit" + std::to_string(getpid());
  std::ofstream(path) << std::string(5000, 'y');
  EXPECT_EQ(weft::rt::read_file(path, 5000), std::string(5000, 'y'));
  EXPECT_EQ(weft::rt::read_file(path, 4999), std::nullopt);
  unlink(path.c_str());
}

} // namespace
