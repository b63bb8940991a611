// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace weft_pools {

/// As weft::layer::program_mask(). Returns false without Weft.
[[nodiscard]] bool program_mask(sigset_t &mask) noexcept;

} // namespace weft_pools
