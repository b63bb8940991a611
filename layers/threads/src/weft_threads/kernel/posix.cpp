// SPDX-License-Identifier: Apache-2.0
// POSIX functions about threads, for lightweight threads.
//
// The C library's functions do not work for them. To the C library a lightweight thread is a thread
// that the kernel does not know (tls.cpp), so its functions fail; and a change of the kernel thread
// below would hold for all threads that run there.
// The functions here replace the C library's, under its versions, wherever this library comes
// first. For any other thread they call the C library's function.
//
// The requests of a thread are in its data (record_state::asks) and follow it. Each kernel thread
// that the thread comes to gets its requests, and the next thread there gets its own
// (follow_requests). This costs nothing until the first such call in the process.
#include "weft_threads/kernel/posix.hpp"

#include "weft_threads/block/sanitizer.hpp"
#include "weft_threads/kernel/preempt.hpp"
#include "weft_threads/thread/fatal.hpp"
#include "weft_threads/thread/fork_locks.hpp"

#include <weft/layer/signal_mask.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft_threads {
namespace {

using mask_word = std::uint64_t; // the kernel's: signal n is bit n - 1

constexpr mask_word bit_of(int signal) noexcept { return mask_word{1} << (signal - 1); }

mask_word exchange_mask(int how, const mask_word *set) noexcept {
  mask_word before = 0;
  syscall(SYS_rt_sigprocmask, how, set, &before, sizeof before);
  return before;
}

// The state of a kernel thread.
thread_local mask_word t_usual_mask = 0, t_mask = 0;
thread_local bool t_knows_mask = false;
thread_local int t_policy = 0, t_priority = 0;

/// Returns the C library's function of this name.
template <class F>
F next_of(const char *name) noexcept {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

/// Calls the C library's function of this name, which find() looks up when the library is loaded,
/// because a signal handler must not call dlsym(). An earlier call, as sanitizers make while they set
/// a thread up, looks the function up itself.
template <class F>
struct next_function {
  const char *name;
  std::atomic<F> found{nullptr};
  void find() noexcept {
    if (!found.load(std::memory_order_relaxed)) // code, which is there for all
      found.store(next_of<F>(name), std::memory_order_relaxed);
  }
  template <class... Arguments>
  int operator()(Arguments... arguments) noexcept {
    find();
    return found.load(std::memory_order_relaxed)(arguments...);
  }
};
constinit next_function<int (*)(pthread_t, pthread_attr_t *)> g_next_pthread_getattr_np{
    "pthread_getattr_np"};
constinit next_function<int (*)(pthread_t, std::size_t, const cpu_set_t *)>
    g_next_pthread_setaffinity_np{"pthread_setaffinity_np"};
constinit next_function<int (*)(pthread_t, std::size_t, cpu_set_t *)> g_next_pthread_getaffinity_np{
    "pthread_getaffinity_np"};
constinit next_function<int (*)(pthread_t, int *, sched_param *)> g_next_pthread_getschedparam{
    "pthread_getschedparam"};
constinit next_function<int (*)(pthread_t, int, const sched_param *)> g_next_pthread_setschedparam{
    "pthread_setschedparam"};
constinit next_function<int (*)(pthread_t, int)> g_next_pthread_setschedprio{
    "pthread_setschedprio"};
constinit next_function<int (*)(pthread_t, int)> g_next_pthread_kill{"pthread_kill"};
constinit next_function<int (*)(int)> g_next_raise{"raise"};
constinit next_function<int (*)(int, const sigset_t *, sigset_t *)> g_next_pthread_sigmask{
    "pthread_sigmask"};
constinit next_function<int (*)(int, const sigset_t *, sigset_t *)> g_next_sigprocmask{
    "sigprocmask"};
constinit next_function<int (*)(const sigset_t *, int *)> g_next_sigwait{"sigwait"};
constinit next_function<int (*)(const sigset_t *, siginfo_t *)> g_next_sigwaitinfo{"sigwaitinfo"};
constinit next_function<int (*)(const sigset_t *, siginfo_t *, const timespec *)>
    g_next_sigtimedwait{"sigtimedwait"};

[[gnu::constructor]] void find_next_functions() noexcept {
  const auto find = [](auto &...all) { (all.find(), ...); };
  find(g_next_pthread_getattr_np, g_next_pthread_setaffinity_np, g_next_pthread_getaffinity_np,
       g_next_pthread_getschedparam, g_next_pthread_setschedparam, g_next_pthread_setschedprio,
       g_next_pthread_kill, g_next_raise, g_next_pthread_sigmask, g_next_sigprocmask,
       g_next_sigwait, g_next_sigwaitinfo, g_next_sigtimedwait);
}

/// Returns the thread-local block of a handle. A handle has the same distance from its block as the
/// caller's handle from the caller's block; on some machines the two are the same address.
void *block_of(pthread_t handle) noexcept {
  const auto offset =
      static_cast<char *>(thread_pointer()) - reinterpret_cast<char *>(pthread_self());
  return reinterpret_cast<char *>(handle) + offset;
}

/// Return the lightweight thread that calls, or that has this handle; null: it is another kind of
/// thread.
thread_record *light_self() noexcept { return light_thread_of(thread_pointer()); }
thread_record *light(pthread_t handle) noexcept { return light_thread_of(block_of(handle)); }
/// Returns the thread that has this handle, lightweight or of the program, if a door knows it.
/// A thread of the program counts, because lightweight threads run on its kernel thread, too, so
/// its requests must be known.
thread_record *known(pthread_t handle) noexcept { return thread_of(block_of(handle)); }

void follow_scheduling(const thread_record &me) noexcept {
  if (t_policy == me.asks.policy && t_priority == me.asks.priority)
    return;
  sched_param p{};
  p.sched_priority = t_priority = me.asks.priority;
  t_policy = me.asks.policy;
  syscall(SYS_sched_setscheduler, 0, t_policy, &p); // the kernel allowed it when the thread asked
}

/// Returns the signals that the library itself needs on kernel threads to which lightweight threads come.
mask_word mask_of_own() noexcept {
  const int signal = own_signal();
  return bit_of(SIGURG) | (signal ? bit_of(signal) : 0);
}

/// Gives the kernel thread the signal mask of `me`. The library's own signals, and faults, stay as
/// the worker has them.
void follow_mask(const thread_record &me) noexcept {
  if (!t_knows_mask) {
    t_usual_mask = t_mask = exchange_mask(SIG_BLOCK, nullptr);
    t_knows_mask = true;
  }
  mask_word kept = mask_of_own();
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF})
    kept |= bit_of(fault);
  const mask_word wanted =
      me.asks.has_mask ? (me.asks.mask & ~kept) | (t_usual_mask & kept) : t_usual_mask;
  if (wanted == t_mask)
    return;
  t_mask = wanted;
  exchange_mask(SIG_SETMASK, &wanted);
}

