// SPDX-License-Identifier: Apache-2.0
#include "parameters.hpp"

#include "named_numbers.hpp"

#include <charconv>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

namespace manager_model {
namespace {

constexpr parameter_info k_all[] = {
#define MODEL_COST(field, value, text) {#field, &parameters::field, 0, 1e12, true, text},
#define MODEL_KNOB(field, value, least, most, text)                                                \
  {#field, &parameters::field, least, most, false, text},
#include "parameters.def"
};

constexpr std::string_view k_modes[] = {"direct", "central", "hybrid", "distributed", "auto"};

using named_numbers::trimmed;

} // namespace

std::string_view name_of(manage_mode m) noexcept { return k_modes[static_cast<int>(m)]; }

manage_mode mode_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(k_modes); ++i)
    if (k_modes[i] == name)
      return static_cast<manage_mode>(i);
  throw std::invalid_argument("there is no mode '" + std::string(name) +
                              "'; take direct, central, hybrid, distributed or auto");
}

std::span<const parameter_info> all_parameters() noexcept { return k_all; }

void set(parameters &p, std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == assignment.npos)
    throw std::invalid_argument("'" + std::string(assignment) +
                                "' assigns nothing; write name = number");
  const std::string_view name = trimmed(assignment.substr(0, equals)),
                         text = trimmed(assignment.substr(equals + 1));
  for (const parameter_info &i : k_all) {
    if (i.name != name)
      continue;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value >= i.least && value <= i.most)) {
      std::ostringstream why;
      why << name << " = " << text << " is not a number from " << i.least << " to " << i.most;
      throw std::invalid_argument(why.str());
    }
    p.*i.field = value;
    return;
  }
  throw std::invalid_argument("there is no parameter '" + std::string(name) +
                              "'; --list shows them");
}

void read(parameters &p, std::istream &from, std::string_view origin) {
  named_numbers::read(from, origin, [&p](std::string_view line) { set(p, line); });
}

} // namespace manager_model
