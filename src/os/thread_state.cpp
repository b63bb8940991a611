// SPDX-License-Identifier: Apache-2.0
#include "os/thread_state.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

/// The beginning of a small file, without malloc.
std::string_view read_beginning(const char *path, char *buffer, std::size_t bytes) noexcept {
  const int saved = errno;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = -1;
  if (fd >= 0) {
    while ((n = read(fd, buffer, bytes)) < 0 && errno == EINTR) {
    }
    close(fd);
  }
  errno = saved;
  return {buffer, n > 0 ? static_cast<std::size_t>(n) : 0};
}

std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec t;
  if (clock_gettime(clock, &t) != 0)
    return 0;
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

} // namespace

std::uint64_t process_cpu_ns() noexcept { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

std::uint64_t process_preemptions() noexcept {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_nivcsw);
}

std::uint64_t thread_cpu_ns(int tid) noexcept {
  // As pthread_getcpuclockid makes it; that one must not be asked about a thread that may have ended.
  constexpr unsigned k_per_thread = 4, k_scheduler_time = 2;
  return read_clock(static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3 | k_per_thread | k_scheduler_time));
}

namespace {

/// The kernel's letter; 0: there is no such thread.
char state_of(int tid) noexcept {
  char path[64], buffer[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  const std::string_view line = read_beginning(path, buffer, sizeof buffer);
  const auto name_end = line.rfind(')'); // the name may contain anything
  return name_end == std::string_view::npos || name_end + 2 >= line.size() ? '\0' : line[name_end + 2];
}

} // namespace

bool thread_sleeps(int tid) noexcept {
  const char state = state_of(tid);
  return state == 'S' || state == 'D';
}

bool thread_waits_for_word(int tid) noexcept {
  char path[64], buffer[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
  const std::string_view line = read_beginning(path, buffer, sizeof buffer);
  long call = -1;
  auto [at, failure] = std::from_chars(line.data(), line.data() + line.size(), call); // "running" is no number
  if (failure != std::errc{} || call != SYS_futex)
    return false;
  std::uint64_t word = 0, what = 0, value = 0, limit = 0;
  for (std::uint64_t *argument : {&word, &what, &value, &limit}) {
    constexpr std::string_view k_before = " 0x";
    if (!std::string_view(at, static_cast<std::size_t>(line.data() + line.size() - at)).starts_with(k_before))
      return false;
    at = std::from_chars(at + k_before.size(), line.data() + line.size(), *argument, 16).ptr;
  }
  what &= FUTEX_CMD_MASK;
  return (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET) && limit == 0;
}

bool thread_waits_or_is_gone(int tid) noexcept {
  const char state = state_of(tid);
  return state == 'S' || state == 'X' || state == 'Z' || state == '\0';
}

std::optional<std::uint64_t> thread_switches(int tid) noexcept {
  char path[64], buffer[4096];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
  const std::string_view text = read_beginning(path, buffer, sizeof buffer);
  std::uint64_t sum = 0;
  for (const std::string_view key : {"\nvoluntary_ctxt_switches:\t", "\nnonvoluntary_ctxt_switches:\t"}) {
    const auto at = text.find(key);
    if (at == std::string_view::npos)
      return std::nullopt;
    std::uint64_t n = 0;
    std::from_chars(text.data() + at + key.size(), text.data() + text.size(), n);
    sum += n;
  }
  return sum;
}

unsigned process_threads() noexcept {
  char buffer[512];
  std::string_view line = read_beginning("/proc/self/stat", buffer, sizeof buffer);
  const auto name_end = line.rfind(')');
  if (name_end == std::string_view::npos)
    return 0;
  line.remove_prefix(name_end + 1);
  constexpr int k_fields_before = 17; // state is field 3, num_threads field 20; each behind a blank
  for (int i = 0; i < k_fields_before; ++i) {
    const auto blank = line.find(' ', 1);
    if (blank == std::string_view::npos)
      return 0;
    line.remove_prefix(blank);
  }
  unsigned count = 0;
  std::from_chars(line.data() + 1, line.data() + line.size(), count);
  return count;
}

} // namespace rt
} // namespace weft::inline v0
