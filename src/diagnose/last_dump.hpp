// SPDX-License-Identifier: Apache-2.0
// The last task dump, written beside the counters for `weft dump` and `weft why`: who waited for what when nothing ran. It outlives a program that
// is killed.
#pragma once

#include "diagnose/wait_graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// `progress`: what has happened until then, so that a reader can tell whether it is still so. Nothing where counters are not shared.
/// `asked`: the request that this answers, 0 for none; with what could not be looked at.
void write_dump_file(const wait_graph &g, std::uint64_t progress, std::uint64_t asked = 0, const std::vector<std::string> &notes = {}) noexcept;
/// Takes it away: the program ends in order.
void remove_dump_file() noexcept;

} // namespace rt
} // namespace weft::inline v0
