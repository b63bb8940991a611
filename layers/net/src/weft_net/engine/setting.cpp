// SPDX-License-Identifier: Apache-2.0
#include "weft_net/engine/setting.hpp"

#include <weft/layer/environment.hpp>

#include <cstdint>
#include <string>

namespace weft_net {

std::size_t number_of_setting(const char *key) {
  const std::string text = weft::layer::setting(key);
  std::size_t end = 0;
  const std::size_t number = std::stoul(text, &end);
  const std::string unit = text.substr(end);
  return number << (unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : 0);
}

std::chrono::microseconds time_of_setting(const char *key) {
  const std::string text = weft::layer::setting(key);
  if (text == "off")
    return {};
  std::size_t end = 0;
  const double number = std::stod(text, &end);
  const std::string unit = text.substr(end);
  const double factor = unit == "s" ? 1e6 : unit == "ms" ? 1e3 : 1;
  return std::chrono::microseconds(static_cast<std::int64_t>(number * factor));
}

} // namespace weft_net
