// expect: deleted (function|constructor)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <vector>

std::vector<int> read();

void f() {
  weft::spawn([] {}, weft::in(weft::object(read()))); // no other task could name that address
}
