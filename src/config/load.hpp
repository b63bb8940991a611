// SPDX-License-Identifier: Apache-2.0
// Settings from their sources.
#pragma once

#include "config/settings.hpp"

namespace weft::inline v0 {
namespace rt {

/// Holds all that settings depend on. Loading reads nothing else but the file that the environment
/// names.
struct settings_input {
  std::vector<key_value> environment;
  std::vector<key_value> overrides; ///< keys and values from the API, later ones win
  const char *overriding = "API";   ///< what messages call their source
  std::string root;                 ///< a prefix of the file's path, for tests
  bool openmp_aliases =
      false;      ///< read OMP_NUM_THREADS and its like where the WEFT_ name is not set
};

struct loaded_settings {
  settings values;
  std::array<std::string, k_setting_count>
      origin; ///< "default", "file PATH:LINE", "preset NAME", "environment X", "API"
  std::vector<std::string> warnings;
  std::string file; ///< the file that was read, or ""
};

/// Computes the settings from `input` alone. Throws weft::error (bad_setting) that names the key,
/// the value, what is allowed and where the value came from.
loaded_settings load_settings(const settings_input &input);

} // namespace rt
} // namespace weft::inline v0
