// SPDX-License-Identifier: Apache-2.0
// The report of a stall, in the form of the report of a hang.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft_net {

/// Returns the report over all ranks, in whole lines. `reports` has what each rank waits for, a line
/// each; "" of one that has not answered.
[[nodiscard]] inline std::string stall_report(int first, const std::vector<std::string> &reports) {
  std::string text = "weft: warning: nothing arrives at rank " + std::to_string(first) +
                     ", which waits (net.stall); the ranks wait for this:\n";
  for (std::size_t r = 0; r < reports.size(); ++r) {
    std::string_view left = reports[r];
    if (left.empty())
      left = "has not answered\n";
    while (!left.empty()) {
      const std::size_t end = left.find('\n');
      text += "weft: warning:   rank " + std::to_string(r) + " ";
      text += left.substr(0, end);
      text += '\n';
      left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    }
  }
  return text;
}

} // namespace weft_net
