// SPDX-License-Identifier: Apache-2.0
// The kernel's tracepoint sched_switch, as tracefs describes it to users who may read tracefs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace weft::inline v0 {
namespace rt {

struct switch_tracepoint {
  std::uint64_t id = 0;
  std::size_t next_pid = 0, prev_state = 0; // where they lie in a record
  std::size_t state_bytes = 0;
};

/// Finds the tracepoint; if there is none, sets `why`. `root`: "" but in tests.
[[nodiscard]] std::optional<switch_tracepoint> find_switch_tracepoint(const std::string &root,
                                                                      std::string &why);

/// Holds what a record of the tracepoint says.
struct switch_facts {
  std::uint32_t next_pid = 0;
  std::uint64_t state =
      0; // of the thread that lost the processor, in the kernel's bits; 0: it could go on
};
[[nodiscard]] std::optional<switch_facts>
read_switch(const switch_tracepoint &tracepoint, const char *record, std::size_t bytes) noexcept;

} // namespace rt
} // namespace weft::inline v0
