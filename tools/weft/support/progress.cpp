// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/progress.hpp"

#include "base/clock.hpp"

#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <unistd.h>

namespace weft_tool {
namespace {

constexpr std::uint64_t k_patience_ns = 500'000'000; // a command that takes less shows nothing
constexpr std::uint64_t k_between_ns = 100'000'000, k_between_lines_ns = 2'000'000'000;

volatile std::sig_atomic_t g_signal = 0;

struct {
  bool shows = false, is_line = false; // is_line: one line of a terminal, written over and over
  char what[80] = "";
  std::uint64_t done = 0, total = 1, next_ns = 0;
} g_progress;

void note_signal(int signal) { g_signal = signal; }

void show() {
  const std::uint64_t percent = g_progress.total ? g_progress.done * 100 / g_progress.total : 100;
  std::fprintf(stderr, g_progress.is_line ? "\r\033[Kweft: %s: %llu %%" : "weft: %s: %llu %%\n",
               g_progress.what, static_cast<unsigned long long>(percent < 100 ? percent : 100));
  std::fflush(stderr);
}

} // namespace

void begin_long_command(bool show) {
  struct sigaction act{};
  act.sa_handler = note_signal;
  act.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (struct sigaction was{}; sigaction(signal, nullptr, &was) == 0 && was.sa_handler != SIG_IGN)
      sigaction(signal, &act, nullptr); // what nohup, or a shell behind '&', has ignored stays so
  g_progress.is_line = isatty(STDERR_FILENO);
  g_progress.shows = show || g_progress.is_line;
  g_progress.next_ns = show ? 0 : weft::rt::now_ns() + k_patience_ns;
}

void begin_phase(const char *what, std::uint64_t total) {
  std::snprintf(g_progress.what, sizeof g_progress.what, "%s", what);
  g_progress.done = 0;
  g_progress.total = total;
  if (!g_progress.is_line)
    g_progress.next_ns = 0;
  advance(0);
}

void advance(std::uint64_t steps) {
  if (g_signal)
    throw interrupted{static_cast<int>(g_signal)};
  g_progress.done += steps;
  if (!g_progress.shows)
    return;
  const std::uint64_t now = weft::rt::now_ns();
  if (now < g_progress.next_ns)
    return;
  g_progress.next_ns = now + (g_progress.is_line ? k_between_ns : k_between_lines_ns);
  show();
}

void end_progress() noexcept {
  if (g_progress.shows && g_progress.is_line)
    std::fputs("\r\033[K", stderr);
  g_progress.shows = false;
}

} // namespace weft_tool
