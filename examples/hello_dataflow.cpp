// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <weft/weft.hpp>
int main() {
  int a = 0, b = 0, c = 0, d = 0;
  weft::spawn([&] { a = 1; }, weft::out(a));
  weft::spawn([&] { b = a + 1; }, weft::in(a), weft::out(b));
  weft::spawn([&] { c = a + 2; }, weft::in(a), weft::out(c));
  weft::spawn([&] { d = b * c; }, weft::in(b), weft::in(c), weft::out(d));
  weft::taskwait();
  std::printf("%d x %d = %d\n", b, c, d);
  return d == 6 ? 0 : 1;
}
