// expect: no match for call|no matching function for call
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f() {
  weft::join([](int) {}, [] {});
}
