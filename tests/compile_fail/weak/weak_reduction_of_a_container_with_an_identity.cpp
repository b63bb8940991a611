// expect: assert.*this reduction names the address of the container.*weft::reduction\(v.data\(\), count, op\) for the elements, or weft::reduction\(weft::object\(v\), op\)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <string>

constexpr auto append = [](std::string &into, const std::string &from) { into += from; };

void f(std::string &s) {
  weft::spawn([] {},
              weft::weak_reduction(s, append, std::string())); // the string, or its characters?
}
