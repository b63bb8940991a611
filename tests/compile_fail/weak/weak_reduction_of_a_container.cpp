// expect: assert.*this reduction names the address of the container.*weft::reduction\(v.data\(\), count, op\) for the elements, or weft::reduction\(weft::object\(v\), op\)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <string>

struct append_op {
  template <class T>
  static T identity() {
    return {};
  }
  void operator()(std::string &into, const std::string &from) const { into += from; }
};
constexpr append_op append{};

void f(std::string &s) {
  weft::spawn([] {}, weft::weak_reduction(s, append)); // the string, or its characters?
}
