// expect: (deleted function|deleted operator|overload resolution selected deleted)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(weft::task_group &a, weft::task_group &b) { a = b; }
