// SPDX-License-Identifier: Apache-2.0
// libweft-pools.so, which `weft run --pools` preloads: threads that the program makes are pool
// threads of Weft's (weft/layer/pool_thread.hpp). The library wraps pthread_create() and the C
// library's calls that wait, and notifies Weft when such a thread waits.
//
// What a thread does in other ways is seen by the watcher, which asks the kernel.
#include <weft/layer/pool_thread.hpp>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <mutex>
#include <new>

#include <dlfcn.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using weft::layer::pool_thread;

/// Belongs to one thread at a time. Records are never freed: the watcher may look at them.
struct record : pool_thread {
  record *next_free = nullptr;
};

constinit std::mutex g_free_lock;
constinit record *g_free = nullptr; // with the lock

__attribute__((tls_model("initial-exec"))) constinit thread_local record *t_self = nullptr;

/// Returns the function that this library wraps. `version`: of a symbol that the C library
/// has twice.
template <class F>
F *real(F *&cached, const char *name, const char *version = nullptr) noexcept {
  F *f = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (!f) {
    f = reinterpret_cast<F *>(version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name));
    if (!f)
      f = reinterpret_cast<F *>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(&cached, f, __ATOMIC_RELAXED);
  }
  return f;
}

#if defined(__x86_64__)
constexpr const char *k_condition_version = "GLIBC_2.3.2"; // older ones have another layout
#else
constexpr const char *k_condition_version = nullptr;
#endif

// ---- waits ----------------------------------------------------------------------------------------------------------

/// Notes that the caller waits, for as long as the object lives. A thread that is cancelled, or
/// ends by pthread_exit(), in a wait destroys it on its way out.
class waiting {
 public:
  waiting() noexcept : m_self(t_self) {
    if (m_self)
      weft::layer::pool_thread_waits(*m_self);
  }
  ~waiting() {
    if (!m_self)
      return;
    const int saved_errno = errno;
    weft::layer::pool_thread_runs(*m_self);
    errno = saved_errno;
  }
  waiting(const waiting &) = delete;
  waiting &operator=(const waiting &) = delete;

 private:
  record *const m_self;
};

bool is_futex_wait(long operation) noexcept {
  switch (operation & FUTEX_CMD_MASK) {
  case FUTEX_WAIT:
  case FUTEX_WAIT_BITSET:
  case FUTEX_LOCK_PI:
    return true;
  default:
    return false;
  }
}

// ---- threads --------------------------------------------------------------------------------------------------------

record *new_record() noexcept {
  {
    const std::lock_guard lock(g_free_lock);
    if (record *r = g_free) {
      g_free = r->next_free;
      return r;
    }
  }
  auto *const r = new (std::nothrow) record;
  if (r)
    weft::layer::add_pool_thread(*r);
  return r;
}

/// Makes the calling thread a pool thread, for as long as the object lives.
class membership {
 public:
  membership() noexcept {
    t_self = new_record();
    if (!t_self) // without memory the thread is not known
      return;
    t_self->tid.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
    weft::layer::pool_thread_runs(*t_self);
  }
  ~membership() {
    record *const r = t_self;
    t_self = nullptr;
    if (!r)
      return;
    r->tid.store(0, std::memory_order_relaxed);
    weft::layer::pool_thread_waits(*r); // a worker may take its place at once
    const std::lock_guard lock(g_free_lock);
    r->next_free = g_free;
    g_free = r;
  }
  membership(const membership &) = delete;
  membership &operator=(const membership &) = delete;
};

struct beginning {
  void *(*run)(void *);
  void *argument;
};

void *begin(void *given) {
  const beginning b = *static_cast<beginning *>(given);
  delete static_cast<beginning *>(given);
  const membership member;
  return b.run(b.argument);
}

/// A child of fork() has one thread, which may be a pool thread: its number is another one.
[[gnu::constructor]] void follow_forks() {
  pthread_atfork([] { g_free_lock.lock(); }, [] { g_free_lock.unlock(); },
                 [] {
                   g_free_lock.unlock();
                   if (t_self)
                     t_self->tid.store(static_cast<int>(syscall(SYS_gettid)),
                                       std::memory_order_relaxed);
                 });
}

} // namespace

