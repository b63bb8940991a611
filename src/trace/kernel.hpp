// SPDX-License-Identifier: Apache-2.0
// When the kernel took the processor from a worker's thread, and gave it back: perf_event_open on own threads, which needs no privilege
// where the system allows it at all. With privilege, who got the processor instead, by the tracepoint sched_switch. A stream per slot beside the worker's.
#pragma once

#include "trace/metadata.hpp"

namespace weft::inline v0 {
namespace rt {

void watch_kernel(const std::string &folder, const unsigned char (&uuid)[16], const trace_clock &clock) noexcept;
/// The calling thread is in the slot from now on. Says once why nothing can be had.
void watch_this_thread(unsigned slot) noexcept;
/// By who flushes.
void drain_kernel_events() noexcept;
void end_kernel_events() noexcept;
/// What is seen of the kernel and what is not, and why; empty when it was not asked for.
[[nodiscard]] std::string seen_of_kernel();
void forget_kernel_events_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
