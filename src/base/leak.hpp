// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Is LeakSanitizer's function in programs that have it, whatever Weft itself is built with; else
/// null.
extern "C" [[gnu::weak]] void __lsan_ignore_object(const void *object);

namespace weft::inline v0 {
namespace rt {

/// Keeps LeakSanitizer from reporting memory that is never freed on purpose, though nothing may
/// point to it any more.
inline void ignore_leak(const void *object) noexcept {
  if (object && __lsan_ignore_object)
    __lsan_ignore_object(object);
}

} // namespace rt
} // namespace weft::inline v0
