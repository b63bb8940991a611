// SPDX-License-Identifier: Apache-2.0
// Codes, their names, and the last message.
#include <weft.h>
#include <weft/error.hpp>

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace {

int negated(weft::errc code) { return -static_cast<int>(code); }

TEST(c_error, the_codes_are_those_of_cxx_negated) {
  EXPECT_EQ(WEFT_ERR_INVALID_ARGUMENT, negated(weft::errc::invalid_argument));
  EXPECT_EQ(WEFT_ERR_BAD_SETTING, negated(weft::errc::bad_setting));
  EXPECT_EQ(WEFT_ERR_OUT_OF_RESOURCES, negated(weft::errc::out_of_resources));
  EXPECT_EQ(WEFT_ERR_NOT_A_TASK, negated(weft::errc::not_a_task));
  EXPECT_EQ(WEFT_ERR_NO_BLOCK, negated(weft::errc::no_block));
  EXPECT_EQ(WEFT_ERR_EVENT_UNDERFLOW, negated(weft::errc::event_underflow));
  EXPECT_EQ(WEFT_ERR_SHUT_DOWN, negated(weft::errc::shut_down));
  EXPECT_EQ(WEFT_ERR_DEADLOCK, negated(weft::errc::deadlock));
  EXPECT_EQ(WEFT_ERR_ALREADY_STARTED, negated(weft::errc::already_started));
  EXPECT_EQ(WEFT_ERR_CANCELLED, negated(weft::errc::cancelled));
  EXPECT_EQ(WEFT_ERR_NOT_SUPPORTED, negated(weft::errc::not_supported));
  EXPECT_EQ(WEFT_ERR_RANK_LOST, negated(weft::errc::rank_lost));
}

TEST(c_error, the_codes_keep_their_numbers) {
  EXPECT_EQ(WEFT_OK, 0);
  EXPECT_EQ(WEFT_ERR_INVALID_ARGUMENT, -1);
  EXPECT_EQ(WEFT_ERR_NOT_SUPPORTED, -11);
  EXPECT_EQ(WEFT_ERR_RANK_LOST, -12);
  EXPECT_EQ(WEFT_ERR_TASK_FAILED, -100);
  EXPECT_EQ(WEFT_ERR_BUSY, -101);
  EXPECT_EQ(WEFT_ERR_TIMED_OUT, -102);
  EXPECT_EQ(WEFT_ERR_EXCEPTION, -103);
}

TEST(c_error, every_code_has_a_name) {
  EXPECT_STREQ(weft_error_string(0), "ok");
  for (int code = WEFT_ERR_INVALID_ARGUMENT; code >= WEFT_ERR_RANK_LOST; --code)
    EXPECT_STREQ(weft_error_string(code), weft::to_string(static_cast<weft::errc>(-code)));
  EXPECT_STREQ(weft_error_string(WEFT_ERR_CANCELLED), "cancelled");
  EXPECT_STREQ(weft_error_string(WEFT_ERR_TASK_FAILED), "task_failed");
  EXPECT_STREQ(weft_error_string(WEFT_ERR_BUSY), "busy");
  EXPECT_STREQ(weft_error_string(WEFT_ERR_TIMED_OUT), "timed_out");
  EXPECT_STREQ(weft_error_string(WEFT_ERR_EXCEPTION), "exception");
  EXPECT_STREQ(weft_error_string(-50), "unknown");
  EXPECT_STREQ(weft_error_string(1), "unknown");
}

TEST(c_error, the_last_message_names_function_and_parameter) {
  EXPECT_EQ(weft_group_cancel(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  const std::string said = weft_last_error_message();
  EXPECT_NE(said.find("weft_group_cancel"), std::string::npos) << said;
  EXPECT_NE(said.find("'group'"), std::string::npos) << said;
}

TEST(c_error, the_last_message_belongs_to_its_thread) {
  EXPECT_EQ(weft_group_cancel(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  const std::string mine = weft_last_error_message();
  std::string before, after;
  std::thread other([&] {
    before = weft_last_error_message();
    EXPECT_EQ(weft_mutex_unlock(nullptr), WEFT_ERR_INVALID_ARGUMENT);
    after = weft_last_error_message();
  });
  other.join();
  EXPECT_EQ(before, "");
  EXPECT_NE(after, "");
  EXPECT_NE(after, mine);
  EXPECT_EQ(weft_last_error_message(), mine);
}

TEST(c_error, a_long_message_is_cut_not_lost) {
  const std::string name(2000, 'x');
  weft_service *service = nullptr;
  EXPECT_EQ(weft_service_create(name.c_str(), WEFT_POLL_POINT_IDLE, 0, nullptr, nullptr, &service),
            WEFT_ERR_INVALID_ARGUMENT);
  const std::size_t length = std::strlen(weft_last_error_message());
  EXPECT_GT(length, 200u);
  EXPECT_LT(length, 2000u);
}

} // namespace
