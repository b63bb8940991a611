// SPDX-License-Identifier: Apache-2.0
// A task that calls itself with a frame twice as large as its stack of 96 KiB. Weft reports an
// overflow, because the frame is touched page by page.
#include <weft/weft.hpp>

#include <cstdio>

[[gnu::noinline]] int fill(int n) {
  volatile char room[200 << 10];
  room[0] = static_cast<char>(n);
  return n > 0 ? fill(n - 1) + room[0] : room[0];
}

int main() {
  int result = 0;
  weft::spawn([&] { result = fill(3); }, weft::label("greedy"), weft::stack_bytes(96 << 10));
  weft::taskwait();
  std::printf("%d\n", result);
}