/// Of the caller. What a thread of the program blocks the kernel knows.
mask_word blocked_by(const thread_record &me) noexcept {
  return me.block ? me.asks.mask : exchange_mask(SIG_BLOCK, nullptr);
}

/// Delivers the signals that are pending for `me`: their handlers run, or their default actions
/// happen. Called with the thread's own block, on its stack. Signals that the thread blocks stay in
/// its word: in the kernel, another thread that waits for signals on the same kernel thread
/// could take them.
[[gnu::noinline]] void deliver_pending(thread_record &me) noexcept {
  while (const mask_word all = me.signals.load(std::memory_order_acquire)) { // O1
    const mask_word due = all & ~blocked_by(me);
    if (due == 0)
      return;
    const int signal = __builtin_ctzll(due) + 1;
    const mask_word only = bit_of(signal);
    if (!(me.signals.fetch_and(~only, std::memory_order_acq_rel) & only)) // O1
      continue;
    const int before = errno;
    const mask_word mask = exchange_mask(SIG_UNBLOCK, &only);
    count_spin_locks(1); // a handler is not left for another thread: the kernel thread has its mask
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    count_spin_locks(-1);
    exchange_mask(SIG_SETMASK, &mask);
    errno = before;
  }
}

constinit relaxed_value<bool> g_all_bind{false};
std::atomic<const std::vector<int> &(*)()> g_cpus{nullptr};

/// Holds the copies of g_binds.
struct door_flags {
  static constexpr unsigned k_most = 16;
  spin_lock lock;
  relaxed_value<bool> *of[k_most] = {};
  unsigned count = 0;
};
constinit door_flags g_doors;

thread_local const std::vector<int> *t_follows = nullptr; // of a kernel thread

