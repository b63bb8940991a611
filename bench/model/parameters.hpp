// SPDX-License-Identifier: Apache-2.0
// The measured costs and the knobs of the model: a file of `name = number` lines, where `#` begins
// a comment.
#pragma once

#include <istream>
#include <span>
#include <string_view>

namespace manager_model {

enum class manage_mode { direct, central, hybrid, distributed, automatic };

[[nodiscard]] std::string_view name_of(manage_mode m) noexcept;
/// Returns the mode of a name; throws std::invalid_argument that lists the names.
[[nodiscard]] manage_mode mode_named(std::string_view name);

struct parameters {
  manage_mode mode = manage_mode::direct;
  unsigned workers = 1; // a central manager comes on top
#define MODEL_COST(field, value, text) double field = value;
#define MODEL_KNOB(field, value, least, most, text) double field = value;
#include "parameters.def"
};

struct parameter_info {
  std::string_view name;
  double parameters::*field;
  double least, most;
  bool is_cost;
  std::string_view text;
};
[[nodiscard]] std::span<const parameter_info> all_parameters() noexcept;

/// Sets "name = value" or "name=value". Throws std::invalid_argument, which names the fault and the
/// allowed values.
void set(parameters &p, std::string_view assignment);
/// Reads a file; messages name `origin` and the line.
void read(parameters &p, std::istream &from, std::string_view origin);

} // namespace manager_model
