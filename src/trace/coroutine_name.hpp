// SPDX-License-Identifier: Apache-2.0
// The name of a coroutine in traces, from the symbol of the function that resumes it.
#pragma once

#include "os/symbols.hpp"

#include <string>

namespace weft::inline v0 {
namespace rt {

/// Returns the name of the coroutine as its author has written it, "app::read" of "weft::task<int>
/// app::read(app::read(int)::_Z3readi.Frame*) [clone .actor]"; without a symbol the place in the
/// module, "coroutine app+0x1234"; without that nothing.
[[nodiscard]] std::string name_of_coroutine(const symbol &resumes);

} // namespace rt
} // namespace weft::inline v0
