// SPDX-License-Identifier: Apache-2.0
// Places in this program are given their file and line.
#include "os/source_lines.hpp"
#include "os/symbols.hpp"
#include "support/scale.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

[[gnu::noinline]] const void *here() { return __builtin_return_address(0); }

} // namespace

TEST(source_lines, are_added_to_places_that_have_some) {
  weft::rt::symbols all;
  std::string place = weft::rt::text_of(all.of_call(here())), again = place,
              nothing = "written as main()::<lambda()>", gone = "f()+0x1 (/no/such/file+0x10)";
  const std::string before = place;
  weft::rt::add_source_lines({&place, &nothing, &gone, &again});
  EXPECT_EQ(nothing, "written as main()::<lambda()>");
  EXPECT_EQ(gone, "f()+0x1 (/no/such/file+0x10)");
  EXPECT_EQ(place, again);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
#if !defined(WEFT_TEST_SANITIZED) && !defined(WEFT_TEST_EMULATOR)
  if (std::system("command -v addr2line >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "addr2line is not installed";
  EXPECT_TRUE(place.starts_with(before + " at ")) << place;
  EXPECT_NE(place.find("source_lines_test.cpp:"), std::string::npos) << place;
#endif
}
