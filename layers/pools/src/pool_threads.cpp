// SPDX-License-Identifier: Apache-2.0
// libweft-pools.so, which `weft run` preloads: threads that the program makes are pool threads of
// Weft's (weft/layer/pool_thread.hpp). The library wraps pthread_create() and the C library's calls
// that wait, and notifies Weft when such a thread waits.
//
// What a thread does in other ways is seen by the watcher, which asks the kernel.
//
// A thread that a task makes inherits the name of its worker's kernel thread, as does the child of
// a fork() in a task; both take the program's name instead, so that names tell Weft's threads. For
// the time of its pthread_create() the maker has that name: then the new thread begins with it, and
// no call that gives the new thread another name comes too early.
// So with the signal mask: Weft's threads block nearly all signals, and what is made there begins with
// the program's mask. A new thread takes it itself, so the maker's mask stays, and no signal of the
// program comes to the maker. processes.cpp is about new processes.
//
// Programs and their children without Weft get this library, too, so it needs the C library alone:
// it is compiled without exceptions, and linked as C. Weft attaches itself when it is loaded.
//
// No lock is taken, so that a fork may come at any time; the protocol is that of record_table.hpp.
#include "next_function.hpp"
#include "program_mask.hpp"
#include "record_table.hpp"

#include <weft/layer/pool_thread.hpp>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

namespace {

using weft::layer::pool_thread;
using weft::layer::pool_thread_calls;
using weft_pools::real;

using records = weft_pools::record_table<pool_thread, pool_thread_calls>;
using record = records::entry;

constinit records g_records;

__attribute__((tls_model("initial-exec"))) constinit thread_local record *t_self = nullptr;

// ---- the C library --------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr const char *k_condition_version = "GLIBC_2.3.2"; // older ones have another layout
#else
constexpr const char *k_condition_version = nullptr;
#endif

// ---- waits ----------------------------------------------------------------------------------------------------------

void begin_wait(record &self) noexcept {
  self.waits.store(1, std::memory_order_relaxed); // a hint for the watcher
  if (const pool_thread_calls *const weft = g_records.calls())
    weft->waits(self);
}

/// Ends a wait.
void end_wait(void *p) noexcept {
  record &self = *static_cast<record *>(p);
  const int saved_errno = errno;
  self.waits.store(0, std::memory_order_relaxed); // a hint for the watcher
  if (const pool_thread_calls *const weft = g_records.calls())
    weft->runs(self);
  errno = saved_errno;
}

void (*g_push_cleanup)(_pthread_cleanup_buffer *, void (*)(void *), void *) = nullptr;
void (*g_pop_cleanup)(_pthread_cleanup_buffer *, int) = nullptr;

/// A wait of the calling thread, as long as it lives. It also ends where the thread is cancelled, and
/// where a handler of a signal leaves it by longjmp(): for buffers of this kind the C library's
/// longjmp() calls the function, too. Those of pthread_cleanup_push() would stay behind, and a later
/// end of the thread would go back into a stack frame that is gone.
class wait_of {
 public:
  explicit wait_of(record &self) noexcept : m_self(self) {
    begin_wait(self);
    // Constructors of other libraries may make threads before this one's has found the functions.
    real(g_push_cleanup, "_pthread_cleanup_push")(&m_end, &end_wait, &self);
  }
  ~wait_of() {
    real(g_pop_cleanup, "_pthread_cleanup_pop")(&m_end, 0);
    end_wait(&m_self);
  }
  wait_of(const wait_of &) = delete;
  wait_of &operator=(const wait_of &) = delete;

