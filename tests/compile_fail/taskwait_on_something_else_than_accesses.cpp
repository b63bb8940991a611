// expect: (no matching function|constraints not satisfied)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(int x) { weft::taskwait(x); }
