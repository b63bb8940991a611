// expect: assert.*this access names the address of the container.*weft::region\(v\) for the elements, or weft::object\(v\) for the container
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <string>

void f(std::string &s) {
  weft::spawn([] {}, weft::out(s)); // the string, or its characters?
}