const std::vector<int> &cpus_of_process() {
  static const auto &all = *new std::vector<int>([] {
    cpu_set_t set;
    CPU_ZERO(&set);
    syscall(SYS_sched_getaffinity, getpid(), sizeof set, &set);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &set))
        cpus.push_back(cpu);
    return cpus;
  }());
  return all;
}
const std::vector<int> &process_cpus() {
  const auto chosen = g_cpus.load(std::memory_order_relaxed);
  return chosen ? chosen() : cpus_of_process();
}

void follow_cpus(const thread_record &me) noexcept {
  const std::vector<int> *const wanted = cpus_of(me);
  if (t_follows == wanted)
    return;
  t_follows = wanted;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : wanted ? *wanted : process_cpus())
    CPU_SET(static_cast<std::size_t>(cpu), &set);
  syscall(SYS_sched_setaffinity, 0, sizeof set,
          &set); // errors are ignored: a cpu that went away is no reason to stop
}

} // namespace

void use_cpus(const std::vector<int> &(*all)()) noexcept {
  g_cpus.store(all, std::memory_order_relaxed);
}

void note_process_cpus() { (void)process_cpus(); }

void begin_binding() noexcept {
  if (g_all_bind)
    return;
  std::lock_guard lock(g_doors.lock);
  g_all_bind = true;
  for (unsigned i = 0; i < g_doors.count; ++i)
    *g_doors.of[i] = true;
}

void enter_door(relaxed_value<bool> &binds, const void *code) noexcept {
  close_door_code(code);
  std::lock_guard lock(g_doors.lock);
  if (g_doors.count == door_flags::k_most)
    fatal("too many doors in one process");
  g_doors.of[g_doors.count++] = &binds;
  binds = g_all_bind;
}

const std::vector<int> *interned(const std::vector<int> &cpus) {
  static spin_lock lock;
  [[maybe_unused]] static const bool held = (hold_over_fork(lock), true);
  static auto &all =
      *new std::set<std::vector<int>>; // as many as the different lists that a program names
  std::lock_guard guard(lock);
  return &*all.insert(cpus).first;
}

void follow_binding(thread_record &me) noexcept {
  follow_cpus(me);
  follow_requests(me);
}

void follow_requests(thread_record &me) noexcept {
  follow_scheduling(me);
  follow_mask(me);
  if ((me.signals.load(std::memory_order_relaxed) & ~me.asks.mask) == 0)
    return;
  if (!me.block)
    return deliver_pending(me);
  set_thread_pointer(me.block);
  deliver_pending(me);
  set_thread_pointer(me.carrier); // the kernel thread on which `me` is now
}

void take_signals(thread_record &me) noexcept {
  if (me.signals.load(std::memory_order_relaxed) != 0)
    deliver_pending(me);
}

namespace {

/// Returns the mask with which a thread begins that the caller makes, which is not a lightweight one.
mask_word mask_of_maker() noexcept {
  sigset_t mask;
  if (!weft::layer::program_mask(mask))
    return exchange_mask(SIG_BLOCK, nullptr);
  mask_word word = 0;
  std::memcpy(&word, &mask, sizeof word);
  return word;
}

} // namespace

void inherit_requests(thread_record &thread, const thread_record *creator) noexcept {
  const bool of_light = creator && creator->light;
  thread.asks = of_light ? creator->asks : requests();
  thread.asks.has_mask = false;
  if (!of_light)
    thread.asks.mask = mask_of_maker();
}

namespace {

/// Answers for lightweight threads (weft::layer::program_mask), also in the child of a fork(), where
/// the C library has given the block the number of a kernel thread.
bool mask_of_caller(sigset_t &mask) noexcept {
  const thread_record *const t = t_of_block;
  if (!t || !t->light || t->block != thread_pointer())
    return false;
  sigemptyset(&mask);
  std::memcpy(&mask, &t->asks.mask, sizeof t->asks.mask);
  return true;
}

} // namespace

void know_masks() noexcept { weft::layer::ask_for_masks(&mask_of_caller); }

void leave_mask_to_kernel(thread_record &me) noexcept {
  weft::layer::ask_for_masks(nullptr);
  me.asks.has_mask = false;
  in_core(&me, [] { t_knows_mask = false; });
}

