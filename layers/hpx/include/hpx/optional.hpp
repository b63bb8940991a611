// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: optional values, which are the standard's.
#pragma once

#include <optional>

namespace hpx {

using std::bad_optional_access;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

} // namespace hpx
