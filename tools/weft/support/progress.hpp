// SPDX-License-Identifier: Apache-2.0
// Shows how far a long command is, on standard error, where that is a terminal or --progress asks
// for it; and ends the command when the user wants that.
#pragma once

#include <cstdint>

namespace weft_tool {

/// Is thrown out of a command after Ctrl-C: the command's unfinished output is removed on the way
/// out.
struct interrupted {
  int signal;
};

/// Lets SIGINT, SIGTERM and SIGHUP end commands of this process by `interrupted` from now on; a
/// second one ends the process at once. One that is ignored stays so.
void begin_long_command(bool show);
/// Begins the next phase, which has `total` steps of any size.
void begin_phase(const char *what, std::uint64_t total);
/// Counts steps as done. Throws `interrupted`.
void advance(std::uint64_t steps);
/// Removes the line.
void end_progress() noexcept;

/// Removes "--progress" from the words; returns whether it was among them.
template <class Words>
bool take_progress(Words &arguments) {
  for (auto at = arguments.begin(); at != arguments.end(); ++at)
    if (*at == "--progress")
      return arguments.erase(at), true;
  return false;
}

} // namespace weft_tool
