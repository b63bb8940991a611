// SPDX-License-Identifier: Apache-2.0
// How ranks on several hosts find each other by PMIx, with a libpmix of the test.
#include "boot_calls.hpp"

#include "weft_net/boot/pmix.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace weft_net;
using net_test::line_of_a_process;
using net_test::why_not;

/// Is what the fake of libpmix does (pmix_fake.cpp).
struct pmix_fake {
  pmix_fake() : library(dlopen(WEFT_HAVE_PMIX, RTLD_NOW)) {
    if (library)
      reset = reinterpret_cast<void (*)()>(dlsym(library, "pmix_fake_reset"));
    reset();
  }
  template <class T>
  T &at(const char *name) const {
    return *static_cast<T *>(dlsym(library, name));
  }
  void *library;
  void (*reset)() = nullptr;
};

TEST(boot_by_pmix, a_value_is_shared_by_pmix) {
  const pmix_fake fake;
  EXPECT_EQ(share_by_pmix(WEFT_HAVE_PMIX, 0, "10.0.0.1:70/abc", 7), "10.0.0.1:70/abc");
  EXPECT_EQ(fake.at<int>("pmix_fake_timeout"), 7);
  fake.at<unsigned>("pmix_fake_rank") = 1;
  EXPECT_EQ(share_by_pmix(WEFT_HAVE_PMIX, 1, "127.0.0.1:7/def", 7), "10.0.0.1:70/abc");
}

TEST(boot_by_pmix, each_failure_of_pmix_has_its_message) {
  const auto expect = [](const char *library, int rank, const char *value, const std::string &part) {
    const std::string text = why_not([&] { static_cast<void>(share_by_pmix(library, rank, value, 1)); });
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect("libno-such-pmix.so.2", 0, "a:1/b", "libno-such-pmix.so.2: cannot open");
  expect("libno-such-pmix.so.2", 0, "a:1/b", "install it (Debian: libpmix2)");
  expect("libm.so.6", 0, "a:1/b", "the library has no PMIx_Init");
  const pmix_fake fake;
  expect(WEFT_HAVE_PMIX, 1, "a:1/b", "is rank 0 of 'fake' there, and rank 1 by its environment");
  expect(WEFT_HAVE_PMIX, 0, "", "the host of rank 0 has no address that other hosts can reach");
  for (const auto &[failing, part] :
       {std::pair{"pmix_fake_init", "does not answer (PMIx_Init): status -7"},
        {"pmix_fake_fence", "not all ranks have come (PMIx_Fence): status -7"},
        {"pmix_fake_get", "there is no value of rank 0, which says where the ranks meet (PMIx_Get): status -7"}}) {
    fake.reset();
    fake.at<int>(failing) = -7;
    expect(WEFT_HAVE_PMIX, 0, "a:1/b", part);
  }
  fake.reset();
  fake.at<bool>("pmix_fake_gives_number") = true;
  expect(WEFT_HAVE_PMIX, 0, "a:1/b", "the value of rank 0 is no text");
}

TEST(boot_by_pmix, pmix_is_finalized_at_exit) {
  const pmix_fake fake;
  const auto share = [&fake](int line) {
    fake.at<int>("pmix_fake_line") = line;
    static_cast<void>(share_by_pmix(WEFT_HAVE_PMIX, 0, "a:1/b", 1));
  };
  EXPECT_EQ(line_of_a_process(share, true), "PMIx_Finalize\n");
  EXPECT_EQ(line_of_a_process([&](int line) {
              share(line);
              finalize_pmix(); // once, also where exit() follows
            }, true),
            "PMIx_Finalize\n");
  EXPECT_EQ(line_of_a_process([&](int line) {
              share(line);
              const pid_t child = fork();
              if (child == 0)
                std::exit(0); // whose parent has the library
              int status = 0;
              waitpid(child, &status, 0);
              _exit(WEXITSTATUS(status));
            }, true),
            "");
}

} // namespace
