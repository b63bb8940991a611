// SPDX-License-Identifier: Apache-2.0
// What the C functions refuse, they refuse by their own name and that of the parameter, before anything else finds fault with it.
#include <weft.h>

#include <gtest/gtest.h>
#include <string>

namespace {

/// What the call said, which must have been refused as an invalid argument.
std::string said(int status) {
  EXPECT_EQ(status, WEFT_ERR_INVALID_ARGUMENT);
  return weft_last_error_message();
}

TEST(c_refusal, names_function_and_parameter) {
  const auto body = [](void *) { return 0; };
  const auto chunk = [](const weft_range *, void *) { return 0; };
  EXPECT_EQ(said(weft_task_unblock(nullptr)),
            "weft_task_unblock: 'task' is NULL; it must point to an object");
  EXPECT_EQ(said(weft_task_decrease_events(nullptr, 1)),
            "weft_task_decrease_events: 'task' is NULL; it must point to an object");
  EXPECT_EQ(said(weft_taskiter(2, nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr)),
            "weft_taskiter: the function to call is NULL");
  EXPECT_EQ(said(weft_taskiter(2, nullptr, body, nullptr, 8, nullptr, 0, nullptr, nullptr)),
            "weft_taskiter: 'arg' is NULL; it must point to an object");
  EXPECT_EQ(said(weft_taskfor({0, 4, 1}, nullptr, nullptr, 0, 1, nullptr, 0, nullptr, nullptr)),
            "weft_taskfor: the function to call is NULL");
  EXPECT_EQ(said(weft_taskfor({0, 4, 1}, chunk, nullptr, 8, 1, nullptr, 0, nullptr, nullptr)),
            "weft_taskfor: 'arg' is NULL; it must point to an object");
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

TEST(c_loop, an_argument_of_no_bytes_is_passed_as_it_is) {
  static void *seen = nullptr;
  int x = 0;
  const auto record = [](void *arg) {
    seen = arg;
    return 0;
  };
  ASSERT_EQ(weft_taskiter(1, nullptr, record, &x, 0, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(seen, &x);
  seen = nullptr;
  ASSERT_EQ(weft_taskiter(1, nullptr, record, &x, sizeof x, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_TRUE(seen && seen != &x) << "a copy";
}

TEST(c_reduction, that_differs_in_its_beginning_or_its_context_alone_is_another_one) {
  int x = 0, first = 0, second = 0;
  weft_reduction one;
  ASSERT_EQ(weft_reduction_builtin(&one, &x, 1, WEFT_INT32, WEFT_SUM), 0);
  one.context = &first;
  weft_reduction same = one, context = one, begins = one;
  context.context = &second;
  begins.init = [](void *, std::size_t, void *) {};
  const auto spawn = [](const weft_reduction &a, const weft_reduction &b) {
    const weft_access both[] = {weft_reduce(&a), weft_reduce(&b)};
    return weft_spawn([](void *) { return 0; }, nullptr, 0, both, 2, nullptr, nullptr);
  };
  EXPECT_EQ(spawn(one, same), 0);
  EXPECT_EQ(spawn(one, context), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(spawn(one, begins), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

} // namespace
