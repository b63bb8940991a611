// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scheduler.hpp"

/// Measures the costs of the model of the delegated scheduler, on one thread. `throw_ns`: how long a
/// word takes to a thread on another core that polls it.
[[nodiscard]] scheduler_model::parameters scheduler_costs(double throw_ns);
/// Prints them as lines `name = number # how`.
void print_scheduler_costs(const scheduler_model::parameters &costs);
/// Runs one and two real workers, and prints the model's prediction beside each (CSV).
void compare_scheduler(const scheduler_model::parameters &costs);
