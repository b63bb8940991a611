// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: main() itself may call all of them. Its options --hpx:... are read, and stay in argv.
#pragma once

#include <hpx/detail/command_line.hpp>
#include <hpx/runtime.hpp>

namespace hpx::detail {

/// Reads the options before main(), and prints the counters that they ask for after it.
class around_main {
 public:
  around_main() : m_line(take_options(own_command_line())) {
    if (!m_line.printed.empty())
      activate_counters(m_line.printed); // Weft starts, and they count from here on
  }
  around_main(const around_main &) = delete;
  around_main &operator=(const around_main &) = delete;
  ~around_main() { evaluate_active_counters(); }

 private:
  command_line m_line;
};
inline const around_main g_around_main;

} // namespace hpx::detail
