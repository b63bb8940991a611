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

namespace {

// As in <linux/futex.h> since Linux 5.16; older headers are without.
constexpr long k_futex_waitv = 449; // the same on all processors
constexpr std::uint32_t k_word_of_32_bits = 2;
struct waited_word {
  std::uint64_t expected, address;
  std::uint32_t flags, reserved;
};

std::uint64_t address_of(const void *p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

std::atomic<bool> g_waits_for_one{false}; // the kernel is older

} // namespace

bool os_futex_wait_either(std::atomic<std::uint32_t> &word, std::uint32_t expected,
                          std::int64_t deadline_ns, const shared_word &other) noexcept {
  if (!other.word || g_waits_for_one.load(std::memory_order_relaxed))
    return os_futex_wait(word, expected, deadline_ns);
  const int saved = errno;
  const waited_word both[] = {
      {expected, address_of(&word), k_word_of_32_bits | FUTEX_PRIVATE_FLAG, 0},
      {other.seen, address_of(other.word), k_word_of_32_bits, 0}};
  const timespec deadline{static_cast<std::time_t>(deadline_ns / 1'000'000'000),
                          static_cast<long>(deadline_ns % 1'000'000'000)};
  const long woken =
      syscall(k_futex_waitv, both, 2, 0, deadline_ns > 0 ? &deadline : nullptr, CLOCK_MONOTONIC);
  const int failure = woken < 0 ? errno : 0;
  errno = saved;
  if (woken >= 0)
    return woken == 0;
  if (failure == ETIMEDOUT)
    return false;
  if (failure == EAGAIN) // one of the two had changed before
    return __atomic_load_n(other.word, __ATOMIC_RELAXED) == other.seen;
  if (failure == EINTR)
    return true;
  g_waits_for_one.store(true, std::memory_order_relaxed);
  return os_futex_wait(word, expected, deadline_ns);
}

void os_futex_wake_shared(const std::uint32_t *word) noexcept {
  const int saved = errno;
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  errno = saved;
}

void os_yield() noexcept { sched_yield(); }

void os_sleep(std::int64_t ns) noexcept {
  const int saved = errno;
  const timespec time{static_cast<std::time_t>(ns / 1'000'000'000),
                      static_cast<long>(ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  errno = saved;
}

} // namespace rt
} // namespace weft::inline v0