 private:
  record &m_self;
  _pthread_cleanup_buffer m_end{};
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

// ---- names ----------------------------------------------------------------------------------------------------------

constexpr std::size_t k_name_bytes = 16; // the kernel's

bool is_name_of_wefts(const char *name) noexcept { return std::strncmp(name, "weft-", 5) == 0; }

/// Reads the name of the first thread, which the program's other threads inherit. The system calls
/// are no cancellation points, as pthread_create() is none.
bool read_first_name(char (&name)[k_name_bytes]) noexcept {
  const long file = syscall(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  const long got = syscall(SYS_read, file, name, k_name_bytes - 1);
  syscall(SYS_close, file);
  if (got <= 0)
    return false;
  name[got] = '\0';
  name[std::strcspn(name, "\n")] = '\0';
  return true;
}

/// Gives the calling thread the program's name if it has that of a thread of Weft's, which `before`
/// keeps. Returns whether it has.
bool take_program_name(char (&before)[k_name_bytes]) noexcept {
  if (prctl(PR_GET_NAME, before) != 0 || !is_name_of_wefts(before))
    return false;
  char name[k_name_bytes] = "";
  if (!read_first_name(name) || is_name_of_wefts(name)) // as in the child of a task's fork()
    std::strncpy(name, program_invocation_short_name, k_name_bytes - 1);
  name[k_name_bytes - 1] = '\0';
  return prctl(PR_SET_NAME, name) == 0;
}

/// Has the calling thread have the program's name in place of one of Weft's, for the time of its
/// life.
class under_program_name {
 public:
  under_program_name() noexcept : m_takes(take_program_name(m_before)) {}
  ~under_program_name() {
    if (m_takes)
      prctl(PR_SET_NAME, m_before);
  }
  under_program_name(const under_program_name &) = delete;
  under_program_name &operator=(const under_program_name &) = delete;

 private:
  char m_before[k_name_bytes] = "";
  const bool m_takes;
};

// ---- threads --------------------------------------------------------------------------------------------------------

void give(const pool_thread_calls &weft, record &given) noexcept { weft.add(given); }

/// Returns a record that Weft knows if Weft is there; null without memory.
record *take_record() noexcept {
  const int process = getpid();
  record *r = g_records.take(process);
  if (!r) {
    void *const memory = std::malloc(sizeof(records::block));
    if (!memory)
      return nullptr;
    r = g_records.add(*new (memory) records::block, process);
  }
  g_records.show(*r, &give);
  return r;
}

/// Makes the calling thread a pool thread. Without memory the thread is not known.
record *enter() noexcept {
  record *const r = take_record();
  if (r) {
    r->tid.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
    end_wait(r);
  }
  return t_self = r;
}

void leave(void *p) noexcept {
  t_self = nullptr;
  auto *const r = static_cast<record *>(p);
  if (!r)
    return;
  r->tid.store(0, std::memory_order_relaxed);
  begin_wait(*r); // a worker may take its place at once
  g_records.give_back(*r);
}

/// Describes a thread that is to begin: one of POSIX, which returns a pointer, or of C11, which
/// returns a number.
template <class Result>
struct beginning {
  Result (*run)(void *);
  void *argument;
  bool takes_mask;
  sigset_t mask;
};

template <class Result>
Result begin(void *given) {
  const auto b = *static_cast<beginning<Result> *>(given);
  std::free(given);
  Result result{};
  pthread_cleanup_push(&leave, enter());
  if (b.takes_mask)
    pthread_sigmask(SIG_SETMASK, &b.mask, nullptr);
  result = b.run(b.argument);
  pthread_cleanup_pop(1);
  return result;
}

int (*g_mask_of_attributes)(const pthread_attr_t *, sigset_t *) = nullptr; // since glibc 2.32

/// Returns whether the maker says with which mask the thread begins.
bool has_mask(const pthread_attr_t *attributes) noexcept {
  sigset_t mask;
  return attributes && g_mask_of_attributes && g_mask_of_attributes(attributes, &mask) == 0;
}

/// Makes a thread by create(run, argument), which returns 0 or an error. Weft's own are not known.
/// `asks_for_mask`: the program says with which mask it begins.
template <class Result, class Create>
int make_thread(Result (*run)(void *), void *argument, bool asks_for_mask, Create create) noexcept {
  const pool_thread_calls *const weft = g_records.calls();
  if (weft && weft->makes_own_thread())
    return create(run, argument);
  auto *const b = static_cast<beginning<Result> *>(std::malloc(sizeof(beginning<Result>)));
  if (!b)
    return create(run, argument);
  *b = {run, argument, false, {}};
  b->takes_mask = !asks_for_mask && weft_pools::program_mask(b->mask);
  const auto make = [&] { return create(&begin<Result>, b); };
  const auto make_under_name = [&] {
    const under_program_name here;
    return make();
  };
  const int failure = weft ? make_under_name() : make();
  if (failure)
    std::free(b);
  return failure;
}

/// A child of fork() has one thread, which may be a pool thread: its number is another one. It may
/// be a worker's as well, whose name the process would have.
void begin_in_child() noexcept {
  g_records.forget(getpid(), t_self,
                   [](record &r) { r.tid.store(0, std::memory_order_relaxed); });
  if (t_self)
    t_self->tid.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
  char before[k_name_bytes];
  if (g_records.calls())
    take_program_name(before);
}

} // namespace

bool weft_pools::program_mask(sigset_t &mask) noexcept {
  const pool_thread_calls *const weft = g_records.calls();
  return weft && weft->program_mask(mask);
}

WEFT_EXPORT void weft_attach_pool_threads(const pool_thread_calls *weft) noexcept {
  if (weft->version == weft::layer::k_pool_thread_version)
    g_records.attach(*weft, &give); // of two Wefts in a process the first one makes room
}

WEFT_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                               void *(*run)(void *), void *argument) noexcept {
  static int (*cached)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = nullptr;
  auto *const create = real(cached, "pthread_create");
  return make_thread(run, argument, has_mask(attributes), [=](void *(*body)(void *), void *of) {
    return create(id, attributes, body, of);
  });
}

/// C11's. The C library makes such a thread without pthread_create().
WEFT_EXPORT int thrd_create(thrd_t *id, thrd_start_t run, void *argument) {
  static int (*cached)(thrd_t *, thrd_start_t, void *) = nullptr;
  auto *const create = real(cached, "thrd_create");
  return make_thread(run, argument, false,
                     [=](thrd_start_t body, void *of) { return create(id, body, of); });
}

// The functions that wait: result, name, version, parameters, arguments.
#define WEFT_WAITS(X)                                                                              \
  X(int, pthread_cond_wait, k_condition_version,                                                   \
    (pthread_cond_t * condition, pthread_mutex_t * mutex), (condition, mutex))                     \
  X(int, pthread_cond_timedwait, k_condition_version,                                              \
    (pthread_cond_t * condition, pthread_mutex_t * mutex, const timespec *until),                  \
    (condition, mutex, until))                                                                     \
  X(int, pthread_cond_clockwait, nullptr,                                                          \
    (pthread_cond_t * condition, pthread_mutex_t * mutex, clockid_t clock, const timespec *until), \
    (condition, mutex, clock, until))                                                              \
  X(int, pthread_join, nullptr, (pthread_t thread, void **result), (thread, result))               \
  X(int, sem_wait, nullptr, (sem_t * semaphore), (semaphore))                                      \
  X(int, sem_timedwait, nullptr, (sem_t * semaphore, const timespec *until), (semaphore, until))   \
  X(int, sem_clockwait, nullptr, (sem_t * semaphore, clockid_t clock, const timespec *until),      \
    (semaphore, clock, until))                                                                     \
  X(int, nanosleep, nullptr, (const timespec *time, timespec *left), (time, left))                 \
  X(int, clock_nanosleep, nullptr,                                                                 \
    (clockid_t clock, int flags, const timespec *time, timespec *left),                            \
    (clock, flags, time, left))                                                                    \
  X(int, usleep, nullptr, (useconds_t us), (us))                                                   \
  X(unsigned, sleep, nullptr, (unsigned seconds), (seconds))                                       \
  X(int, poll, nullptr, (pollfd * files, nfds_t count, int timeout), (files, count, timeout))      \
  X(int, ppoll, nullptr,                                                                           \
    (pollfd * files, nfds_t count, const timespec *timeout, const sigset_t *mask),                 \
    (files, count, timeout, mask))                                                                 \
  X(int, select, nullptr,                                                                          \
    (int count, fd_set *reads, fd_set *writes, fd_set *errors, timeval *timeout),                  \
    (count, reads, writes, errors, timeout))                                                       \
  X(int, pselect, nullptr,                                                                         \
    (int count, fd_set *reads, fd_set *writes, fd_set *errors, const timespec *timeout,            \
     const sigset_t *mask),                                                                        \
    (count, reads, writes, errors, timeout, mask))                                                 \
  X(int, cnd_wait, nullptr, (cnd_t * condition, mtx_t * mutex), (condition, mutex))                \
  X(int, cnd_timedwait, nullptr, (cnd_t * condition, mtx_t * mutex, const timespec *until),        \
    (condition, mutex, until))                                                                     \
  X(int, thrd_join, nullptr, (thrd_t thread, int *result), (thread, result))                       \
  X(int, thrd_sleep, nullptr, (const timespec *time, timespec *left), (time, left))                \
  X(int, epoll_wait, nullptr, (int file, epoll_event *events, int count, int timeout),             \
    (file, events, count, timeout))                                                                \
  X(int, epoll_pwait, nullptr,                                                                     \
    (int file, epoll_event *events, int count, int timeout, const sigset_t *mask),                 \
    (file, events, count, timeout, mask))

#define WEFT_WAIT(result, name, version, parameters, arguments)                                    \
  static result(*g_real_##name) parameters = nullptr;                                              \
  WEFT_EXPORT result name parameters {                                                             \
    auto *const f = real(g_real_##name, #name, version);                                           \
    record *const self = t_self;                                                                   \
    if (!self)                                                                                     \
      return f arguments;                                                                          \
    const wait_of here(*self);                                                                     \
    return f arguments;                                                                            \
  }
WEFT_WAITS(WEFT_WAIT)

static long (*g_real_syscall)(long, ...) = nullptr;

/// Rust, and std::atomic::wait(), call the futex by this function.
WEFT_EXPORT long syscall(long number, ...) noexcept {
  auto *const f = real(g_real_syscall, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (long &argument : a)
    argument = va_arg(list, long);
  va_end(list);
  record *const self = t_self;
  if (number != SYS_futex || !self || !is_futex_wait(a[1]))
    return f(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  const wait_of here(*self);
  return f(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int (*g_real_sched_yield)() = nullptr;

/// A thread that spins on this call gives its cpu to others by itself (pool_thread::yields).
WEFT_EXPORT int sched_yield() noexcept {
  if (record *const self = t_self)
    self->yields.store(self->yields.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return real(g_real_sched_yield, "sched_yield")();
}

/// C11's name of it, which the C library does not send through that one.
WEFT_EXPORT void thrd_yield() { sched_yield(); }

namespace {

/// Finds the C library's functions now: some of them may be called in a signal handler, or in the
/// child of a fork, where the loader cannot be asked.
[[gnu::constructor]] void prepare() {
#define WEFT_FIND(result, name, version, parameters, arguments)                                    \
  static_cast<void>(real(g_real_##name, #name, version));
  WEFT_WAITS(WEFT_FIND)
  real(g_push_cleanup, "_pthread_cleanup_push");
  real(g_pop_cleanup, "_pthread_cleanup_pop");
  real(g_real_syscall, "syscall");
  real(g_real_sched_yield, "sched_yield");
  real(g_mask_of_attributes, "pthread_attr_getsigmask_np");
  pthread_atfork(nullptr, nullptr, &begin_in_child);
}

} // namespace
