// SPDX-License-Identifier: Apache-2.0
// sched_yield(), nanosleep() and usleep(), which replace the C library's, under their versions,
// wherever this library comes first.
// In a lightweight thread, and in a thread of the program that takes part in a region, they yield to
// lightweight threads first. Programs and libraries wait with these calls for flags that such
// threads set, and the kernel knows the worker only.
#include "weft_threads/block/sanitizer.hpp"
#include "weft_threads/kernel/preempt.hpp"
#include "weft_threads/thread/thread_record.hpp"

#include <cerrno>
#include <ctime>

#include <sched.h>
#include <unistd.h>

using namespace weft_threads;

namespace {

/// Returns whether the caller is code of a lightweight thread, or of the program in a region. Weft calls sched_yield() as well.
bool may_yield(const thread_record *thread) noexcept {
  if (!thread || spin_locks_held() != 0)
    return false;
  return thread->block ? thread->block == thread_pointer()
                       : !thread->in_weft && takes_part(*thread);
}

constexpr unsigned k_kernel_each = 8; // the thread that sets the flag may wait for a cpu

constexpr std::int64_t k_second = 1'000'000'000,
                       k_most_seconds = 1'000'000'000; // longer sleeps are the kernel's

std::int64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * k_second + t.tv_nsec;
}

int result_of(int failure) noexcept {
  if (failure == 0)
    return 0;
  errno = failure;
  return -1;
}

/// Sleeps as nanosleep() does. The time in which other threads run counts, and a request to yield
/// does not end the sleep.
int sleep_for(timespec asked, timespec *left) {
  thread_record *const t =
      k_under_tsan ? nullptr
                   : running_record(); // a thread cannot be left in the sanitizer's nanosleep()
  if (!may_yield(t) || asked.tv_sec < 0 || asked.tv_sec > k_most_seconds || asked.tv_nsec < 0 ||
      asked.tv_nsec >= k_second)
    return result_of(
        clock_nanosleep(CLOCK_REALTIME, 0, &asked, left)); // as the C library's nanosleep() does
  const std::int64_t until = now_ns() + asked.tv_sec * k_second + asked.tv_nsec;
  for (;;) {
    yield_now(*t);
    const std::int64_t rest = until - now_ns();
    if (rest <= 0)
      return 0;
    asked = {rest / k_second, rest % k_second};
    const unsigned before = t_times_asked;
    const int failure = clock_nanosleep(CLOCK_REALTIME, 0, &asked, left);
    if (failure != EINTR || t_times_asked == before)
      return result_of(failure);
  }
}

} // namespace

extern "C" __attribute__((visibility("default"))) int nanosleep(const timespec *asked,
                                                                timespec *left) {
  return sleep_for(*asked, left);
}
extern "C" __attribute__((visibility("default"))) int usleep(useconds_t us) {
  return sleep_for({us / 1'000'000, us % 1'000'000 * 1000}, nullptr);
}

extern "C" __attribute__((visibility("default"))) int sched_yield() noexcept {
  thread_record *const t = running_record();
  if (!may_yield(t)) {
    yield_kernel_thread();
    return 0;
  }
  if (yield_now(*t) && ++t->yields % k_kernel_each == 0)
    yield_kernel_thread();
  return 0;
}
