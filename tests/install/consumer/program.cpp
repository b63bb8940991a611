// SPDX-License-Identifier: Apache-2.0
// What a user's first program does; prints what was asked of every consumer: "weft 0.2.0: 42".
#include <weft/weft.hpp>

#include <cstdio>

int main() {
  int a = 0, b = 0;
  weft::spawn([&] { a = 20; }, weft::out(a));
  weft::spawn([&] { b = 2 * a; }, weft::in(a), weft::out(b));
  weft::spawn([&] { b += 2; }, weft::inout(b));
  weft::taskwait();
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, b);
  return b == 42 ? 0 : 1;
}
