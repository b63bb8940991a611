// SPDX-License-Identifier: Apache-2.0
// Which process this is. The child of a fork() has copies of all that its parent polls, and with them the
// connections: whatever it took from these, the parent would never get.
#pragma once

#include <string>

namespace weft_net {

/// Returns the number of forks between the first process and this one, since the library was loaded.
[[nodiscard]] int forks() noexcept;

/// Returns why a child of fork() is refused what is of `who`, a rank that is the process `process`.
[[nodiscard]] std::string refusal_in_child(const std::string &who, int process);

} // namespace weft_net
