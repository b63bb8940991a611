// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace app::backend {

/// How many threads the application is to use.
[[nodiscard]] int threads();

} // namespace app::backend
