// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

std::optional<std::string> read_file(const std::string &path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::nullopt;
  std::string text;
  char block[4096];
  for (;;) {
    const auto n = read(fd, block, sizeof block);
    if (n > 0)
      text.append(block, static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR) {
      const int failure = n < 0 ? errno : 0;
      close(fd);
      errno = failure;
      return failure == 0 ? std::optional(std::move(text)) : std::nullopt;
    }
  }
}

std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view k_blank = " \t\r\n";
  const auto first = text.find_first_not_of(k_blank);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const char *end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end)
    return std::nullopt;
  return value;
}

} // namespace rt
} // namespace weft::inline v0
