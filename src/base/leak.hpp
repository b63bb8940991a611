// SPDX-License-Identifier: Apache-2.0
#pragma once

/// LeakSanitizer's, in programs that have it, whatever Weft itself is built with.
extern "C" [[gnu::weak]] void __lsan_ignore_object(const void *object);

namespace weft::inline v0 {
namespace rt {

/// What this holds is never freed, on purpose: no leak to report, though nothing may point to it any more.
inline void ignore_leak(const void *object) noexcept {
  if (object && __lsan_ignore_object)
    __lsan_ignore_object(object);
}

} // namespace rt
} // namespace weft::inline v0
