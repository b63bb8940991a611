// SPDX-License-Identifier: Apache-2.0
// The description of a trace that readers need beside its records: CTF's metadata, and a file of
// Weft's own.
#pragma once

#include "trace/session.hpp"

#include <utility>

namespace weft::inline v0 {
namespace rt {

struct trace_clock {
  std::uint64_t frequency = 1'000'000'000; // ticks per second
  std::uint64_t ticks = 0, monotonic_ns = 0, realtime_ns = 0; // at one moment
};
[[nodiscard]] trace_clock read_trace_clock() noexcept;

struct trace_description {
  unsigned char uuid[16]{};
  trace_level level = trace_level::off;
  trace_mode mode = trace_mode::stream;
  unsigned workers = 0;
  long pid = 0;
  std::string program;
  trace_clock clock;
  std::uint64_t first_ticks = 0; // the trace began
  std::uint64_t discarded = 0;
  enum { running, ended, exact } state = running; // exact: the workers had stopped
  std::string command, machine, cores, load, settings; // of the run, in words
  std::vector<std::pair<unsigned, std::string>>
      spawn_sites; // where types were first spawned: number, and "f()+0x12 (MODULE+0x1234)"
  std::vector<std::pair<std::string, std::uint64_t>>
      shares; // of the workers' time, in ns, by runtime; empty: only tasks of Weft's ran
  trace_place place; // in a job of ranks
  std::string kernel; // what the trace contains of the kernel, in words; empty: trace.kernel is off
  std::vector<std::string> types; // by number; "": none
};

[[nodiscard]] std::string ctf_metadata(const trace_description &description);
/// Returns the lines of the file ".weft".
[[nodiscard]] std::string own_description(const trace_description &description);
[[nodiscard]] trace_description parse_description(const std::string &text);
[[nodiscard]] std::vector<std::string> type_names(const trace_type *table);
[[nodiscard]] const char *event_name(trace_event event) noexcept;

} // namespace rt
} // namespace weft::inline v0
