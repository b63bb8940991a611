// expect: weft::spawn needs a callable without parameters
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f() { weft::spawn(3); }
