// expect: (no match for call|does not provide a call operator|no matching function for call|too few
// arguments) SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f() {
  weft::join([](int) {}, [] {});
}
