// expect: weft::spawn takes at most one accesses
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(std::span<const weft::access> a, std::span<const weft::access> b) {
  weft::spawn([] {}, weft::accesses(a), weft::accesses(b));
}
