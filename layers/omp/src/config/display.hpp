// SPDX-License-Identifier: Apache-2.0
// The settings as text on standard error.
#pragma once

namespace weft_omp {

/// Prints OMP_DISPLAY_ENV's block.
void print_environment(bool verbose) noexcept;
/// Prints KMP_SETTINGS' two blocks: the values that the user set, and the effective values.
void print_settings() noexcept;

} // namespace weft_omp
