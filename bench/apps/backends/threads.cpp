// SPDX-License-Identifier: Apache-2.0
// Plain threads, which the application starts itself: a version written by hand.
#include "threads.hpp"
#include "../support/backend.hpp"

namespace app::backend {

const char *const name = "threads";

namespace {
int chosen = 1;
}

int threads() { return chosen; }

void inside(int workers, const std::function<void()> &body) {
  chosen = workers;
  body();
}

} // namespace app::backend
