// SPDX-License-Identifier: Apache-2.0
#include <weft/layer/environment.hpp>

#include <cstdlib>

namespace weft::inline v0 {
namespace layer {

const char *environment(const char *name) noexcept { return secure_getenv(name); }

} // namespace layer
} // namespace weft::inline v0
