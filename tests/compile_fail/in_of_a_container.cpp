// expect: assert.*this access names the address of the container.*weft::region\(v\) for the elements, or weft::object\(v\) for the container
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <vector>

void f(const std::vector<int> &v) {
  weft::spawn([] {}, weft::in(v)); // in order with out(v[0])? It would not be
}
