// SPDX-License-Identifier: Apache-2.0
#include "os/thread_state.hpp"

#include <array>
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
#include <sys/uio.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Returns the beginning of a small file, without malloc.
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
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// Returns the kernel's letter for the state; 0 where it cannot be known.
char state_of(int tid) noexcept {
  char path[64], buffer[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  const std::string_view line = read_beginning(path, buffer, sizeof buffer);
  const auto name_end = line.rfind(')'); // the name may contain anything
  return name_end == std::string_view::npos || name_end + 2 >= line.size() ? '\0'
                                                                           : line[name_end + 2];
}

} // namespace

std::uint64_t process_cpu_ns() noexcept { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

std::uint64_t process_preemptions() noexcept {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_nivcsw);
}

std::uint64_t thread_cpu_ns(int tid) noexcept {
  // Computes the clock as pthread_getcpuclockid does, which must not be called for a thread that
  // may have ended.
  constexpr unsigned k_per_thread = 4, k_scheduler_time = 2;
  return read_clock(
      static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3 | k_per_thread | k_scheduler_time));
}

bool thread_sleeps(int tid) noexcept {
  const char state = state_of(tid);
  return state == 'S' || state == 'D';
}

bool thread_waits_or_is_gone(int tid) noexcept {
  const char state = state_of(tid);
  return state == 'S' || state == 'X' || state == 'Z' || state == '\0';
}

bool thread_has_ended(int tid) noexcept {
  const char state = state_of(tid);
  return state == 'Z' || state == 'X';
}

bool thread_is_gone(int tid) noexcept {
  const int saved = errno;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d", tid);
  const bool gone = access(path, F_OK) != 0 && errno == ENOENT && access("/proc/self/task", F_OK) == 0;
  errno = saved;
  return gone;
}

namespace {

constexpr std::uint64_t k_contended =
    2;       // the value of a C library's lock, and of a wait for it, while a thread waits
constexpr std::uint64_t k_futex_op_lock_pi2 = 13; // newer than some kernel headers

/// Returns the number of a system call, and its first four arguments.
std::optional<std::array<std::uint64_t, 5>> call_in(std::string_view line) noexcept {
  std::array<std::uint64_t, 5> words{};
  const char *at = line.data(), *const end = line.data() + line.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t before = i == 0 ? 0 : 3; // " 0x"
    if (static_cast<std::size_t>(end - at) < before)
      return std::nullopt;
    const auto [next, failure] = std::from_chars(at + before, end, words[i], i == 0 ? 10 : 16);
    if (failure != std::errc{})
      return std::nullopt;
    at = next;
  }
  return words;
}

thread_wait wait_for_futex(std::uint64_t address, std::uint64_t op, std::uint64_t value,
                           std::uint64_t limit) noexcept {
  using kind = thread_wait::kind;
  const bool in_process = (op & FUTEX_PRIVATE_FLAG) != 0;
  switch (op & FUTEX_CMD_MASK) {
  case FUTEX_LOCK_PI:
  case k_futex_op_lock_pi2:
    return {kind::lock, true, address};
  case FUTEX_WAIT:
  case FUTEX_WAIT_BITSET:
    if (static_cast<std::uint32_t>(value) == k_contended)
      return {kind::lock, false, address, limit == 0, in_process};
    if (value & FUTEX_WAITERS)
      return {kind::lock, true, address, limit == 0, in_process};
    return {.for_word = limit == 0, .in_process = in_process};
  default:
    return {};
  }
}

} // namespace

thread_wait wait_of_thread(int tid) noexcept {
  char path[64], buffer[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
  const std::string_view line = read_beginning(path, buffer, sizeof buffer);
  if (line.starts_with("running"))
    return {thread_wait::kind::none};
  const auto call = call_in(line);
  if (!call)
    return {};
  const auto &[number, first, second, third, fourth] = *call;
  if (number == SYS_futex)
    return wait_for_futex(first, second, third, fourth);
#ifdef SYS_nanosleep
  if (number == SYS_nanosleep)
    return {thread_wait::kind::clock};
#endif
  return {number == SYS_clock_nanosleep ? thread_wait::kind::clock : thread_wait::kind::other};
}

/// Returns the holder of a lock. It asks the kernel, because the memory of the lock may be gone by
/// now.
lock_holder holder_of(const thread_wait &lock) noexcept {
  std::uint32_t words[3]{}; // of a pthread_mutex_t: the lock, a count, the holder
  const iovec to{words, lock.word_names_holder ? sizeof words[0] : sizeof words},
      from{reinterpret_cast<void *>(lock.address), to.iov_len};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != static_cast<ssize_t>(to.iov_len))
    return {};
  if (lock.word_names_holder)
    return {static_cast<int>(words[0] & FUTEX_TID_MASK), (words[0] & FUTEX_TID_MASK) == 0};
  return {static_cast<int>(words[2]), words[0] != k_contended};
}

std::optional<std::uint64_t> thread_switches(int tid) noexcept {
  char path[64], buffer[4096];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
  const std::string_view text = read_beginning(path, buffer, sizeof buffer);
  std::uint64_t sum = 0;
  for (const std::string_view key :
       {"\nvoluntary_ctxt_switches:\t", "\nnonvoluntary_ctxt_switches:\t"}) {
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
