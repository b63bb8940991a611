// SPDX-License-Identifier: Apache-2.0
// Which joins and tasks with a cost run in place (setting tune.inline), and how many did, by type.
//
// Roles       A worker that runs work in place, and notes it. An observer.
// Word        g_first, next: the list of types; site.type: the one of a site.
// Invariants  I1  A type is never freed, because the library of its site may be unloaded: its name
//                 is a copy.
//             I2  A site has one type at most. A worker that loses the race frees its own.
// Orders      O1  A type is published with release and read with acquire: its name and its `next`.
#pragma once

#include "config/settings.hpp"
#include "weft/detail/in_place.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

enum class in_place_mode : std::uint8_t { never, by_time, always };
inline std::atomic<in_place_mode> g_in_place_mode{in_place_mode::never}; // relaxed: a copy of a setting
/// `fixed`: nothing may depend on a clock.
void set_in_place_mode(inline_kind asked, bool fixed) noexcept;

/// Notes that `calls` joins and tasks of the site have run in place, one within the other.
/// `thread`: a number of the calling thread. Without memory for the type it does nothing.
void note_in_place(detail::work_site &site, std::uint64_t calls, std::size_t thread) noexcept;
/// Returns a line for each type of which some have run in place, as "in place: fib(long int):: ...".
[[nodiscard]] std::vector<std::string> in_place_lines();

} // namespace rt
} // namespace weft::inline v0
