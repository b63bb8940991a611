// expect: a clause of weft::spawn must be an access
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(int &x) {
  weft::spawn([] {}, weft::in(x), &x);
}