namespace {

/// One of those that were sent to the thread; 0: there is none.
int take_signal(thread_record &thread, mask_word wanted, siginfo_t *info) noexcept {
  while (const mask_word due = thread.signals.load(std::memory_order_acquire) & wanted) { // O1
    const int signal = __builtin_ctzll(due) + 1;
    if (!(thread.signals.fetch_and(~bit_of(signal), std::memory_order_acq_rel) &
          bit_of(signal))) // O1
      continue;
    if (info) {
      *info = {};
      info->si_signo = signal;
      info->si_code = SI_TKILL;
      info->si_pid = getpid();
      info->si_uid = getuid();
    }
    return signal;
  }
  return 0;
}

constexpr long k_second = 1'000'000'000;

std::int64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * k_second + t.tv_nsec;
}

/// As sigtimedwait(); `limit` null: for ever. The kernel knows of signals to the process; what is sent to a thread is with it. It is asked for a while at a
/// time, because a signal that is sent just then interrupts nothing.
int wait_for_signal(thread_record &thread, const sigset_t &set, siginfo_t *info,
                    const timespec *limit) noexcept {
  constexpr std::int64_t k_while_ns = 10'000'000;
  mask_word wanted = 0;
  std::memcpy(&wanted, &set, sizeof wanted);
  const std::int64_t begin = now_ns();
  for (std::int64_t ns = 0;; ns = k_while_ns) {
    if (const int signal = take_signal(thread, wanted, info))
      return signal;
    if (limit)
      ns = std::clamp<std::int64_t>(limit->tv_sec * k_second + limit->tv_nsec - (now_ns() - begin),
                                    0, ns);
    const timespec rest{0, ns};
    const unsigned asked = t_times_asked;
    const int signal =
        static_cast<int>(syscall(SYS_rt_sigtimedwait, &wanted, info, &rest, sizeof wanted));
    if (signal > 0)
      return signal;
    const bool goes_on = errno == EAGAIN || (errno == EINTR && t_times_asked != asked);
    if (!goes_on || (limit && now_ns() - begin >= limit->tv_sec * k_second + limit->tv_nsec))
      return -1;
    yield_now(thread);
  }
}

/// Returns the thread whose waits for signals the library serves. Null: the C library serves them.
thread_record *waits_here() noexcept {
  thread_record *const t = k_under_tsan ? nullptr : running_record();
  if (!t || spin_locks_held() != 0)
    return nullptr;
  return (t->block ? t->block == thread_pointer()
                   : t->is_of_program() && !t->in_weft &&
                         (takes_part(*t) || t->signals.load(std::memory_order_relaxed) != 0))
             ? t
             : nullptr;
}

/// A change of what `thread` has asked for: at once where that is the caller, else when it comes to a worker.
template <class F>
void change_requests(thread_record &thread, F change) {
  begin_binding();
  if (&thread == light_self())
    in_core(&thread, change);
  else
    change();
}

const std::vector<int> *list_of(std::size_t bytes, const cpu_set_t *set) {
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < bytes * 8; ++cpu)
    if (CPU_ISSET_S(cpu, bytes, set))
      cpus.push_back(static_cast<int>(cpu));
  return interned(cpus);
}

} // namespace

void note_usual_cpus(thread_record &thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (syscall(SYS_sched_getaffinity, 0, sizeof set, &set) <= 0)
    return;
  const std::vector<int> &all = process_cpus();
  bool same = static_cast<std::size_t>(CPU_COUNT(&set)) == all.size();
  for (std::size_t i = 0; same && i < all.size(); ++i)
    same = CPU_ISSET(static_cast<std::size_t>(all[i]), &set);
  if (!same)
    thread.asks.usual_cpus = list_of(sizeof set, &set);
  if (g_binds)
    follow_binding(thread);
}

