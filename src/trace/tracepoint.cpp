// SPDX-License-Identifier: Apache-2.0
#include "trace/tracepoint.hpp"

#include "os/file.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

namespace weft::inline v0 {
namespace rt {
namespace {

struct field {
  std::size_t offset, bytes;
};

/// Finds a field in a line like "field:pid_t next_pid;  offset:56;  size:4;  signed:1;".
std::optional<field> find_field(const std::string &format, std::string_view name) {
  std::optional<field> found;
  for_each_line(format, [&](std::string_view line) {
    const auto number_behind = [line](std::string_view key) {
      const std::size_t at = line.find(key);
      const std::string_view rest =
          at == std::string_view::npos ? std::string_view{} : line.substr(at + key.size());
      return parse_unsigned(rest.substr(0, rest.find(';')));
    };
    if (line.find(' ' + std::string(name) + ';') == std::string_view::npos)
      return;
    const auto offset = number_behind("offset:"), bytes = number_behind("size:");
    if (offset && bytes)
      found = field{*offset, *bytes};
  });
  return found;
}

} // namespace

std::optional<switch_tracepoint> find_switch_tracepoint(const std::string &root, std::string &why) {
  why.clear();
  for (const char *mount : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const std::string folder = root + mount + "/events/sched/sched_switch/";
    const auto id = read_file(folder + "id");
    if (!id) {
      if (why.empty())
        why = folder + "id: " + std::strerror(errno);
      continue;
    }
    const auto format = read_file(folder + "format");
    const auto next = find_field(format.value_or(""), "next_pid"),
               state = find_field(format.value_or(""), "prev_state");
    if (const auto number = parse_unsigned(trim(*id));
        number && next && next->bytes == 4 && state && (state->bytes == 4 || state->bytes == 8))
      return switch_tracepoint{*number, next->offset, state->offset, state->bytes};
    why = folder + "format is not understood";
  }
  return std::nullopt;
}

std::optional<switch_facts> read_switch(const switch_tracepoint &tracepoint, const char *record,
                                        std::size_t bytes) noexcept {
  if (tracepoint.next_pid + 4 > bytes || tracepoint.prev_state + tracepoint.state_bytes > bytes)
    return std::nullopt;
  switch_facts f;
  std::memcpy(&f.next_pid, record + tracepoint.next_pid, 4);
  std::memcpy(&f.state, record + tracepoint.prev_state, tracepoint.state_bytes);
  return f;
}

} // namespace rt
} // namespace weft::inline v0
