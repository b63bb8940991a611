// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace weft_model {

/// Explores every model whose name contains `only`, and each again with one order weakened, without reductions and with each,
/// as far as the time goes: verdicts and outcomes must agree, and the steps must fall. The exit status.
int compare_reductions(const std::string &only, double seconds);

} // namespace weft_model
