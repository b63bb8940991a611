// expect: (deleted function|deleted constructor)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(weft::mutex &m) { weft::mutex copy = m; }
