// SPDX-License-Identifier: Apache-2.0
// Says which task has overflown its stack, and which setting helps.
#pragma once

namespace weft::inline v0 {
namespace rt {

/// Gives the calling thread an alternate signal stack; the first call installs the handler, which chains to the one it found.
void install_overflow_stack() noexcept;
void uninstall_overflow_stack() noexcept;
/// Names the running task; async-signal-safe.
void set_overflow_label(const char *(*label)()) noexcept;

struct overflow_guard {
  overflow_guard() noexcept { install_overflow_stack(); }
  ~overflow_guard() { uninstall_overflow_stack(); }
  overflow_guard(const overflow_guard &) = delete;
  overflow_guard &operator=(const overflow_guard &) = delete;
};

} // namespace rt
} // namespace weft::inline v0
