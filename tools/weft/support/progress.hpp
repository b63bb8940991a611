// SPDX-License-Identifier: Apache-2.0
// How far a long command is, on standard error where that is a terminal or --progress asks for it; and its end where the user wants that.
#pragma once

#include <cstdint>

namespace weft_tool {

/// Thrown out of a command after Ctrl-C: whatever it has begun to write goes away on the way out.
struct interrupted {
  int signal;
};

/// Of the process: from now on SIGINT, SIGTERM and SIGHUP end commands by `interrupted`; a second one at once.
void begin_long_command(bool show);
/// What comes next, in `total` steps of any size.
void begin_phase(const char *what, std::uint64_t total);
/// So many of them are done. Throws `interrupted`.
void advance(std::uint64_t steps);
/// Takes the line away.
void end_progress() noexcept;

/// Removes "--progress" from the words; true where it was there.
template <class Words>
bool take_progress(Words &arguments) {
  for (auto at = arguments.begin(); at != arguments.end(); ++at)
    if (*at == "--progress")
      return arguments.erase(at), true;
  return false;
}

} // namespace weft_tool
