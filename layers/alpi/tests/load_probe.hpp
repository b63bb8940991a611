// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe.hpp"

#include <cstdio>
#include <dlfcn.h>

/// Returns the library, loaded so that no other library sees its symbols. Null, with a message: it
/// cannot be loaded.
inline const probe_library *load_probe() {
  void *module = dlopen(WEFT_ALPI_PROBE, RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    std::printf("%s\n", dlerror());
    return nullptr;
  }
  const auto entry = reinterpret_cast<decltype(&probe)>(dlsym(module, "probe"));
  const probe_library *library = entry();
  if (const char *missing = library->resolve()) {
    std::printf("not found in the process: %s\n", missing);
    return nullptr;
  }
  return library;
}
