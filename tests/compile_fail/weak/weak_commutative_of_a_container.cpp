// expect: assert.*this access names the address of the container.*weft::region\(v\) for the elements, or weft::object\(v\) for the container
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <vector>

void f(std::vector<int> &v) {
  weft::spawn([] {}, weft::weak_commutative(v)); // the vector, or its elements?
}
