// SPDX-License-Identifier: Apache-2.0
// What the process itself writes to standard error. A test that waits for a message asks for it here: how long the
// message takes is up to the machine.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace test {

/// Keeps what is written to standard error while it lives, and writes it there in the end.
class listener {
 public:
  listener() : m_file(std::tmpfile()), m_before(dup(2)) { dup2(fileno(m_file), 2); }
  listener(const listener &) = delete;
  listener &operator=(const listener &) = delete;
  ~listener() {
    dup2(m_before, 2);
    close(m_before);
    std::fputs(heard().c_str(), stderr);
    std::fclose(m_file);
  }
  [[nodiscard]] std::string heard() const {
    std::string all;
    char part[4096];
    for (ssize_t n = 0;
         (n = pread(fileno(m_file), part, sizeof part, static_cast<off_t>(all.size()))) > 0;)
      all.append(part, static_cast<std::size_t>(n));
    return all;
  }
  [[nodiscard]] bool has_heard(const std::string &text) const {
    return heard().find(text) != std::string::npos;
  }

 private:
  std::FILE *m_file;
  int m_before;
};

} // namespace test
