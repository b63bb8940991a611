// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/output_file.hpp"

#include "tools/weft/support/progress.hpp"

#include "base/error.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft_tool {
namespace {

/// Creates a file beside `path` whose name no other file has, with the rights that a new file gets.
/// Returns -1 with errno set where it cannot.
int open_beside(const std::string &path, std::string &name) {
  name = path + ".XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) {
    name.clear();
    return -1;
  }
  const mode_t mask = umask(0);
  umask(mask);
  static_cast<void>(!fchmod(file, 0666 & ~mask)); // some file systems know no rights
  return file;
}

} // namespace

output_file::output_file(const std::string &path) : m_path(path), m_file(STDOUT_FILENO) {
  if (path.empty())
    return;
  struct stat there{};
  const bool in_place = stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
  while ((m_file = in_place ? open(path.c_str(), O_WRONLY | O_CLOEXEC)
                            : open_beside(path, m_part)) < 0) {
    if (errno != EINTR)
      fail();
    advance(0); // a pipe without a reader, and the user wants an end
  }
}

output_file::~output_file() {
  if (m_file != STDOUT_FILENO)
    close(m_file);
  if (!m_finished && !m_part.empty())
    unlink(m_part.c_str());
}

void output_file::fail() const {
  weft::rt::throw_error(weft::errc::out_of_resources, "'%s' cannot be written: %s",
                        m_path.empty() ? "standard output" : m_path.c_str(), std::strerror(errno));
}

void output_file::flush() {
  for (std::size_t at = 0; at < m_used;) {
    const ssize_t n = write(m_file, m_buffer.get() + at, m_used - at);
    if (n < 0 && errno == EINTR)
      advance(0); // the user may want an end
    else if (n <= 0)
      fail();
    else
      at += static_cast<std::size_t>(n);
    if (at < m_used)
      advance(0); // a signal that came amid the call has only made it shorter
  }
  m_used = 0;
}

void output_file::put_slow(std::string_view text) {
  while (!text.empty()) {
    if (m_used == k_capacity)
      flush();
    const std::size_t n = text.copy(m_buffer.get() + m_used, k_capacity - m_used);
    m_used += n;
    text.remove_prefix(n);
  }
}

void output_file::number(std::uint64_t n) {
  char digits[24];
  put({digits,
       static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, n).ptr - digits)});
}

void output_file::number(std::int64_t n) {
  char digits[24];
  put({digits,
       static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, n).ptr - digits)});
}

void output_file::microseconds(std::int64_t ns) {
  if (ns < 0) {
    put('-');
    ns = -ns;
  }
  number(static_cast<std::uint64_t>(ns) / 1000);
  const auto rest = static_cast<unsigned>(ns % 1000);
  const char point[4] = {'.', static_cast<char>('0' + rest / 100),
                         static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  put({point, 4});
}

void output_file::print(const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  const int n = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  put({line, std::min<std::size_t>(n > 0 ? static_cast<std::size_t>(n) : 0, sizeof line - 1)});
}

void output_file::finish() {
  flush();
  if (!m_part.empty() && rename(m_part.c_str(), m_path.c_str()) != 0)
    fail();
  m_finished = true;
}

} // namespace weft_tool
