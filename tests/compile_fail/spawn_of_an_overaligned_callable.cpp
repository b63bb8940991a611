// expect: the callable's alignment exceeds 32 bytes
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

struct alignas(64) wide {
  void operator()() const {}
};
void f() { weft::spawn(wide{}); }