namespace {

int pin(thread_record &thread, std::size_t bytes, const cpu_set_t *set) {
  int failure = 0;
  change_requests(thread, [&] {
    cpu_set_t before;
    CPU_ZERO(&before);
    const bool known = syscall(SYS_sched_getaffinity, 0, sizeof before, &before) > 0;
    if (syscall(SYS_sched_setaffinity, 0, bytes, set) != 0)
      failure = errno;
    else
      thread.asks.cpus = list_of(bytes, set);
    if (known &&
        failure ==
            0) // this kernel thread may be another thread's; `thread` gets its cpus when it follows its requests
      syscall(SYS_sched_setaffinity, 0, sizeof before, &before);
  });
  return failure;
}

int schedule(thread_record &thread, int policy, int priority) {
  policy &= ~SCHED_RESET_ON_FORK; // which the next thread there might not be allowed to take back
  const int least = sched_get_priority_min(policy), most = sched_get_priority_max(policy);
  if (least < 0 || priority < least || priority > most)
    return EINVAL;
  int failure = 0;
  change_requests(thread, [&] {
    sched_param asked{}, before{};
    asked.sched_priority = priority;
    const int policy_before = static_cast<int>(syscall(SYS_sched_getscheduler, 0));
    syscall(SYS_sched_getparam, 0, &before);
    if (syscall(SYS_sched_setscheduler, 0, policy, &asked) != 0) {
      failure = errno;
      return;
    }
    syscall(SYS_sched_setscheduler, 0, policy_before, &before); // as above
    thread.asks.policy = policy;
    thread.asks.priority = priority;
  });
  return failure;
}

int scheduling_of(const thread_record &thread, int *policy, sched_param *parameters) noexcept {
  *policy = thread.asks.policy;
  parameters->sched_priority = thread.asks.priority;
  if (*policy == 0 &&
      parameters->sched_priority == 0) { // the thread has not asked, so it has what workers have
    *policy = static_cast<int>(syscall(SYS_sched_getscheduler, 0));
    syscall(SYS_sched_getparam, 0, parameters);
  }
  return 0;
}

int send(thread_record &thread, int signal) noexcept {
  constexpr int k_last = 64;
  if (signal < 0 || signal > k_last ||
      (signal >= 32 && signal < SIGRTMIN)) // the signals between are the C library's own
    return EINVAL;
  if (signal == 0)
    return 0;
  thread_record *const me = known(pthread_self());
  thread.signals.fetch_or(bit_of(signal), std::memory_order_acq_rel); // O1
  if (&thread == me) {
    deliver_pending(thread);
    return 0;
  }
  begin_binding(); // the thread looks for signals when it comes to a worker
  thread.own_parker.signal(calling_record());
  thread.door_parker.signal(calling_record());
  if (const int tid = thread.light ? static_cast<int>(thread.tid_below)
                                   : thread.external.tid.load(std::memory_order_relaxed))
    syscall(
        SYS_tgkill, getpid(), tid,
        SIGURG); // a thread that computes yields (preempt.cpp); any other thread takes it for a question of the watcher
  return 0;
}

int change_mask(thread_record &thread, int how, const sigset_t *set, sigset_t *old) noexcept {
  if (old) {
    std::memset(old, 0, sizeof *old);
    std::memcpy(old, &thread.asks.mask, sizeof thread.asks.mask);
  }
  if (!set)
    return 0;
  mask_word given = 0;
  std::memcpy(&given, set, sizeof given);
  given &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP) | bit_of(32) | bit_of(33));
  mask_word next = given;
  if (how == SIG_BLOCK)
    next = thread.asks.mask | given;
  else if (how == SIG_UNBLOCK)
    next = thread.asks.mask & ~given;
  else if (how != SIG_SETMASK)
    return EINVAL;
  if (next == thread.asks.mask)
    return 0;
  change_requests(thread, [&] {
    thread.asks.mask = next;
    thread.asks.has_mask = true;
  });
  deliver_pending(thread);
  return 0;
}

/// Notes that a thread of the program has changed its own requests, and gives them to its kernel
/// thread.
void note_request(thread_record &thread) noexcept {
  begin_binding();
  if (&thread == known(pthread_self()))
    follow_binding(thread);
}

/// Notes the signal mask of the calling kernel thread, which has changed the mask itself.
/// Weft changes a mask for a moment, perhaps while a lightweight thread's mask holds there: such a
/// mask does not become the usual one.
void note_mask() noexcept {
  close_kernel_thread();
  thread_record *const t = running_record();
  const bool asked = t && t->is_of_program() && !t->in_weft;
  if (t_knows_mask) {
    t_mask = exchange_mask(SIG_BLOCK, nullptr);
    t_usual_mask = asked ? t_mask : t_usual_mask & (t_mask | ~mask_of_own());
  }
  if (asked)
    take_signals(*t);
}

/// `thread` null: no door knows it.
void note_scheduling(thread_record *thread, int policy, int priority) noexcept {
  if (!thread)
    return;
  thread->asks.policy = policy;
  thread->asks.priority = priority;
  note_request(*thread);
}

int policy_of(const thread_record &thread) noexcept {
  int policy = 0;
  sched_param p{};
  scheduling_of(thread, &policy, &p);
  return policy;
}

