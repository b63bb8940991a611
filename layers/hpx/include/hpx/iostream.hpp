// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: streams, which are the standard's.
#pragma once

#include <iostream>

namespace hpx {

inline std::ostream &cout = std::cout;
inline std::ostream &cerr = std::cerr;
using std::endl;
using std::flush;

} // namespace hpx
