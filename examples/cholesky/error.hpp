// SPDX-License-Identifier: Apache-2.0
// What can go wrong here, by exit status.
#pragma once

#include <stdexcept>

namespace demo {

/// Reports that the command line or a file is not what it must be: exit status 2.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reports that the numbers do not allow the computation, or that its result is wrong: exit status
/// 1.
struct numerical_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace demo
