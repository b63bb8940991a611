// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace app::backend {

/// Returns how many threads the application uses.
[[nodiscard]] int threads();

} // namespace app::backend
