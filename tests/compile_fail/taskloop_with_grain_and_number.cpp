// expect: weft::taskloop takes one of grain_size and num_tasks
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

int main() {
  weft::taskloop(weft::range(10), [](int) {}, weft::grain_size(2), weft::num_tasks(5));
}
