// SPDX-License-Identifier: Apache-2.0
#include "os/thread.hpp"

#include "base/clock.hpp"
#include "base/leak.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

namespace {

constinit thread_local bool t_makes_own_thread = false;
constinit thread_local bool t_is_own = false;
constexpr std::size_t k_name_bytes = 16; // the kernel's limit, with the zero
constexpr std::uint64_t k_ns_per_s = 1'000'000'000;

/// Holds what a new thread needs to begin; the thread frees it.
struct beginning {
  thread::entry run;
  void *argument;
  char name[k_name_bytes];
};

sigset_t all_signals_but_faults() noexcept {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF})
    sigdelset(&blocked, fault);
  return blocked;
}

void *begin(void *record) noexcept {
  const beginning b = *static_cast<beginning *>(record);
  delete static_cast<beginning *>(record);
  t_is_own = true;
  const sigset_t blocked = all_signals_but_faults();
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr); // tasks of all sorts run here
  pthread_setname_np(pthread_self(), b.name);
  b.run(b.argument);
  return nullptr;
}

/// Returns what the C library takes from the stack for the thread's static thread-local data and
/// its own, and a little more.
std::size_t library_bytes() noexcept {
  return static_cast<std::size_t>(std::max(sysconf(_SC_THREAD_STACK_MIN), 0L));
}

int create(pthread_t &handle, beginning *record, std::size_t stack_bytes) noexcept {
  pthread_attr_t attributes;
  int failure = pthread_attr_init(&attributes);
  if (failure != 0)
    return failure;
  if (stack_bytes != 0)
    failure = pthread_attr_setstacksize(&attributes, stack_bytes + library_bytes());
  if (failure == 0) {
    // All signals are blocked from the first instruction; the thread itself unblocks those that it
    // wants.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    t_makes_own_thread = true;
    failure = pthread_create(&handle, &attributes, begin, record);
    t_makes_own_thread = false;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  pthread_attr_destroy(&attributes);
  return failure;
}

} // namespace

thread::thread(thread &&other) noexcept
    : m_handle(other.m_handle), m_joinable(std::exchange(other.m_joinable, false)) {}

thread &thread::operator=(thread &&other) noexcept {
  WEFT_CHECK(!m_joinable, "a thread object was overwritten before its thread was joined");
  m_handle = other.m_handle;
  m_joinable = std::exchange(other.m_joinable, false);
  return *this;
}

thread::~thread() {
  WEFT_CHECK(!m_joinable, "a thread object was destroyed before its thread was joined");
}

int thread::start(const char *name, entry run, void *argument, std::size_t stack_bytes) noexcept {
  WEFT_CHECK(!m_joinable, "a thread was started twice without being joined");
  auto *record = new (std::nothrow) beginning{run, argument, {}};
  if (record == nullptr)
    return ENOMEM;
  ignore_leak(record); // in a process that is forked before the thread begins
  std::strncpy(record->name, name, k_name_bytes - 1);
  const int failure = create(m_handle, record, stack_bytes);
  if (failure != 0)
    delete record;
  m_joinable = failure == 0;
  return failure;
}

void thread::join() noexcept {
  const int failure = pthread_join(m_handle, nullptr);
  WEFT_CHECK(failure == 0, "a thread could not be joined: it was never started, or joins itself");
  m_joinable = false;
}

bool thread::join_by(std::uint64_t deadline_ns) noexcept {
  if (!m_joinable)
    return true;
  if (deadline_ns == k_no_deadline) {
    join();
    return true;
  }
  const std::uint64_t now = now_ns();
  const std::uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  const std::uint64_t end = static_cast<std::uint64_t>(until.tv_nsec) + left;
  until.tv_sec += static_cast<std::time_t>(end / k_ns_per_s);
  until.tv_nsec = static_cast<long>(end % k_ns_per_s);
  const int failure = pthread_timedjoin_np(m_handle, nullptr, &until);
  WEFT_CHECK(failure == 0 || failure == ETIMEDOUT,
             "a thread could not be joined: it was never started, or joins itself");
  m_joinable = failure != 0;
  return !m_joinable;
}

bool makes_own_thread() noexcept { return t_makes_own_thread; }
bool on_own_thread() noexcept { return t_is_own; }
void give_to_program() noexcept { t_is_own = false; }

int this_thread_id() noexcept { return static_cast<int>(syscall(SYS_gettid)); }

} // namespace rt
} // namespace weft::inline v0