int result_of(int failure) noexcept {
  if (failure == 0)
    return 0;
  errno = failure;
  return -1;
}

bool is_own(pid_t pid) noexcept {
  return pid == 0 || pid == static_cast<pid_t>(syscall(SYS_gettid));
}

} // namespace

} // namespace weft_threads

using namespace weft_threads;

#define POSIX_API extern "C" __attribute__((visibility("default")))

POSIX_API int pthread_getattr_np(pthread_t handle, pthread_attr_t *into) noexcept {
  const thread_record *const t = light(handle);
  weft::layer::stack_range stack{nullptr, 0};
  if (t)
    stack = {reinterpret_cast<void *>(t->stack_low), t->stack_bytes};
  else if (handle == pthread_self())
    stack = weft::layer::own_stack(); // a task of Weft's runs, perhaps, on a stack of Weft's
  if (!stack.low)
    return g_next_pthread_getattr_np(handle, into);
  if (const int failure = pthread_attr_init(into))
    return failure;
  const int failure = pthread_attr_setstack(into, stack.low, stack.bytes);
  return failure ? failure
                 : pthread_attr_setguardsize(into, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

POSIX_API int pthread_setaffinity_np(pthread_t handle, std::size_t bytes,
                                     const cpu_set_t *set) noexcept {
  if (thread_record *const t = light(handle))
    return pin(*t, bytes, set);
  const int failure = g_next_pthread_setaffinity_np(handle, bytes, set);
  if (thread_record *const t = failure ? nullptr : known(handle)) {
    t->asks.cpus = list_of(bytes, set);
    note_request(*t);
  }
  return failure;
}
POSIX_API int pthread_getaffinity_np(pthread_t handle, std::size_t bytes, cpu_set_t *set) noexcept {
  const thread_record *const t = light(handle);
  if (!t)
    return g_next_pthread_getaffinity_np(handle, bytes, set);
  const std::vector<int> *const cpus = cpus_of(*t);
  std::memset(set, 0, bytes);
  for (const int cpu : cpus ? *cpus : process_cpus()) {
    if (static_cast<std::size_t>(cpu) >= bytes * 8)
      return EINVAL;
    CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
  }
  return 0;
}
POSIX_API int sched_setaffinity(pid_t pid, std::size_t bytes, const cpu_set_t *set) noexcept {
  thread_record *const t = light_self();
  if (!t || !is_own(pid)) {
    const int result = static_cast<int>(syscall(SYS_sched_setaffinity, pid, bytes, set));
    if (thread_record *const of_program =
            result == 0 && is_own(pid) ? known(pthread_self()) : nullptr) {
      of_program->asks.cpus = list_of(bytes, set);
      note_request(*of_program);
    }
    return result;
  }
  const int failure = pin(*t, bytes, set);
  return result_of(failure);
}

POSIX_API int pthread_getschedparam(pthread_t handle, int *policy,
                                    sched_param *parameters) noexcept {
  const thread_record *const t = light(handle);
  return t ? scheduling_of(*t, policy, parameters)
           : g_next_pthread_getschedparam(handle, policy, parameters);
}
POSIX_API int pthread_setschedparam(pthread_t handle, int policy,
                                    const sched_param *parameters) noexcept {
  if (thread_record *const t = light(handle))
    return schedule(*t, policy, parameters->sched_priority);
  const int failure = g_next_pthread_setschedparam(handle, policy, parameters);
  if (failure == 0)
    note_scheduling(known(handle), policy, parameters->sched_priority);
  return failure;
}
POSIX_API int pthread_setschedprio(pthread_t handle, int priority) noexcept {
  thread_record *const t = light(handle);
  if (t)
    return schedule(*t, policy_of(*t), priority);
  const int failure = g_next_pthread_setschedprio(handle, priority);
  if (thread_record *const of_program =
          failure == 0
              ? known(handle)
              : nullptr) // the kernel knows its policy; the C library, what was asked for there
    note_scheduling(
        of_program,
        static_cast<int>(syscall(SYS_sched_getscheduler,
                                 of_program->external.tid.load(std::memory_order_relaxed))),
        priority);
  return failure;
}
POSIX_API int sched_setscheduler(pid_t pid, int policy, const sched_param *parameters) noexcept {
  if (thread_record *const t = is_own(pid) && parameters ? light_self() : nullptr)
    return result_of(schedule(*t, policy, parameters->sched_priority));
  const int result = static_cast<int>(syscall(SYS_sched_setscheduler, pid, policy, parameters));
  if (result == 0 && is_own(pid))
    note_scheduling(known(pthread_self()), policy, parameters->sched_priority);
  return result;
}
POSIX_API int sched_setparam(pid_t pid, const sched_param *parameters) noexcept {
  if (thread_record *const t = is_own(pid) && parameters ? light_self() : nullptr)
    return result_of(schedule(*t, policy_of(*t), parameters->sched_priority));
  const int result = static_cast<int>(syscall(SYS_sched_setparam, pid, parameters));
  if (result == 0 && is_own(pid))
    note_scheduling(known(pthread_self()), static_cast<int>(syscall(SYS_sched_getscheduler, 0)),
                    parameters->sched_priority);
  return result;
}

POSIX_API int pthread_kill(pthread_t handle, int signal) noexcept {
  thread_record *const t = known(handle);
  return t && (t->light || t->in_weft || takes_part(*t))
             ? send(*t, signal)
             : g_next_pthread_kill(handle, signal); // in a region others run on its kernel thread
}
POSIX_API int raise(int signal) noexcept {
  thread_record *const t = light_self();
  if (!t)
    return g_next_raise(signal);
  const int failure = send(*t, signal);
  return result_of(failure);
}
POSIX_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) noexcept {
  if (thread_record *const t = light_self())
    return change_mask(*t, how, set, old);
  const int failure = g_next_pthread_sigmask(how, set, old);
  note_mask();
  return failure;
}
POSIX_API int sigprocmask(int how, const sigset_t *set, sigset_t *old) noexcept {
  thread_record *const t = light_self();
  if (!t) {
    const int result = g_next_sigprocmask(how, set, old);
    note_mask();
    return result;
  }
  const int failure = change_mask(*t, how, set, old);
  return result_of(failure);
}

POSIX_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const timespec *limit) {
  thread_record *const t = waits_here();
  if (!t || (limit && (limit->tv_sec < 0 || limit->tv_sec > k_second || limit->tv_nsec < 0 ||
                       limit->tv_nsec >= k_second)))
    return g_next_sigtimedwait(set, info, limit);
  return wait_for_signal(*t, *set, info, limit);
}
POSIX_API int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
  thread_record *const t = waits_here();
  return t ? wait_for_signal(*t, *set, info, nullptr) : g_next_sigwaitinfo(set, info);
}
POSIX_API int sigwait(const sigset_t *set, int *signal) {
  thread_record *const t = waits_here();
  if (!t)
    return g_next_sigwait(set, signal);
  const int before = errno;
  int got = 0;
  do
    got = wait_for_signal(*t, *set, nullptr, nullptr);
  while (got < 0 && errno == EINTR);
  const int failure = got < 0 ? errno : 0;
  errno = before;
  if (failure == 0)
    *signal = got;
  return failure;
}

