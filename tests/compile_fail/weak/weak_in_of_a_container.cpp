// expect: assert.*this access names the address of the container.*weft::region\(v\) for the elements, or weft::object\(v\) for the container
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <string_view>

void f(const std::string_view &s) {
  weft::spawn([] {}, weft::weak_in(s)); // children touch characters, which are elsewhere
}
