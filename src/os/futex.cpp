// SPDX-License-Identifier: Apache-2.0
#include "atomic/atomic.hpp"

#include <cerrno>
#include <ctime>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 &&
              std::atomic<std::uint32_t>::is_always_lock_free);

long futex(const std::atomic<std::uint32_t> &word, int operation, std::uint32_t value,
           const timespec *deadline = nullptr) noexcept {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, deadline, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

} // namespace

bool os_futex_wait(std::atomic<std::uint32_t> &word, std::uint32_t expected,
                   std::int64_t deadline_ns) noexcept {
  const int saved = errno;
  timespec deadline;
  if (deadline_ns > 0) {
    deadline.tv_sec = static_cast<std::time_t>(deadline_ns / 1'000'000'000);
    deadline.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000);
  }
  // WAIT_BITSET, because its deadline is absolute: signals do not make the wait longer.
  const bool timed_out =
      futex(word, FUTEX_WAIT_BITSET, expected, deadline_ns > 0 ? &deadline : nullptr) != 0 &&
      errno == ETIMEDOUT;
  errno = saved;
  return !timed_out;
}

void os_futex_wake(std::atomic<std::uint32_t> &word, int count) noexcept {
  const int saved =
      errno; // the word may be gone (EFAULT): its last owner was woken by an earlier call
  futex(word, FUTEX_WAKE, static_cast<std::uint32_t>(count));
  errno = saved;
}

void os_yield() noexcept { sched_yield(); }

} // namespace rt
} // namespace weft::inline v0
