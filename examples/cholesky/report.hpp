// SPDX-License-Identifier: Apache-2.0
// Times, and what they say about the runtime.
#pragma once

#include "work.hpp"

#include <vector>

namespace demo {

double median(std::vector<double> seconds);

/// Prints the number of tasks of one run, their mean time, and what each of them cost beyond it.
void print_tasks(const tally &t, const std::vector<double> &seconds);

/// Starts this program once more with the same arguments, one worker and --measure; returns the
/// seconds that it answers.
double seconds_with_one_worker(int argc, char **argv);

} // namespace demo
