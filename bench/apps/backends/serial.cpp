// SPDX-License-Identifier: Apache-2.0
#include "../support/backend.hpp"

namespace app::backend {

const char *const name = "serial";

void inside(int, const std::function<void()> &body) { body(); }

} // namespace app::backend
