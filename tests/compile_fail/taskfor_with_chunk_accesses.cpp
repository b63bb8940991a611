// expect: weft::taskfor is one task: num_tasks and chunk_accesses are clauses of weft::taskloop
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

int main() {
  int x = 0;
  weft::taskfor(
      weft::range(10), [](int) {},
      weft::chunk_accesses([&](weft::range<int>) { return weft::inout(x); }));
}
