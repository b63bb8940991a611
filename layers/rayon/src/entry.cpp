// SPDX-License-Identifier: Apache-2.0
// What the crate weft-rayon calls, and the futex that Rust's locks wait for.
//
// Rayon's idle threads wait for a condition variable of Rust's, which is a futex. On a lightweight
// thread that wait would hold its worker. So this library has the C library's function syscall(): a
// lightweight thread that waits for a futex parks, and a thread that wakes one also wakes those that
// are parked. Waits by the clock of the day, and those of other threads, are the kernel's.
#include "wait_table.hpp"

#include <weft_threads/light_thread.hpp>

#include <weft/error.hpp>
#include <weft/layer/task.hpp>
#include <weft/layer/thread.hpp>
#include <weft/sync/event.hpp>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <ctime>
#include <exception>
#include <new>

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

/// Starts a lightweight thread that calls `run(argument)`. Returns 0, or an errno: then nothing is
/// called, and *reason, which lasts until the caller's next call, names the cause.
WEFT_EXPORT int weft_rayon_start_thread(void (*run)(void *), void *argument,
                                        std::size_t stack_bytes, const char **reason) noexcept {
  weft_threads::light_thread_request request;
  request.run = run;
  request.argument = argument;
  request.stack_bytes = stack_bytes;
  request.kind = "rayon";
  request.runs = weft::layer::client::rayon;
  return weft_threads::start_light_thread(request, reason) ? 0 : EAGAIN;
}

/// Returns how many workers Weft has, and starts Weft; 0 if it cannot start.
WEFT_EXPORT unsigned weft_rayon_workers() noexcept {
  unsigned count = 0;
  try {
    weft_threads::in_weft([&count] { count = weft::layer::workers(); });
  } catch (const std::exception &) {
    return 0;
  }
  return count;
}

/// Returns how many threads have started and not ended.
WEFT_EXPORT std::size_t weft_rayon_threads() noexcept {
  return weft_threads::light_threads("rayon");
}

/// Returns whether a task of Weft calls.
WEFT_EXPORT int weft_rayon_is_task() noexcept {
  return !weft_threads::this_light_thread() &&
         weft::layer::who_calls() == weft::layer::caller::task;
}

// An event in 16 bytes of the caller's, which need no end.
static_assert(sizeof(weft::event) == 16 && alignof(weft::event) <= 8);

WEFT_EXPORT void weft_rayon_event_make(void *event) noexcept { new (event) weft::event; }
/// Any thread; it is the last use of the event if the waiter is to go.
WEFT_EXPORT void weft_rayon_event_set(void *event) noexcept {
  weft_threads::in_weft([event] { static_cast<weft::event *>(event)->set(); });
}
/// A task, whose worker runs other work meanwhile.
WEFT_EXPORT void weft_rayon_event_wait(void *event) noexcept {
  const auto &e = *static_cast<weft::event *>(event);
  try {
    e.wait();
  } catch (const weft::error &) { // no stack is left to go on with
    while (!e.is_set())
      usleep(100);
  }
}

namespace {

using function = long(long, ...);

/// Returns the C library's function, or that of a library between.
function *next_syscall() noexcept {
  static function *cached = nullptr;
  function *f = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (!f) {
    f = reinterpret_cast<function *>(dlsym(RTLD_NEXT, "syscall"));
    __atomic_store_n(&cached, f, __ATOMIC_RELAXED);
  }
  return f;
}

[[gnu::constructor]] void prepare() {
  next_syscall();
  pthread_atfork(nullptr, nullptr, &weft_rayon::forget_in_child);
}

/// Returns whether this is a wait for a private futex that any waker may end, as Rust's are.
bool is_wait(const long (&a)[6]) noexcept {
  const long command = a[1] & FUTEX_CMD_MASK;
  return (a[1] & FUTEX_PRIVATE_FLAG) &&
         (command == FUTEX_WAIT ||
          (command == FUTEX_WAIT_BITSET && static_cast<unsigned>(a[5]) == FUTEX_BITSET_MATCH_ANY));
}

constexpr std::int64_t k_second = 1'000'000'000, k_endless = -1, k_of_kernel = -2;

/// Returns for how many nanoseconds a wait may last; or that it is the kernel's: its clock is that of
/// the day, or its limit is none.
std::int64_t limit_of(const long (&a)[6]) noexcept {
  const auto *const given = reinterpret_cast<const timespec *>(a[3]);
  if (!given)
    return k_endless;
  if ((a[1] & FUTEX_CLOCK_REALTIME) || given->tv_sec < 0 || given->tv_nsec < 0 ||
      given->tv_nsec >= k_second)
    return k_of_kernel;
  timespec now{};
  if ((a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
    clock_gettime(CLOCK_MONOTONIC, &now); // the limit is a time
  constexpr std::int64_t k_most_seconds = 1'000'000'000;
  const std::int64_t seconds = given->tv_sec - now.tv_sec;
  if (seconds > k_most_seconds)
    return k_endless;
  const std::int64_t ns = seconds * k_second + given->tv_nsec - now.tv_nsec;
  return ns < 0 ? 0 : ns;
}

/// Waits on a lightweight thread. Returns 0, the error, or -1 where the kernel is to wait.
int wait_lightly(const std::uint32_t *word, const long (&a)[6]) noexcept {
  const std::int64_t ns = limit_of(a);
  if (ns == k_of_kernel)
    return -1;
  const auto expected = static_cast<std::uint32_t>(a[2]);
  switch (ns == k_endless ? weft_rayon::wait(word, expected)
                          : weft_rayon::wait_for(word, expected, ns)) {
  case weft_rayon::outcome::woken:
    return 0;
  case weft_rayon::outcome::another_value:
    return EAGAIN;
  case weft_rayon::outcome::time_is_over:
    return ETIMEDOUT;
  case weft_rayon::outcome::not_waited:
    break;
  }
  return -1;
}

bool is_wake(const long (&a)[6]) noexcept {
  return (a[1] & FUTEX_PRIVATE_FLAG) && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
}

} // namespace

WEFT_EXPORT long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long &argument : a)
    argument = va_arg(list, long);
  va_end(list);
  long woken = 0;
  if (number == SYS_futex) {
    const auto *const word = reinterpret_cast<const std::uint32_t *>(a[0]);
    if (is_wait(a) && weft_threads::this_light_thread()) {
      const int failure = wait_lightly(word, a);
      if (failure == 0)
        return 0;
      if (failure > 0) {
        errno = failure;
        return -1;
      }
    }
    if (is_wake(a)) {
      const long most = static_cast<int>(a[2]);
      woken = weft_rayon::wake(word, most);
      if (woken >= most)
        return woken;
      a[2] = most - woken;
    }
  }
  const long answer = next_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  return answer < 0 && woken > 0 ? woken : answer + woken;
}
