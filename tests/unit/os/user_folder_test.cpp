// SPDX-License-Identifier: Apache-2.0
// The folder of a user's own: made private, and refused where another user could have a hand in it.
#include "os/file.hpp"

#include <weft_common/user_folder.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using weft_common::make_user_folder;
using weft_common::user_folder;

/// Stands for /dev/shm, with its sticky bit, and for a runtime folder.
class own_user_folder : public testing::Test {
 protected:
  own_user_folder() {
    std::string name = testing::TempDir() + "weft-user-folder-XXXXXX";
    if (mkdtemp(name.data()))
      top = name;
    shared = top + "/shm";
    runtime = top + "/run";
    mkdir(shared.c_str(), 0700);
    chmod(shared.c_str(), 01777);
    mkdir(runtime.c_str(), 0700);
    chmod(runtime.c_str(), 0700);
    own = shared + "/weft-" + std::to_string(geteuid());
  }
  ~own_user_folder() override { fs::remove_all(top); }

  [[nodiscard]] static unsigned mode_of(const std::string &path) {
    struct stat s{};
    return stat(path.c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
  }
  [[nodiscard]] static bool says(const user_folder &folder, const char *part) {
    return folder.trouble.find(part) != std::string::npos;
  }

  std::string top, shared, runtime, own;
};

TEST_F(own_user_folder, is_made_for_this_user_alone_and_found_again) {
  for (int i = 0; i < 2; ++i) {
    const user_folder made = make_user_folder(nullptr, geteuid(), shared);
    EXPECT_EQ(made.path, own + "/") << made.trouble;
    EXPECT_FALSE(made.planted);
    EXPECT_EQ(mode_of(own), 0700u);
  }
}

TEST_F(own_user_folder, is_in_the_runtime_folder_where_that_is_the_users_alone) {
  EXPECT_EQ(make_user_folder(runtime.c_str(), geteuid(), shared).path, runtime + "/weft/");
  EXPECT_EQ(mode_of(runtime + "/weft"), 0700u);
  EXPECT_FALSE(fs::exists(own));
}

TEST_F(own_user_folder, passes_over_a_runtime_folder_that_is_not_the_users) {
  for (const char *none : {"", "run", "/none/of/these"})
    EXPECT_EQ(make_user_folder(none, geteuid(), shared).path, own + "/") << none;
  for (const mode_t open_to_others : {0750, 0707, 0701}) {
    chmod(runtime.c_str(), open_to_others);
    EXPECT_EQ(make_user_folder(runtime.c_str(), geteuid(), shared).path, own + "/");
  }
  EXPECT_FALSE(fs::exists(runtime + "/weft"));
}

TEST_F(own_user_folder, is_refused_with_the_mode_that_lets_others_in) {
  mkdir(own.c_str(), 0700);
  for (const mode_t open_to_others : {0777, 0710, 0701, 0740, 01704}) {
    chmod(own.c_str(), open_to_others);
    const user_folder refused = make_user_folder(nullptr, geteuid(), shared);
    EXPECT_EQ(refused.path, "");
    EXPECT_TRUE(refused.planted);
    EXPECT_TRUE(says(refused, ("chmod 700 " + own).c_str())) << refused.trouble;
  }
}

TEST_F(own_user_folder, is_refused_with_another_owner) {
  struct stat planted{};
  planted.st_mode = S_IFDIR | 0700;
  planted.st_uid = 4711;
  EXPECT_FALSE(weft_common::is_private(planted, 4712));
  EXPECT_TRUE(weft_common::is_private(planted, 4711));
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can make a folder of another user";
  mkdir(own.c_str(), 0700);
  ASSERT_EQ(chown(own.c_str(), 65534, 65534), 0);
  const user_folder refused = make_user_folder(nullptr, geteuid(), shared);
  EXPECT_EQ(refused.path, "");
  EXPECT_TRUE(refused.planted);
  EXPECT_TRUE(says(refused, "belongs to user 65534")) << refused.trouble;
}

TEST_F(own_user_folder, is_never_a_link_or_a_file) {
  const std::string aim = top + "/aim";
  mkdir(aim.c_str(), 0700);
  ASSERT_EQ(symlink(aim.c_str(), own.c_str()), 0);
  EXPECT_TRUE(make_user_folder(nullptr, geteuid(), shared).planted);
  fs::remove(own);
  ASSERT_EQ(symlink((top + "/nothing").c_str(), own.c_str()), 0);
  EXPECT_TRUE(make_user_folder(nullptr, geteuid(), shared).planted);
  EXPECT_FALSE(fs::exists(top + "/nothing")) << "a link to nothing makes nothing";
  fs::remove(own);
  std::ofstream(own) << "data";
  const user_folder refused = make_user_folder(nullptr, geteuid(), shared);
  EXPECT_TRUE(refused.planted);
  EXPECT_EQ(refused.path, "");
  EXPECT_TRUE(says(refused, "has to remove it")) << refused.trouble;
}

TEST_F(own_user_folder, is_refused_below_a_folder_whose_entries_others_can_rename) {
  for (const mode_t loose : {0777, 0720, 0702}) {
    chmod(shared.c_str(), loose);
    const user_folder refused = make_user_folder(nullptr, geteuid(), shared);
    EXPECT_TRUE(refused.planted);
    EXPECT_TRUE(says(refused, "chmod +t")) << refused.trouble;
    EXPECT_FALSE(fs::exists(own));
  }
  struct stat of_third{};
  of_third.st_mode = S_IFDIR | 0755;
  of_third.st_uid = 4711;
  EXPECT_FALSE(weft_common::keeps_entries(of_third, 4712));
  EXPECT_TRUE(weft_common::keeps_entries(of_third, 4711));
}

TEST_F(own_user_folder, says_what_is_missing) {
  const user_folder none = make_user_folder(nullptr, geteuid(), top + "/none");
  EXPECT_EQ(none.path, "");
  EXPECT_FALSE(none.planted) << "no user has planted anything";
  EXPECT_TRUE(says(none, "No such file")) << none.trouble;
}

TEST_F(own_user_folder, is_only_looked_at_where_it_is_not_to_be_made) {
  EXPECT_EQ(weft_common::checked_folder(shared, "weft-1", geteuid(), false).path, "");
  EXPECT_FALSE(fs::exists(shared + "/weft-1"));
}

TEST_F(own_user_folder, has_new_files_that_follow_no_link_and_replace_nothing) {
  const std::string file = top + "/file", aim = top + "/aim";
  const mode_t mask = umask(0);
  const int made = weft::rt::open_new(file, O_WRONLY);
  umask(mask);
  ASSERT_GE(made, 0);
  close(made);
  EXPECT_EQ(mode_of(file), 0600u);
  EXPECT_EQ(weft::rt::open_new(file, O_WRONLY), -1);
  EXPECT_EQ(errno, EEXIST);
  fs::remove(file);
  ASSERT_EQ(symlink(aim.c_str(), file.c_str()), 0);
  EXPECT_EQ(weft::rt::open_new(file, O_WRONLY), -1);
  EXPECT_FALSE(fs::exists(aim));
}

TEST_F(own_user_folder, has_shared_files_that_are_made_once_and_follow_no_link) {
  const std::string file = top + "/list", aim = top + "/aim";
  const mode_t mask = umask(0);
  const int made = weft::rt::open_shared(file);
  umask(mask);
  ASSERT_GE(made, 0);
  EXPECT_EQ(mode_of(file), 0600u);
  const int again = weft::rt::open_shared(file);
  struct stat first{}, second{};
  ASSERT_EQ(fstat(made, &first), 0);
  ASSERT_EQ(fstat(again, &second), 0);
  EXPECT_EQ(first.st_ino, second.st_ino);
  close(made);
  close(again);
  fs::remove(file);
  ASSERT_EQ(symlink(aim.c_str(), file.c_str()), 0);
  EXPECT_EQ(weft::rt::open_shared(file), -1);
  EXPECT_EQ(errno, ELOOP);
  EXPECT_FALSE(fs::exists(aim));
  EXPECT_EQ(weft::rt::open_shared(top + "/none/list"), -1);
  EXPECT_EQ(errno, ENOENT);
}

} // namespace
