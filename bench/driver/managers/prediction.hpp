// SPDX-License-Identifier: Apache-2.0
// The model's curves for the applications that are measured, from measured costs and bodies: made before more workers are measured.
#pragma once

#include "record.hpp"

#include <iosfwd>

namespace bench::managers {

/// Tables as Markdown, curves into the folder, for each application whose bodies were observed. Throws std::runtime_error when the costs
/// cannot be read.
void write_prediction(std::ostream &to, const record &r, const options &o);

} // namespace bench::managers
