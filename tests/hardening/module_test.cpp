// SPDX-License-Identifier: Apache-2.0
// dlopen and dlclose of libweft and of modules that use it, by a program that knows nothing of Weft.
#include "support/process.hpp"

#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

class modules : public testing::Test {
 protected:
  void SetUp() override {
    const std::string self = test::program_path();
    m_folder = self.substr(0, self.rfind('/'));
    if (access((m_folder + "/weft_host").c_str(), X_OK) != 0)
      GTEST_SKIP() << "modules: needs the shared library (WEFT_SHARED)";
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "modules: a host without sanitizers cannot load a library that has them";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    GTEST_SKIP() << "modules: a host without sanitizers cannot load a library that has them";
#endif
#endif
  }
  test::ending host(std::vector<std::string> libraries) {
    for (std::string &name : libraries)
      name.insert(0, m_folder + "/");
    libraries.insert(libraries.begin(), m_folder + "/weft_host");
    return test::run(libraries, {});
  }
  std::string m_folder;
};

TEST_F(modules, libweft_is_loaded_used_and_unloaded_again_and_again) {
  const auto end = host({"../lib/libweft.so"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output, "stays\nstays\nstays\n") << "its workers need its code";
}

TEST_F(modules, a_plugin_is_unloaded_and_comes_back) {
  const auto end = host({"weft_plugin_first.so"});
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST_F(modules, what_one_plugin_leaves_behind_does_not_need_its_code) {
  const auto end = host({"weft_plugin_first.so", "weft_plugin_second.so"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("unloaded")) << "else the case shows nothing; " << end;
}

TEST_F(modules, a_plugin_with_weft_inside_stays) {
  const auto end = host({"weft_plugin_static.so"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output, "stays\nstays\nstays\n");
}

} // namespace
