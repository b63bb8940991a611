// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

namespace {

struct flock whole_file() noexcept {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

/// Returns whether the system makes a file of that name, a link, for a file that is open.
bool is_of_open_file(std::string_view path) noexcept {
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"})
    if (path.starts_with(folder) && parse_unsigned(path.substr(folder.size())))
      return true;
  return path == "/dev/stdout" || path == "/dev/stderr";
}

/// Says why nothing is written into a file that is there; null: it is.
const char *fault_of_output(const struct stat &there) noexcept {
  if (S_ISLNK(there.st_mode))
    return "it is a link";
  if (there.st_uid != geteuid() && there.st_uid != 0)
    return "it belongs to another user";
  if (S_ISREG(there.st_mode) && there.st_nlink != 1)
    return "it has a second name";
  return nullptr;
}

} // namespace

std::optional<std::string> read_all(int file, std::size_t most) {
  std::string text;
  char block[4096];
  for (;;) {
    const auto n = read(file, block, sizeof block);
    if (n < 0 && errno == EINTR)
      continue;
    if (n == 0)
      return text;
    if (n < 0)
      return std::nullopt;
    if (text.size() + static_cast<std::size_t>(n) > most) {
      errno = EFBIG;
      return std::nullopt;
    }
    text.append(block, static_cast<std::size_t>(n));
  }
}

std::optional<std::string> read_file(const std::string &path, std::size_t most) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return std::nullopt;
  auto text = read_all(file, most);
  const int failure = errno;
  close(file);
  errno = failure;
  return text;
}

int open_new(const std::string &path, int access) noexcept {
  return open(path.c_str(), access | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

int open_shared(const std::string &path) noexcept {
  for (;;) {
    const int there = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (there >= 0 || errno != ENOENT)
      return there;
    const int made = open_new(path, O_RDWR);
    if (made >= 0 || errno != EEXIST) // else another program was faster
      return made;
  }
}

int open_output(const std::string &path, std::string &trouble) {
  const auto refuse = [&](int file, const char *why) {
    trouble = why;
    if (file >= 0)
      close(file);
    return -1;
  };
  if (is_of_open_file(path)) {
    const int file = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    return file >= 0 ? file : refuse(file, std::strerror(errno));
  }
  struct stat there{};
  if (lstat(path.c_str(), &there) != 0) {
    const int file = errno == ENOENT ? open_new(path, O_WRONLY) : -1;
    return file >= 0 ? file : refuse(file, std::strerror(errno));
  }
  if (const char *const why = fault_of_output(there)) // before open(), which waits at a pipe
    return refuse(-1, why);
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0 || fstat(file, &there) != 0)
    return refuse(file, std::strerror(errno));
  if (const char *const why = fault_of_output(there)) // it may be another one by now
    return refuse(file, why);
  if (S_ISREG(there.st_mode) && ftruncate(file, 0) != 0)
    return refuse(file, std::strerror(errno));
  return file;
}

bool lock_for_life(int file) noexcept {
  const struct flock whole = whole_file();
  return fcntl(file, F_SETLK, &whole) == 0;
}

bool is_locked(int file) noexcept {
  struct flock whole = whole_file();
  return fcntl(file, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
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