// The assembler gives each symbol one version, so the second version is an alias. The first one is
// that of the C library with which this library is built, because libraries that are linked with
// this one ask for it.
#define VERSIONS(NAME, FIRST, SECOND)                                                              \
  asm(".symver " #NAME ", " #NAME "@@" #FIRST ", remove");                                         \
  asm(".globl weft_second_" #NAME "\n.set weft_second_" #NAME ", " #NAME                           \
      "\n.symver weft_second_" #NAME ", " #NAME "@" #SECOND)
#if __GLIBC_PREREQ(2, 34)
#define NEW_AND_OLD(NAME, NEW, OLD) VERSIONS(NAME, NEW, OLD)
#else
#define NEW_AND_OLD(NAME, NEW, OLD) VERSIONS(NAME, OLD, NEW)
#endif
NEW_AND_OLD(pthread_getattr_np, GLIBC_2.32, GLIBC_2.2.5);
NEW_AND_OLD(pthread_setaffinity_np, GLIBC_2.34, GLIBC_2.3.4);
NEW_AND_OLD(pthread_getaffinity_np, GLIBC_2.32, GLIBC_2.3.4);
NEW_AND_OLD(pthread_setschedprio, GLIBC_2.34, GLIBC_2.3.4);
NEW_AND_OLD(pthread_kill, GLIBC_2.34, GLIBC_2.2.5);
NEW_AND_OLD(pthread_sigmask, GLIBC_2.32, GLIBC_2.2.5);
