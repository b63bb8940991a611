// SPDX-License-Identifier: Apache-2.0
// The name of a worker's thread in the kernel, in debuggers and in `weft top`: its kind and its
// number.
#pragma once

#include <cstdio>

namespace weft::inline v0 {
namespace rt {

struct thread_name {
  char text[32];
  thread_name(const char *kind, unsigned id) noexcept {
    std::snprintf(text, sizeof text, "%s-%u", kind, id);
  }
};

} // namespace rt
} // namespace weft::inline v0
