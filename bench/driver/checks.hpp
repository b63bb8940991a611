// SPDX-License-Identifier: Apache-2.0
// Measurements against a fixed bound. Each function prints its results and returns the exit status
// of the program.
#pragma once

namespace bench {

/// Checks instructions per task: callgrind's difference of two sizes, one worker. Returns 77
/// without valgrind.
int check_instructions();
/// Checks the bytes of resident growth per pending task, with a million of them on distinct
/// addresses.
int check_memory();
/// Checks how much slower workloads are beside `busy` processes, relative to the slowdown of two
/// plain threads.
int check_beside(int busy, int runs);

} // namespace bench
