// SPDX-License-Identifier: Apache-2.0
// The line to the process manager that has started the ranks: PMI, version 1, lines of key=value.
#pragma once

#include <string>

namespace weft_net {

/// Publishes `value` at rank 0, and returns it at all ranks. Throws std::runtime_error.
[[nodiscard]] std::string share_by_pmi(int descriptor, int rank, const std::string &value);

} // namespace weft_net
