// SPDX-License-Identifier: Apache-2.0
// Searches of NLopt, a library that is loaded when the first one is made: Weft does not need it, and
// is not linked with it.
#pragma once

#include "tune/search.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Says whether NLopt is here.
struct nlopt_presence {
  bool is_here = false;
  std::string text; ///< its version; or why it is not here, and what to do
};
/// Loads NLopt, once. Any thread.
[[nodiscard]] const nlopt_presence &nlopt_here();
/// Says whether a library of that name is NLopt.
[[nodiscard]] nlopt_presence try_nlopt(const char *name);

/// Returns the names of its searches.
[[nodiscard]] const std::vector<std::string_view> &nlopt_searches();

/// Makes a search that begins at `first`; null where NLopt is not here. `name` is one of
/// nlopt_searches().
[[nodiscard]] std::unique_ptr<search> make_nlopt_search(std::string_view name, lattice space,
                                                        lattice_point first, std::size_t budget);

} // namespace rt
} // namespace weft::inline v0
