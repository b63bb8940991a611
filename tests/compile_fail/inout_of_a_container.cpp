// expect: assert.*this access names the address of the container.*weft::region\(v\) for the elements, or weft::object\(v\) for the container
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <span>

void f(std::span<int> s) {
  weft::spawn([] {}, weft::inout(s)); // the span is gone when f returns
}
