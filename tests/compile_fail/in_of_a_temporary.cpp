// expect: use of deleted function|call to deleted function 'in'
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(int x) {
  weft::spawn([] {}, weft::in(x + 1)); // no other task could name that address
}
