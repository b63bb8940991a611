// SPDX-License-Identifier: Apache-2.0
// Unstable: what a task's copy of a reduction is a copy of, for a layer whose tasks name data by the copy. Changes with any version.
#pragma once

#include <weft/c/config.h>

#include <cstddef>

namespace weft::inline v0 {
namespace layer {

/// Is an object that the running task reduces.
struct reduced_object {
  void *address; ///< of the object
  std::size_t bytes; ///< of all its elements
  std::size_t element_bytes; ///< of one
  const void *copy; ///< the task's
};

/// Says how memory lies to the copies of the running task.
enum class reduction_part : int {
  none, ///< it has nothing in common with them
  whole_or_part, ///< it is in one of them
  beyond ///< a part of it is, and a part is not
};

/// Finds the object whose copy in the running task has the `bytes` at `address`. A child that reduces them, too, names the object.
///
/// Threads. Any.
/// Errors. out_of_resources where the task has not used its copy yet, and there is no memory for it.
WEFT_API reduction_part reduction_origin(const void *address, std::size_t bytes,
                                         reduced_object *object);

} // namespace layer
} // namespace weft::inline v0
