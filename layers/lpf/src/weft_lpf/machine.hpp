// SPDX-License-Identifier: Apache-2.0
// The processes that LPF can use, how it starts SPMD functions in them, and what it measures.
#pragma once

#include "weft_lpf/context.hpp"

#include <lpf/core.h>

#include <cstddef>
#include <cstdint>

namespace weft_lpf {

/// Returns the context of the program outside of SPMD functions.
[[nodiscard]] context &root_context();

/// Runs an SPMD function in threads of this process, the calling one included. `where` is the place of
/// the caller: the new processes share what is free there.
///
/// Errors. Those of the engine inproc; out_of_resources without threads.
[[nodiscard]] bool run_in_threads(const place &where, unsigned count, lpf_spmd_t spmd,
                                  const lpf_args_t &args);

/// Returns how many of `all` processes are for process `pid` of `count`.
[[nodiscard]] constexpr unsigned part_of(unsigned all, unsigned pid, unsigned count) noexcept {
  return (all + count - pid - 1) / count;
}

/// Runs an SPMD function for the context of the program: in processes of the job, or in threads.
///
/// Errors. As run_in_threads().
[[nodiscard]] bool run_for_root(unsigned count, lpf_spmd_t spmd, const lpf_args_t &args);

inline constexpr std::size_t k_size_classes = 3; ///< of messages, which are measured apart

/// Is what was measured: seconds of a byte, by class, and of a superstep.
struct machine_numbers {
  double gap[k_size_classes] = {1e-9, 1e-9, 1e-9};
  double latency = 1e-6;
};

/// Measures the machine, the first time. Errors. As run_in_threads().
void measure();
[[nodiscard]] machine_numbers measured() noexcept; ///< as measure() or set_measured() has left it
void set_measured(const machine_numbers &numbers); ///< in place of a measurement
/// Measures processes that lpf_hook() has joined. All of them call it, with a context of its own, and get what process 0 has
/// found. A failure leaves what was measured before.
void measure_hooked(context &self) noexcept;

enum class machine : std::uint8_t { program, hooked }; ///< what LPF_ROOT has, or the processes of lpf_hook()
/// Returns the seconds of a byte, and those of a superstep.
[[nodiscard]] double gap(machine of, std::size_t bytes) noexcept;
[[nodiscard]] double latency(machine of) noexcept;

} // namespace weft_lpf
