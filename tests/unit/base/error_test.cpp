// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "support/case_process.hpp"
#include "support/scale.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/resource.h>

namespace {

using weft::errc;

TEST(error, carries_its_code_and_its_sentence) {
  try {
    weft::rt::throw_error(errc::bad_setting, "%s is %d", "workers", 0);
    FAIL() << "nothing was thrown";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), errc::bad_setting);
    EXPECT_STREQ(e.what(), "workers is 0");
  }
}

TEST(error, is_a_runtime_error) {
  EXPECT_THROW(weft::rt::throw_error(errc::shut_down, "over"), std::runtime_error);
}

TEST(error, a_copy_keeps_code_and_sentence) {
  const weft::error first(errc::deadlock, "all wait");
  weft::error second(errc::no_block, "");
  second = first;
  EXPECT_EQ(second.code(), errc::deadlock);
  EXPECT_STREQ(second.what(), "all wait");
}

TEST(error, every_code_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (int code = 1; code <= 12; ++code)
    names.insert(weft::to_string(static_cast<errc>(code)));
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(weft::to_string(static_cast<errc>(0)), "unknown");
  EXPECT_STREQ(weft::to_string(static_cast<errc>(13)), "unknown");
}

/// The program's malloc() is that of the C library, so what fails is memory itself.
TEST(error, without_memory_for_its_text_has_its_code) {
  if (test::k_sanitized || test::k_emulated)
    GTEST_SKIP() << "a sanitizer has its own allocator, an emulator its own memory";
  const auto end = test::in_process({}, [] {
    const std::string long_text(900,
                                'x'); // no free block of the heap is that large once all is taken
    rlimit none{};
    getrlimit(RLIMIT_AS, &none);
    none.rlim_cur = 1;
    setrlimit(RLIMIT_AS, &none);
    for (void *volatile block = &none; block;)
      block = std::malloc(64);
    std::string seen;
    try {
      weft::rt::throw_error(weft::errc::out_of_resources, "%s", long_text.c_str());
    } catch (const weft::error &e) {
      none.rlim_cur = none.rlim_max;
      setrlimit(RLIMIT_AS, &none);
      EXPECT_EQ(e.code(), weft::errc::out_of_resources);
      seen = e.what();
    }
    EXPECT_EQ(seen, "no memory is left, not even to say what failed; see the code of this error");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
