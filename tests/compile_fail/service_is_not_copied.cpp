// expect: (deleted function|deleted constructor)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(weft::service &s) { weft::service copy = s; }
