// SPDX-License-Identifier: Apache-2.0
// The main program of all applications: serial order first, then the tasks, each run verified against it.
#pragma once

namespace app {

/// Runs the program. Returns the exit status: 0 done, 1 the result is wrong, 2 a bad option.
int main_program(int argc, char **argv);

} // namespace app
