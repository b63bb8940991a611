// SPDX-License-Identifier: Apache-2.0
// A task gives up one of its results while it still works on the other.
#include <weft/weft.hpp>

#include <cstddef>
#include <cstdio>
#include <vector>

int main() {
  std::size_t header = 0, seen = 0;
  std::vector<int> body;
  weft::spawn(
      [&] {
        header = 3;
        weft::release(weft::out(header)); // a task that waits only for the header may start
        body = std::vector<int>(header, 7);
      },
      weft::out(header), weft::out(weft::object(body)), weft::label("produce"));
  weft::spawn([&] { seen = header; }, weft::in(header), weft::label("look at the header"));
  weft::taskwait();
  std::printf("%zu cells announced, %zu there\n", seen, body.size());
  return seen == 3 && body.size() == 3 ? 0 : 1;
}
