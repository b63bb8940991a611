// SPDX-License-Identifier: Apache-2.0
#include "sum.hpp"
void add(unsigned &x) {
#pragma oss task reduction(joined : x)
  x += 2;
}
