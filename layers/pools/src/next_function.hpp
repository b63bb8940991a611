// SPDX-License-Identifier: Apache-2.0
// The C library's functions that this library wraps.
#pragma once

#include <dlfcn.h>

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

namespace weft_pools {

/// Returns the function that this library wraps. `version`: of a symbol that the C library
/// has twice.
template <class F>
F *real(F *&cached, const char *name, const char *version = nullptr) noexcept {
  F *f = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (!f) {
    f = reinterpret_cast<F *>(version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name));
    if (!f)
      f = reinterpret_cast<F *>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(&cached, f, __ATOMIC_RELAXED);
  }
  return f;
}

} // namespace weft_pools
