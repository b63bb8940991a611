// SPDX-License-Identifier: Apache-2.0
// Traces when the kernel took the processor from a worker's thread, and gave it back: by
// perf_event_open on own threads, which needs no privilege where the system allows it at all. With
// privilege, the tracepoint sched_switch says which thread got the processor instead. Each slot has
// a stream for this beside its worker's.
#pragma once

#include "trace/metadata.hpp"

namespace weft::inline v0 {
namespace rt {

void watch_kernel(const std::string &folder, const unsigned char (&uuid)[16],
                  const trace_clock &clock) noexcept;
/// Watches the calling thread, which is in the slot from now on. Warns once if that is not
/// possible.
void watch_this_thread(unsigned slot) noexcept;
/// Writes what the kernel has recorded; called by the flusher.
void drain_kernel_events() noexcept;
void end_kernel_events() noexcept;
/// Says what the trace contains of the kernel, what it does not, and why; empty if trace.kernel is
/// off.
[[nodiscard]] std::string seen_of_kernel();
void forget_kernel_events_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
