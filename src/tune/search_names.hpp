// SPDX-License-Identifier: Apache-2.0
// Searches by the names that a program gives them.
#pragma once

#include "tune/search.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Returns why a search of this name cannot be had for so many knobs, as the end of a sentence; empty
/// if it can. Does not say whether NLopt is here.
[[nodiscard]] std::string why_no_search(std::string_view name, std::size_t knobs);

/// Returns whether a search begins at a guess by the law, which takes counters of the first call.
[[nodiscard]] bool begins_by_law(std::string_view name) noexcept;

/// Makes a search that why_no_search() allows, from the point of the default, or from `guess` where
/// the name asks for one. Where NLopt is not here, makes the search of no name, and sets `trouble`.
[[nodiscard]] std::unique_ptr<search> make_search(std::string_view name, const lattice &space,
                                                  const lattice_point &first,
                                                  std::optional<int> guess, std::string &trouble);

} // namespace rt
} // namespace weft::inline v0
