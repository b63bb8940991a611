// SPDX-License-Identifier: Apache-2.0
// What belongs to threads, seen by tasks that move between them: user code of each compiler, position
// independent and not. TEST_TLS_MIGRATIONS sets how often they move.
#include "support/process.hpp"
#include "support/scale.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace {

class tls : public testing::TestWithParam<const char *> {};

TEST_P(tls, is_right_by_the_rule_and_a_breach_of_the_rule_is_reported) {
  if (test::k_sanitized)
    GTEST_SKIP()
        << "thread-local storage: user code without sanitizers does not go with a library that has them";
  const std::string self = test::program_path();
  const std::string program = self.substr(0, self.rfind('/')) + "/weft_tls_" + GetParam();
  if (access(program.c_str(), X_OK) != 0)
    GTEST_SKIP() << "thread-local storage: " << program
                 << " was not built (the shared library and both compilers)";
  const char *given = std::getenv("TEST_TLS_MIGRATIONS");
  test::environment settings{{"WEFT_WORKERS", "4"}, {"WEFT_SCHED_POLICY", "central"}};
#ifdef NDEBUG
  settings.emplace_back("WEFT_CHECK_SUSPENSIONS", "warn"); // debug builds do so by themselves
#endif
  const auto end = test::run({program, given ? given : "400"}, settings, std::chrono::seconds(280));
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("careful: 0 wrong in enough migrations")) << end;
  EXPECT_TRUE(end.printed(" made, 0 left")) << end;
  // Whether the compiler keeps an address is its own choice; where it does, the breach is reported.
  EXPECT_TRUE(end.printed("naive: errno right, thread_local right") ||
              end.printed("task 'naive' goes on on another thread with the address"))
      << end;
}
INSTANTIATE_TEST_SUITE_P(compilers, tls,
                         testing::Values("own_plain", "own_pic", "other_plain", "other_pic"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
