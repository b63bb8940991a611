// SPDX-License-Identifier: Apache-2.0
#include "../support/backend.hpp"

#include <weft/weft.hpp>

#include <string>

namespace app::backend {

#ifndef WEFT_APP_BACKEND
#define WEFT_APP_BACKEND "weft"
#endif
const char *const name = WEFT_APP_BACKEND;

void inside(int workers, const std::function<void()> &body) {
  weft::configure("workers", std::to_string(workers).c_str());
  weft::start();
  body();
}

} // namespace app::backend
