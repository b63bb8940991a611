// SPDX-License-Identifier: Apache-2.0
#include "config/process.hpp"
#include "config/settings.hpp"

#include <weft/layer/default_setting.hpp>
#include <weft/layer/environment.hpp>

#include <cstdlib>

namespace weft::inline v0 {
namespace layer {

const char *environment(const char *name) noexcept { return secure_getenv(name); }
std::string setting(const char *key) {
  return rt::setting_text(rt::current_settings(), rt::find_setting(key));
}
void set_default(const char *key, const char *value) { rt::settings_default(key, value); }

} // namespace layer
} // namespace weft::inline v0
