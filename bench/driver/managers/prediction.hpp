// SPDX-License-Identifier: Apache-2.0
// Computes the model's curves for the measured applications from measured costs and bodies, before
// more workers are measured.
#pragma once

#include "record.hpp"

#include <iosfwd>

namespace bench::managers {

/// Writes tables as Markdown, and curves into the folder, for each application whose bodies were
/// observed. Throws std::runtime_error when the costs cannot be read.
void write_prediction(std::ostream &to, const record &r, const options &o);

} // namespace bench::managers
