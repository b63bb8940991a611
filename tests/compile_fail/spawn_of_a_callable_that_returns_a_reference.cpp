// expect: returns a reference: return a value or a pointer
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(int &x) {
  auto h = weft::spawn([&x]() -> int & { return x; });
}
