// SPDX-License-Identifier: Apache-2.0
// Return addresses on the caller's stack and on suspended ones: for reports, some microseconds each.
#pragma once

#include "ult/thread_context.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

/// Of the caller's stack without the innermost `skipped`: how many there are, `most` at the most.
std::size_t own_backtrace(const void **to, std::size_t most, std::size_t skipped) noexcept;
/// Of a suspended stack, from suspend() outwards. Nobody may continue it meanwhile.
std::size_t backtrace_of(const frame &f, const void **to, std::size_t most) noexcept;

} // namespace rt
} // namespace weft::inline v0
