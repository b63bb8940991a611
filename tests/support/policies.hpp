// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace test {

/// The scheduling policies of programs; `seeded` is for tests of orders.
constexpr const char *k_policies[] = {"stealing", "delegated", "local-fifo", "central"};

} // namespace test