WEFT_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                               void *(*run)(void *), void *argument) noexcept {
  static int (*cached)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = nullptr;
  auto *const create = real(cached, "pthread_create");
  beginning *const b =
      weft::layer::makes_own_thread() ? nullptr : new (std::nothrow) beginning{run, argument};
  if (!b)
    return create(id, attributes, run, argument);
  const int failure = create(id, attributes, &begin, b);
  if (failure)
    delete b;
  return failure;
}

#define WEFT_WAIT(result, name, version, parameters, arguments)                                    \
  WEFT_EXPORT result name parameters {                                                             \
    static result(*cached) parameters = nullptr;                                                   \
    auto *const f = real(cached, #name, version);                                                  \
    const waiting here;                                                                            \
    return f arguments;                                                                            \
  }

WEFT_WAIT(int, pthread_cond_wait, k_condition_version,
          (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
WEFT_WAIT(int, pthread_cond_timedwait, k_condition_version,
          (pthread_cond_t * condition, pthread_mutex_t *mutex, const timespec *until),
          (condition, mutex, until))
WEFT_WAIT(int, pthread_cond_clockwait, nullptr,
          (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock,
           const timespec *until),
          (condition, mutex, clock, until))
WEFT_WAIT(int, pthread_join, nullptr, (pthread_t thread, void **result), (thread, result))
WEFT_WAIT(int, sem_wait, nullptr, (sem_t * semaphore), (semaphore))
WEFT_WAIT(int, sem_timedwait, nullptr, (sem_t * semaphore, const timespec *until),
          (semaphore, until))
WEFT_WAIT(int, sem_clockwait, nullptr, (sem_t * semaphore, clockid_t clock, const timespec *until),
          (semaphore, clock, until))
WEFT_WAIT(int, nanosleep, nullptr, (const timespec *time, timespec *left), (time, left))
WEFT_WAIT(int, clock_nanosleep, nullptr,
          (clockid_t clock, int flags, const timespec *time, timespec *left),
          (clock, flags, time, left))
WEFT_WAIT(int, usleep, nullptr, (useconds_t us), (us))
WEFT_WAIT(unsigned, sleep, nullptr, (unsigned seconds), (seconds))
WEFT_WAIT(int, poll, nullptr, (pollfd * files, nfds_t count, int timeout), (files, count, timeout))
WEFT_WAIT(int, ppoll, nullptr,
          (pollfd * files, nfds_t count, const timespec *timeout, const sigset_t *mask),
          (files, count, timeout, mask))
WEFT_WAIT(int, select, nullptr,
          (int count, fd_set *reads, fd_set *writes, fd_set *errors, timeval *timeout),
          (count, reads, writes, errors, timeout))
WEFT_WAIT(int, pselect, nullptr,
          (int count, fd_set *reads, fd_set *writes, fd_set *errors, const timespec *timeout,
           const sigset_t *mask),
          (count, reads, writes, errors, timeout, mask))
WEFT_WAIT(int, epoll_wait, nullptr, (int file, epoll_event *events, int count, int timeout),
          (file, events, count, timeout))
WEFT_WAIT(int, epoll_pwait, nullptr,
          (int file, epoll_event *events, int count, int timeout, const sigset_t *mask),
          (file, events, count, timeout, mask))

/// Rust, and std::atomic::wait(), call the futex by this function.
WEFT_EXPORT long syscall(long number, ...) noexcept {
  static long (*cached)(long, ...) = nullptr;
  auto *const f = real(cached, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (long &argument : a)
    argument = va_arg(list, long);
  va_end(list);
  if (number != SYS_futex || !t_self || !is_futex_wait(a[1]))
    return f(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  const waiting here;
  return f(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/// A thread that spins on this call gives its cpu to others by itself (pool_thread::yields).
WEFT_EXPORT int sched_yield() noexcept {
  static int (*cached)() = nullptr;
  if (record *const self = t_self)
    self->yields.store(self->yields.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return real(cached, "sched_yield")();
}
