// SPDX-License-Identifier: Apache-2.0
#include "../support/backend.hpp"

#include <weft/weft.hpp>

#include <string>

namespace app::backend {

const char *const name = "weft";

void inside(int workers, const std::function<void()> &body) {
  weft::configure("workers", std::to_string(workers).c_str());
  weft::start();
  body();
}

} // namespace app::backend
