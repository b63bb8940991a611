// SPDX-License-Identifier: Apache-2.0
#include "tune/watts_band.hpp"

#include "base/error.hpp"

#include <charconv>
#include <string>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Parses a number that is not negative. Returns a negative one if the text is none.
double watts_in(std::string_view text) {
  double value = 0;
  const char *const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  return failure == std::errc() && stop == end && std::isfinite(value) ? value : -1;
}

} // namespace

watts parse_watts(std::string_view text) {
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    const watts band{watts_in(text.substr(0, colon)), watts_in(text.substr(colon + 1))};
    if (band.low >= 0 && band.high > band.low)
      return band;
  }
  throw_bad_setting("setting tune.watts cannot be '" + std::string(text) +
                    "' with tune.workers=watts: it must be two numbers of watts, the lower one "
                    "first, as 40:60");
}

} // namespace rt
} // namespace weft::inline v0
