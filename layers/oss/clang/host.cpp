// SPDX-License-Identifier: Apache-2.0
// Ends a Clang of another version that loads this plugin: its classes have other layouts, so it would crash where it calls the plugin first.
#include <clang/Basic/Version.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

namespace clang {
// A Clang over another standard library has none of this name.
[[gnu::weak]] std::string getClangFullVersion();
} // namespace clang

namespace weft_oss {
namespace {

/// Returns the major version in "Debian clang version 19.1.7 (3)", or 0.
long major_of(const std::string &full) {
  static constexpr std::string_view k_words = "clang version ";
  const std::size_t found = full.find(k_words);
  return found == std::string::npos ? 0 : std::strtol(full.c_str() + found + k_words.size(), nullptr, 10);
}

/// Runs before the constructors that register the plugin. No diagnostics of the compiler: they are classes of the other version.
[[gnu::constructor(101)]] void check_host() {
  if (!clang::getClangFullVersion)
    return;
  const long host = major_of(clang::getClangFullVersion());
  if (host == 0 || host == CLANG_VERSION_MAJOR)
    return;
  std::fprintf(stderr,
               "error: weft-oss-%d.so compiles '#pragma oss' in Clang %d, and this is Clang %ld; compile with weft-c++ or weft-cc, which "
               "choose the plugin by the version\n",
               CLANG_VERSION_MAJOR, CLANG_VERSION_MAJOR, host);
  std::fflush(nullptr);
  _exit(1);
}

} // namespace
} // namespace weft_oss
