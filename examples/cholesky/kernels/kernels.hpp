// SPDX-License-Identifier: Apache-2.0
// Which implementation of the dense routines the program uses.
#pragma once

#include "kernel_set.hpp"

#include <string>
#include <vector>

namespace demo {

/// Returns the implementations that this build has and this processor can run, the fastest first.
const std::vector<const kernel_set *> &available_kernels();

/// Makes kernels() return those of that name. Throws input_error, which lists the names that exist.
/// Call it before any task runs.
void choose_kernels(const std::string &name);

/// Returns the chosen routines; the first available ones if choose_kernels() was never called.
const kernel_set &kernels();

} // namespace demo
