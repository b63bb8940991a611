// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/programs.hpp"

#include "base/error.hpp"
#include "observe/segment.hpp"
#include "os/file.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <exception>
#include <optional>
#include <tuple>
#include <utility>

namespace weft_tool {

using namespace weft::rt;

program::program(long pid) {
  static_cast<void>(read_program(pid)); // throws with the cause
  m_segment = map_segment(segment_path(pid));
}
program::program(const std::string &path) : m_segment(map_segment(path)) {}
program::~program() { unmap(m_segment); }
reading program::read() const {
  return read_segment(m_segment,
                      owner_lives(m_segment) ? program_state::running : program_state::gone);
}

namespace {

void add_programs(std::vector<readable> &found, const std::string &place) {
  DIR *const folder = opendir(place.c_str());
  if (!folder)
    return;
  while (const dirent *e = readdir(folder)) {
    const std::string name = e->d_name;
    const auto pid =
        name.starts_with("weft.") ? parse_unsigned(std::string_view(name).substr(5)) : std::nullopt;
    if (!pid)
      continue;
    try {
      reading last = program(place + name).read();
      if (last.pid == *pid) // else the file says that it is another program's
        found.push_back({place + name, std::move(last)});
    } catch (const std::exception &) { // of another user, just ended, or larger than the memory
    }
  }
  closedir(folder);
}

} // namespace

std::vector<readable> readable_programs() {
  std::vector<readable> found;
  for (const std::string &folder : segment_folders())
    add_programs(found, folder);
  std::sort(found.begin(), found.end(), [](const readable &a, const readable &b) {
    return std::tuple(!a.last.alive, a.last.pid) < std::tuple(!b.last.alive, b.last.pid);
  });
  return found;
}

long pid_of(const std::string &text) {
  const auto pid = parse_unsigned(text);
  if (!pid || *pid == 0 || *pid > 0x7fffffff)
    throw_error(weft::errc::invalid_argument,
                "'%s' is no number of a process; `weft list` shows them", text.c_str());
  return static_cast<long>(*pid);
}

std::uint64_t parse_time(const std::string &text) {
  char *end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double scale = unit == "ms"                  ? 1e6
                       : unit == "us"                ? 1e3
                       : unit == "s" || unit.empty() ? 1e9
                                                     : 0;
  const double ns = number * scale;
  return end != text.c_str() && ns >= 1e3 && ns < 1e17 ? static_cast<std::uint64_t>(ns) : 0;
}

std::uint64_t parse_count(const std::string &text) { return parse_unsigned(text).value_or(0); }

void sleep_until(std::uint64_t monotonic_ns) {
  timespec t{};
  t.tv_sec = static_cast<std::time_t>(monotonic_ns / 1'000'000'000u);
  t.tv_nsec = static_cast<long>(monotonic_ns % 1'000'000'000u);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

} // namespace weft_tool
