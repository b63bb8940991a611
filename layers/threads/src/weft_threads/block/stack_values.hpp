// SPDX-License-Identifier: Apache-2.0
// Values of pthread keys that belong to stacks (keep_values_on_stacks).
#pragma once

namespace weft_threads {

/// Forgets the values of all stacks but the caller's: in the child of a fork() there are no others.
void forget_values_of_stacks() noexcept;

} // namespace weft_threads
