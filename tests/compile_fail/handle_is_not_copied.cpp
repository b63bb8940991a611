// expect: (deleted function|deleted constructor|implicitly deleted)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(weft::handle<int> &h) { weft::handle<int> copy = h; }
