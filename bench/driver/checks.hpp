// SPDX-License-Identifier: Apache-2.0
// What is measured against a fixed bound. Each prints what it found and returns the exit status of the
// program.
#pragma once

namespace bench {

/// Instructions per task: callgrind's difference of two sizes, one worker. 77 without valgrind.
int check_instructions();
/// Bytes of resident growth per pending task, a million of them on distinct addresses.
int check_memory();
/// How much slower workloads are beside `busy` processes, in units of how much slower two plain threads are.
int check_beside(int busy, int runs);

} // namespace bench
