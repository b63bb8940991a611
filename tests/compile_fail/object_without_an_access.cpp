// expect: a clause of weft::spawn must be an access
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <vector>

void f(std::vector<int> &v) {
  weft::spawn([] {}, weft::object(v)); // in, out or inout of it?
}
