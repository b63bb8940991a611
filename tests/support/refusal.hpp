// SPDX-License-Identifier: Apache-2.0
// What a call says that Weft refuses.
#pragma once

#include <weft/error.hpp>

#include <gtest/gtest.h>
#include <string>

namespace test {

/// The sentence of the weft::error, of code invalid_argument, that `f` throws.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    return e.what();
  }
  return "nothing was thrown";
}

} // namespace test
