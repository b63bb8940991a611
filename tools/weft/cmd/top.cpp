// SPDX-License-Identifier: Apache-2.0
// weft top: shows a running program at a glance, again and again.
#include "tools/weft/cmd/top_view.hpp"
#include "tools/weft/commands.hpp"
#include "tools/weft/support/programs.hpp"
#include "tools/weft/support/thread_states.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <poll.h>
#include <set>
#include <string_view>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <weft/error.hpp>
#include <weft/layer/environment.hpp>

namespace weft_tool {

using namespace weft::rt;

const char k_top_help[] =
    "usage: weft top [--every TIME] [--once] [--json] [PID]\n"
    "\n"
    "Shows what a program does: its workers and what they are at, tasks per second, where the time goes, the share of each\n"
    "runtime, task types, how long tasks run, steals, idleness and its reason. Without PID: the only program, or the one that\n"
    "started last. q ends it. On a terminal in colours, unless NO_COLOR is set.\n"
    "  --every TIME  the interval that is shown (1s)\n"
    "  --once        one interval\n"
    "  --json        a line of JSON for each\n"
    "Exit status: 1 when there is no such program.\n";

namespace {

constexpr std::size_t k_all_lines = 100'000;

volatile std::sig_atomic_t g_ended_by = 0;

/// Keeps the terminal without echo, line ends and signals of keys for its lifetime. Signals that end
/// the command make wait() return, so that the terminal is given back.
class screen {
 public:
  screen() : m_is(isatty(0) && isatty(1) && tcgetattr(0, &m_before) == 0) {
    if (!m_is)
      return;
    struct sigaction act{};
    act.sa_handler = [](int signal) { g_ended_by = signal; };
    act.sa_flags = static_cast<int>(SA_RESETHAND); // a second one ends the process at once
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaction(signal, &act, nullptr);
    termios raw = m_before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    tcsetattr(0, TCSANOW, &raw);
    std::fputs("\033[?1049h\033[?25l", stdout);
  }
  ~screen() {
    if (!m_is)
      return;
    std::fputs("\033[?25h\033[?1049l", stdout);
    std::fflush(stdout);
    tcsetattr(0, TCSANOW, &m_before);
  }
  [[nodiscard]] bool is() const { return m_is; }
  [[nodiscard]] static std::size_t lines() {
    winsize w{};
    return ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 ? w.ws_row : k_all_lines;
  }
  /// Returns false if the page cannot be written.
  [[nodiscard]] bool show(const std::string &text) const {
    if (m_is)
      std::fputs("\033[H\033[J", stdout);
    std::fputs(text.c_str(), stdout);
    return flush_output();
  }
  /// Waits until then; returns true when the user wants to leave, or a signal asks for it.
  [[nodiscard]] bool wait(std::uint64_t until) const {
    if (!m_is)
      return sleep_until(until), false;
    for (std::uint64_t now = now_ns(); now < until && !g_ended_by; now = now_ns()) {
      pollfd keys{0, POLLIN, 0};
      const std::uint64_t ms = std::min<std::uint64_t>((until - now) / 1'000'000 + 1, k_longest_ms);
      if (poll(&keys, 1, static_cast<int>(ms)) != 1)
        continue;
      char key = 'q';
      if (read(0, &key, 1) < 1 || key == 'q' || key == 3 || key == 27)
        return true;
    }
    return g_ended_by != 0;
  }

 private:
  static constexpr std::uint64_t k_longest_ms = 60'000;
  termios m_before{};
  bool m_is;
};

/// Returns whether the terminal shows colours; see https://no-color.org.
bool shows_colours() {
  const char *const no = weft::layer::environment("NO_COLOR"), *const terminal =
                                                                   weft::layer::environment("TERM");
  return isatty(1) && !(no && *no) && terminal && *terminal && std::string_view(terminal) != "dumb";
}

struct request {
  std::uint64_t every_ns = 1'000'000'000;
  bool once = false, json = false;
  std::string pid, error;
};

request parse(const words &arguments) {
  request q;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &word = arguments[i];
    if (word == "--once") {
      q.once = true;
    } else if (word == "--json") {
      q.json = true;
    } else if (word == "--every" && i + 1 < arguments.size()) {
      q.every_ns = parse_time(arguments[++i]);
      if (q.every_ns < 1'000'000)
        q.error = "--every needs a time such as 100ms or 2s, not '" + arguments[i] + "'";
    } else if (word.starts_with("-") || !q.pid.empty()) {
      q.error =
          "top does not know '" + word + "'" + suggestion(word, {"--once", "--json", "--every"});
    } else {
      q.pid = word;
    }
  }
  return q;
}

/// Returns the newest of the running programs.
std::string choose_program() {
  std::string path;
  std::uint64_t newest = 0;
  for (const auto &p : readable_programs())
    if (p.last.alive && !p.last.ended && p.last.started_ns >= newest) {
      newest = p.last.started_ns;
      path = p.path;
    }
  return path;
}

int watch(const program &watched, const request &asked) {
  const screen s;
  const bool colours = shows_colours();
  const auto text_of = [&](const reading &now, const reading &spent,
                           const std::set<unsigned> &asleep, std::size_t lines) {
    const std::string text =
        asked.json ? top_json(now, spent, asleep) : top_text(now, spent, asleep, lines);
    return colours && !asked.json ? coloured(text) : text;
  };
  reading last = watched.read();
  if (!last.alive) { // all that there is to see
    std::fputs(text_of(last, last, {}, k_all_lines).c_str(), stdout);
    return k_ok;
  }
  for (std::uint64_t next = now_ns();;) {
    next = std::max(next + asked.every_ns, now_ns()); // a missed interval is not made up for
    if (s.wait(next))
      return g_ended_by ? 128 + g_ended_by : k_ok;
    std::set<unsigned> asleep = sleeping_workers(last.pid);
    reading now = watched.read();
    // Before and after: an idle worker sleeps as well.
    const std::set<unsigned> still = sleeping_workers(last.pid);
    std::erase_if(asleep, [&still](unsigned id) { return !still.contains(id); });
    const reading spent = difference(now, last);
    if (!s.show(text_of(now, spent, asleep, s.is() ? s.lines() : k_all_lines)) || asked.once ||
        now.ended || !now.alive)
      return k_ok;
    last = std::move(now);
  }
}

} // namespace

int run_top(const words &arguments) {
  const request q = parse(arguments);
  if (!q.error.empty())
    return usage_error(q.error);
  if (!q.pid.empty())
    return watch(program(pid_of(q.pid)), q);
  const std::string path = choose_program();
  if (path.empty()) {
    std::fputs(
        "weft: no program shows counters; start one that uses Weft, or give the PID of one that was killed\n",
        stderr);
    return k_failed;
  }
  return watch(program(path), q);
}

} // namespace weft_tool
