// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace weft::inline v0 {
namespace rt {

/// Returns Weft's folder for what may be lost, by $XDG_CACHE_HOME or $HOME; empty if neither is an
/// absolute path, and in a set-user-id program.
[[nodiscard]] std::string cache_folder();

} // namespace rt
} // namespace weft::inline v0
