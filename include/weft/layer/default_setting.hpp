// SPDX-License-Identifier: Apache-2.0
// Unstable: defaults of settings that a layer brings along. Changes with any version.
#pragma once

#include <weft/c/config.h>

namespace weft::inline v0 {
namespace layer {

/// Gives one of Weft's settings another default in this process. File, preset, environment and API win over it where they
/// have the setting, and a later call over an earlier one; of `stack.bytes` the largest default counts. A call after the
/// settings were read counts for a runtime that starts anew.
///
///     layer::set_default("stack.bytes", "8MiB");
///
/// Threads. Any; a static object may call it before main().
/// Errors. bad_setting for a key or a value that is not allowed.
WEFT_API void set_default(const char *key, const char *value);

} // namespace layer
} // namespace weft::inline v0
