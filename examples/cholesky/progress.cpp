// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <cstdio>
#include <unistd.h>

namespace demo {

progress::progress(const char *what, int total) : m_what(what), m_total(total) {
  if (isatty(STDERR_FILENO))
    m_timer.emplace("progress", weft::poll_point::timer, &show, this);
}

progress::~progress() {
  if (!m_timer)
    return;
  m_timer.reset();
  std::fputs("\r\033[K", stderr);
}

bool progress::show(void *self) {
  auto &p = *static_cast<progress *>(self);
  const auto now = std::chrono::steady_clock::now();
  if (now < p.m_next)
    return false;
  p.m_next = now + std::chrono::milliseconds(100);
  const int done = p.m_done;
  std::fprintf(stderr, "\r%s: %d of %d (%d %%)\033[K", p.m_what, done, p.m_total, 100 * done / p.m_total);
  return true;
}

} // namespace demo
