// SPDX-License-Identifier: Apache-2.0
// A call on some workers that its caller waits for. Not for users: it changes with the version.
#pragma once

#include <weft/worker_set.hpp>

namespace weft::inline v0 {
namespace detail {

/// Calls f(arg), which throws nothing, as an independent task on these workers alone, and waits until it
/// and all of its descendants are complete.
///
/// Errors. no_block in a service or an onready function; invalid_argument for a set that was made before
/// fork(); out_of_resources; shut_down. After an error f was not called, and is not.
WEFT_API void call_on(const worker_set &on, void (*f)(void *arg), void *arg);

} // namespace detail
} // namespace weft::inline v0
