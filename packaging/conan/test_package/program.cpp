// SPDX-License-Identifier: Apache-2.0
// Two tasks in the order of their data.
#include <cstdio>
#include <weft/weft.hpp>

int main() {
  int value = 0;
  weft::spawn([&] { value = 6; }, weft::out(value));
  weft::spawn([&] { value *= 7; }, weft::inout(value));
  weft::taskwait();
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, value);
  return value == 42 ? 0 : 1;
}
