// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/thread_states.hpp"

#include "os/file.hpp"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace weft_tool {

namespace {

/// Returns the number in a thread's name, such as "weft-worker-3".
std::optional<unsigned> worker_of(std::string_view name) {
  for (const std::string_view kind : {"weft-worker-", "weft-spare-"}) {
    unsigned id = 0;
    if (name.starts_with(kind) &&
        std::from_chars(name.data() + kind.size(), name.data() + name.size(), id).ec == std::errc{})
      return id;
  }
  return std::nullopt;
}

} // namespace

std::set<unsigned> sleeping_workers(unsigned pid) {
  std::set<unsigned> asleep;
  const std::string first = std::to_string(pid);
  std::error_code none;
  for (const auto &thread : std::filesystem::directory_iterator("/proc/" + first + "/task", none)) {
    const std::string line =
        weft::rt::read_file(thread.path().string() + "/stat").value_or(""); // 12 (name) S ...
    const auto begin = line.find('('), end = line.rfind(')');
    if (begin == std::string::npos || end == std::string::npos || end + 2 >= line.size())
      continue;
    const char state = line[end + 2];
    const auto id = thread.path().filename() == first
                        ? 0
                        : worker_of(std::string_view(line).substr(begin + 1, end - begin - 1));
    if (id && (state == 'S' || state == 'D'))
      asleep.insert(*id);
  }
  return asleep;
}

} // namespace weft_tool
