// SPDX-License-Identifier: Apache-2.0
// Times of pieces of real work, for the models: weft-record-costs has written them to
// recorded_costs.txt.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace recorded_costs {

/// Reads vectors of nanoseconds by name: a name and how many there are, and then the numbers. Lines
/// that begin with # are comments. Throws std::invalid_argument, which names the fault.
[[nodiscard]] std::map<std::string, std::vector<double>> read(std::istream &from);

/// Returns the pieces again and again, in order, until they take `total_ns` together.
[[nodiscard]] std::vector<double> repeated(const std::vector<double> &pieces, double total_ns);

} // namespace recorded_costs
