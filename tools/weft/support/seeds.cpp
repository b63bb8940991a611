// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/seeds.hpp"

#include "tools/weft/support/child.hpp"
#include "tools/weft/support/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/personality.h>
#include <unistd.h>

namespace weft_tool {

namespace {

constexpr int k_lines_shown = 3;
constexpr std::size_t k_columns_shown = 100;

words lines_of(const std::string &text) {
  words lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Returns a line that a terminal can show.
std::string printable(const std::string &line) {
  std::string out;
  for (const char c : line) {
    if (out.size() >= k_columns_shown)
      return out + "...";
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
    out += c == '\t'                                          ? " "
           : std::iscntrl(static_cast<unsigned char>(c)) != 0 ? code
                                                              : std::string(1, c);
  }
  return out;
}

void print_lines(char mark, const words &lines, std::size_t from) {
  for (std::size_t i = from; i < lines.size() && i < from + k_lines_shown; ++i)
    std::printf("    %c %s\n", mark, printable(lines[i]).c_str());
  if (from >= lines.size())
    std::printf("    %c (nothing more)\n", mark);
}

/// Prints where two outputs part: the last line that they share, and the next of each.
void print_difference(const std::string &a, const std::string &b) {
  const words left = lines_of(a), right = lines_of(b);
  std::size_t at = 0;
  while (at < left.size() && at < right.size() && left[at] == right[at])
    ++at;
  if (at == left.size() && at == right.size()) {
    std::printf("  standard output: one ends with a newline, the other does not\n");
    return;
  }
  std::printf("  standard output, line %zu:\n", at + 1);
  if (at > 0)
    std::printf("      %s\n", printable(left[at - 1]).c_str());
  print_lines('-', left, at);
  print_lines('+', right, at);
}

void print_difference(const outcome &reference, const outcome &other,
                      std::chrono::milliseconds limit) {
  if (reference.how != other.how || reference.number != other.number)
    std::printf("  - %s\n  + %s\n", text_of(reference, limit).c_str(),
                text_of(other, limit).c_str());
  if (reference.output != other.output)
    print_difference(reference.output, other.output);
  const words lines = lines_of(other.complaints);
  if (other.complaints != reference.complaints && !lines.empty()) {
    std::printf("  standard error ends with:\n");
    print_lines(' ', lines, lines.size() > k_lines_shown ? lines.size() - k_lines_shown : 0);
  }
}

std::string word_of_shell(const std::string &word) {
  static constexpr char k_plain[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(k_plain) == std::string::npos)
    return word;
  return shell_quoted(word);
}

std::string command_of(const exploration &what, int seed) {
  std::string text = "weft run --set sched.seed=" + std::to_string(seed);
  for (const auto &word : what.options)
    text += " " + word_of_shell(word);
  text += " --";
  for (const auto &word : what.program)
    text += " " + word_of_shell(word);
  return text;
}

class explorer {
 public:
  explicit explorer(const exploration &what)
      : m_what(what), m_watch(what.limit), m_shows_progress(isatty(STDERR_FILENO) != 0) {}

  int run() {
    const outcome reference = without_seed();
    if (reference.how == ending::not_started)
      return std::fprintf(stderr, "weft: cannot run '%s': %s\n", m_what.program[0].c_str(),
                          std::strerror(reference.number)),
             k_no_program;
    if (reference.how == ending::out_of_time || reference.how == ending::too_talkative)
      return std::fprintf(stderr,
                          "weft: the run without a seed had %s; nothing can be compared with it\n",
                          text_of(reference, m_what.limit).c_str()),
             k_failed;
    for (int seed = 1; seed <= m_what.seeds; ++seed) {
      show_progress(seed);
      const outcome o = with_seed(seed);
      if (o != reference)
        return hide_progress(), report(seed, reference, o);
    }
    hide_progress();
    std::printf("weft: seeds 1 to %d gave the same output and %s as the run without a seed\n",
                m_what.seeds, reference.how == ending::exited ? "exit code" : "signal");
    return own_status(reference);
  }

 private:
  /// Reports on a program that fails in every order: its status and the end of its output.
  int own_status(const outcome &result) const {
    if (result.how == ending::exited && result.number == 0)
      return k_ok;
    std::printf("weft: all of them failed: %s\n", text_of(result, m_what.limit).c_str());
    const words lines = lines_of(result.complaints);
    if (!lines.empty()) {
      std::printf("  standard error ends with:\n");
      print_lines(' ', lines, lines.size() > k_lines_shown ? lines.size() - k_lines_shown : 0);
    }
    return result.how == ending::exited ? result.number : 128 + result.number;
  }

  /// Runs the tasks in the order of creation, as far as accesses and waits allow it.
  outcome without_seed() const {
    unsetenv("WEFT_SCHED_SEED");
    setenv("WEFT_SCHED_POLICY", "seeded", 1);
    outcome o = m_watch.run(m_what.program);
    unsetenv("WEFT_SCHED_POLICY"); // a seed implies it
    return o;
  }
  outcome with_seed(int seed) const {
    setenv("WEFT_SCHED_SEED", std::to_string(seed).c_str(), 1);
    return m_watch.run(m_what.program);
  }

  void show_progress(int seed) const {
    if (m_shows_progress)
      std::fprintf(stderr, "\rseed %d of %d", seed, m_what.seeds);
  }
  void hide_progress() const {
    if (m_shows_progress)
      std::fputs("\r\033[K", stderr);
  }

  int report(int seed, const outcome &reference, const outcome &other) const {
    if (const outcome again = without_seed(); again != reference) {
      std::printf(
          "weft: two runs without a seed differ, so there is nothing to compare seeds with\n");
      print_difference(reference, again, m_what.limit);
      return k_failed;
    }
    std::printf("weft: seed %d differs from the run without a seed (-)\n", seed);
    print_difference(reference, other, m_what.limit);
    if (other.how != ending::out_of_time && with_seed(seed) != other)
      std::printf(
          "a second run with this seed gave something else: the program depends on more than the "
          "order of its tasks\n");
    std::printf("to repeat it: %s\n", command_of(m_what, seed).c_str());
    return k_differs;
  }

  const exploration &m_what;
  const watcher m_watch;
  const bool m_shows_progress;
};

} // namespace

int explore_seeds(const exploration &what) {
  fix_addresses();
  return explorer(what).run();
}

void fix_addresses() {
  const int now = personality(0xffffffff);
  if (now >= 0) // where a sandbox forbids the call, addresses vary
    personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
}

} // namespace weft_tool
