// SPDX-License-Identifier: Apache-2.0
// Return addresses on the caller's stack and on suspended stacks: for reports, some microseconds
// each.
#pragma once

#include "ult/thread_context.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

/// Writes the return addresses of the caller's stack without the innermost `skipped`; returns their
/// number, at most `most`.
std::size_t own_backtrace(const void **to, std::size_t most, std::size_t skipped) noexcept;
/// Does the same for a suspended stack, from suspend() outwards. No thread may continue the stack
/// meanwhile.
std::size_t backtrace_of(const frame &suspended, const void **to, std::size_t most) noexcept;

} // namespace rt
} // namespace weft::inline v0
