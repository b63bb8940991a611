// SPDX-License-Identifier: Apache-2.0
#include "os/source_lines.hpp"

#include "os/file.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <memory>
#include <poll.h>
#include <sched.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_stack_bytes = 64 << 10, k_most_locations = 500;
constexpr int k_patience_ms = 10'000; // addr2line may read a large program's debug information

struct code_location {
  std::string module, offset;
};

/// Reads "f()+0x12 (/usr/bin/app+0x1234)" or "/usr/bin/app+0x1234".
bool find_location(std::string_view text, code_location &place) {
  const auto plus = text.rfind("+0x");
  if (plus == std::string_view::npos)
    return false;
  const auto slash = text.substr(0, plus).rfind(" (/");
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 2;
  place.module = text.substr(begin, plus - begin);
  place.offset =
      text.substr(plus + 1, text.find_first_not_of("0123456789abcdef", plus + 3) - plus - 1);
  return place.module.starts_with('/');
}

struct started {
  char **arguments;
  int output;
  char *stack; // of the program, its end
  int program = -1;
};

/// Runs the program on a stack of its own in the memory of the caller, which waits for exec: it
/// changes nothing that the caller has.
int run(void *p) {
  const auto &s = *static_cast<started *>(p);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, 0);
  dup2(s.output, 1);
  dup2(nothing, 2);
  char path[] = "PATH=/usr/local/bin:/usr/bin:/bin",
       *environment[] = {path, nullptr}; // without LD_PRELOAD, and settings of Weft
  execvpe("addr2line", s.arguments, environment);
  _exit(127);
}

/// Starts the program from a process in between, so that it is no child of this process: a thread
/// of this process that waits for any child does not get it.
int start(void *p) {
  auto &s = *static_cast<started *>(p);
  s.program = clone(&run, s.stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &s);
  return 0;
}

// A thread sanitizer does not follow a process that shares its memory.
#if defined(__SANITIZE_THREAD__)
constexpr bool k_may_start = false;
#elif defined(__has_feature)
constexpr bool k_may_start = !__has_feature(thread_sanitizer);
#else
constexpr bool k_may_start = true;
#endif

/// Returns what the program prints, to its end; empty where it cannot be run or takes too long.
std::string output_of(std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &w : words)
    arguments.push_back(w.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (!k_may_start || pipe2(ends, O_CLOEXEC) != 0)
    return "";
  const auto stacks = std::make_unique<char[]>(2 * k_stack_bytes);
  started s{arguments.data(), ends[1], stacks.get() + k_stack_bytes - 64};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before); // no handler of the program runs in the child
  const int child = clone(&start, stacks.get() + 2 * k_stack_bytes - 64, CLONE_VM | CLONE_VFORK,
                          &s); // no signal at its end
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  std::string text;
  char piece[4096];
  for (pollfd p{ends[0], POLLIN, 0}; s.program > 0 && poll(&p, 1, k_patience_ms) == 1;) {
    const ssize_t n = read(ends[0], piece, sizeof piece);
    if (n <= 0)
      break;
    text.append(piece, static_cast<std::size_t>(n));
  }
  close(ends[0]); // a program that is late ends by that
  while (child > 0 && waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  return text;
}

bool is_line(std::string_view text) {
  return !text.starts_with("??") && !text.ends_with(":?") && !text.ends_with(":0");
}

/// Returns whether the line is of a template of the headers: the function into which it was
/// compiled says more.
bool is_of_weft(std::string_view line) {
  return line.find("/include/weft/") != std::string_view::npos;
}

} // namespace

void add_source_lines(const std::vector<std::string *> &texts) {
  std::map<std::string, std::vector<std::pair<std::string, std::string *>>> by_module;
  for (std::string *text : texts)
    if (code_location p; find_location(*text, p) && by_module[p.module].size() < k_most_locations)
      by_module[p.module].emplace_back(p.offset, text);
  for (const auto &[module, locations] : by_module) {
    std::vector<std::string> words{"addr2line", "-a", "-i", "-e", module};
    for (const auto &[offset, text] : locations)
      words.push_back(offset);
    std::vector<std::string> lines(locations.size());
    std::size_t number = 0; // of the location, from 1
    for_each_line(output_of(std::move(words)), [&](std::string_view line) {
      line = line.substr(0, line.find(" (")); // a discriminator
      if (line.starts_with("0x"))
        ++number;
      else if (number > 0 && number <= lines.size() && is_line(line) &&
               (lines[number - 1].empty() || is_of_weft(lines[number - 1])))
        lines[number - 1] = line;
    });
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!lines[i].empty())
        locations[i].second->append(" at ").append(lines[i]);
  }
}

} // namespace rt
} // namespace weft::inline v0
