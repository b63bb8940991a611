// SPDX-License-Identifier: Apache-2.0
#include "diagnose/sources.hpp"

#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace {

using asks = void(int);

struct sources_test : testing::Test {
  weft::rt::sources<asks> all;
  int ids[4] = {};
  /// Lists the numbers of the sources, and stops behind the `last` one.
  std::string seen(int last = 9) {
    std::string text;
    const bool to_the_end = all.visit([&](void *source, asks *) {
      const auto number = static_cast<int *>(source) - ids;
      text += std::to_string(number);
      return number != last;
    });
    return text + (to_the_end ? "." : "");
  }
};

TEST_F(sources_test, are_asked_in_the_order_in_which_they_came) {
  EXPECT_EQ(seen(), ".");
  for (int &id : ids)
    all.add(&id, nullptr);
  EXPECT_EQ(seen(), "0123.");
  EXPECT_EQ(seen(1), "01");
  all.remove(&ids[1]);
  all.remove(&ids[3]);
  EXPECT_EQ(seen(), "02.");
  all.remove(&ids[1]);
  all.remove(&ids[0]);
  all.add(&ids[3], nullptr);
  EXPECT_EQ(seen(), "23.");
  all.remove(&ids[2]);
  all.remove(&ids[3]);
  EXPECT_EQ(seen(), ".");
}

TEST_F(sources_test, cannot_be_asked_while_another_thread_asks_them) {
  all.add(&ids[0], nullptr);
  std::string inner = "not asked";
  EXPECT_TRUE(all.visit([&](void *, asks *) {
    std::thread([&] { inner = seen(); }).join();
    return true;
  }));
  EXPECT_EQ(inner, "");
  EXPECT_EQ(seen(), "0.");
}

} // namespace
