// SPDX-License-Identifier: Apache-2.0
// The file of the last task dump, beside the counters, for `weft dump` and `weft why`: which task
// waited for what when nothing ran, and what sessions and policies had decided. The file outlives a program that is killed.
#pragma once

#include "diagnose/wait_graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Writes the file. Does nothing if counters are not shared.
/// `progress`: counts what has happened until then, so that a reader sees whether the dump is still
/// true. `asked`: the request that the dump answers, 0 for none. `notes`: what could not be looked
/// at.
void write_dump_file(const wait_graph &graph, std::uint64_t progress, std::uint64_t asked = 0,
                     const std::vector<std::string> &notes = {}) noexcept;
/// Writes the file anew if there has been a decision since: all else in it is still true.
void renew_decisions_in_dump() noexcept;
/// Removes the file, because the program ends in order.
void remove_dump_file() noexcept;

} // namespace rt
} // namespace weft::inline v0
