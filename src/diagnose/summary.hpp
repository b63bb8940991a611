// SPDX-License-Identifier: Apache-2.0
// What each worker did, printed at the end.
#pragma once

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Prints on standard error what each worker did (setting stats).
void print_summary(const runtime &rt);

} // namespace rt
} // namespace weft::inline v0
