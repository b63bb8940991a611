// SPDX-License-Identifier: Apache-2.0
#include "config/cache_folder.hpp"

#include <cstdlib>

namespace weft::inline v0 {
namespace rt {

std::string cache_folder() {
  const char *const cache = secure_getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/')
    return std::string(cache) + "/weft";
  const char *const home = secure_getenv("HOME");
  return home && home[0] == '/' ? std::string(home) + "/.cache/weft" : "";
}

} // namespace rt
} // namespace weft::inline v0
