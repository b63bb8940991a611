// SPDX-License-Identifier: Apache-2.0
// What a back end is to the harness; bench/apps/backends holds one file for each.
#pragma once

#include <functional>

namespace app::backend {

extern const char *const name;
/// Starts `workers` threads, calls `body` on one of them, where it may create tasks, and returns after it.
/// `body` does not throw.
void inside(int workers, const std::function<void()> &body);

} // namespace app::backend
