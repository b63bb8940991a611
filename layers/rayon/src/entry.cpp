// SPDX-License-Identifier: Apache-2.0
// What the crate weft-rayon calls, and the futex that Rust's locks wait for.
//
// Rayon's idle threads wait for a condition variable of Rust's, which is a futex. On a lightweight
// thread that wait would hold its worker. So this library has the C library's function syscall(): a
// lightweight thread that waits for a futex without a time limit parks, and a thread that wakes one
// also wakes those that are parked. Waits with a time limit, and those of other threads, are the
// kernel's.
#include "wait_table.hpp"

#include <weft_threads/light_thread.hpp>

#include <weft/layer/thread.hpp>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <exception>

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>

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

[[gnu::constructor]] void prepare() { next_syscall(); }

bool is_endless_wait(const long (&a)[6]) noexcept {
  const long command = a[1] & FUTEX_CMD_MASK;
  return a[3] == 0 && (a[1] & FUTEX_PRIVATE_FLAG) &&
         (command == FUTEX_WAIT ||
          (command == FUTEX_WAIT_BITSET && static_cast<unsigned>(a[5]) == FUTEX_BITSET_MATCH_ANY));
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
    if (is_endless_wait(a) && weft_threads::this_light_thread()) {
      if (weft_rayon::wait(word, static_cast<std::uint32_t>(a[2])))
        return 0;
      errno = EAGAIN;
      return -1;
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
