// SPDX-License-Identifier: Apache-2.0
// Unstable: what a task's copy of a reduction is a copy of, for a layer whose tasks name data by the copy. Changes with any version.
#pragma once

#include <weft/c/config.h>

namespace weft::inline v0 {
namespace layer {

/// Returns the address of the object whose copy in the running task begins at `address`; `address` itself if none does. A child
/// that reduces the object, too, names it so.
///
/// Threads. Any.
/// Errors. out_of_resources where the task has not used its copy yet, and there is no memory for it.
WEFT_API void *reduction_origin(const void *address);

} // namespace layer
} // namespace weft::inline v0
