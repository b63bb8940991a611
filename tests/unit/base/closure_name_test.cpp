// SPDX-License-Identifier: Apache-2.0
// What reports and traces call a task without a label.
#include "base/closure_name.hpp"

#include <gtest/gtest.h>

namespace {

using weft::rt::closure_in;

TEST(closure_name, is_the_closure_of_the_signature) {
  EXPECT_EQ(closure_in("const char* closure_name() [with F = main()::<lambda()>]"),
            "main()::<lambda()>");
  EXPECT_EQ(closure_in("const char *closure_name() [F = (lambda at a.cpp:1:2)]"),
            "(lambda at a.cpp:1:2)");
  EXPECT_EQ(closure_in("nothing"), "");
  EXPECT_EQ(closure_in(nullptr), "");
}

TEST(closure_name, is_that_of_the_user_within_one_of_the_library) {
  EXPECT_EQ(closure_in("[with F = bound_call<main()::<lambda(int)>, int>]"),
            "main()::<lambda(int)>");
  EXPECT_EQ(closure_in("[with F = bound_call<f(int)::<lambda()> >]"), "f(int)::<lambda()>");
  EXPECT_EQ(closure_in("[with F = weft::v0::detail::bound_call<int (*)(int, int), int, int>]"),
            "int (*)(int, int)");
  EXPECT_EQ(closure_in("[with F = continuation<weft::v0::future<std::map<int, char> >, "
                       "g()::<lambda(std::map<int, char>)> >]"),
            "g()::<lambda(std::map<int, char>)>");
  EXPECT_EQ(closure_in("[F = weft::detail::continuation<weft::future<int>, (lambda at b.cpp:3:4)>]"),
            "(lambda at b.cpp:3:4)");
  EXPECT_EQ(closure_in("[with F = boxed<waiting_call<continuation<weft::v0::future<int>, h()::"
                       "<lambda(int)> >, 1> >]"),
            "h()::<lambda(int)>");
  EXPECT_EQ(closure_in("[with F = data_call<adder, std::tuple<int, int>, false, false>]"), "adder");
  EXPECT_EQ(closure_in("[with F = begun_coroutine<int>]"), "coroutine");
}

TEST(closure_name, stays_whole_where_it_cannot_be_read) {
  EXPECT_EQ(closure_in("[with F = bound_call<cut(int)::<lambda]"), "bound_call<cut(int)::<lambda");
  EXPECT_EQ(closure_in("[with F = bound_call<f)]"), "bound_call<f)");
  EXPECT_EQ(closure_in("[with F = continuation<weft::v0::future<int> >]"),
            "continuation<weft::v0::future<int> >");
  EXPECT_EQ(closure_in("[with F = my::bound_call<int>]"), "my::bound_call<int>");
}

} // namespace
