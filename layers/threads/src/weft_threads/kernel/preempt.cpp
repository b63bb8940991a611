// SPDX-License-Identifier: Apache-2.0
// Interrupting lightweight threads that compute or spin for too long.
//
// Weft's watcher finds a kernel thread that has passed no scheduling point for a time slice while
// something else was ready, and this library sends that kernel thread a signal.
// The handler runs on the stack of the thread that it interrupted, with that thread's
// thread-local block. It yields there as if the program had called sched_yield().
// So the thread's registers lie in the signal's frame, and the thread goes on, on any worker, when
// it returns from the handler.
//
// The handler declines to yield where a thread cannot be left, and the watcher asks again soon:
// - in Weft, where the block in use is the worker's;
// - in this library and in doors, and under one of their spin locks;
// - in the C library, the loader, the unwinder and the allocator, whose locks Weft may need;
// - on a kernel thread's own stack, which no other kernel thread could continue;
// - in a task that has asked for the number of its cpu, which holds until the task waits
//   (weft/layer/task_source.hpp).
//
// The handler also leaves a thread that waits in the kernel for a lock (a mutex, pthread_once, the
// guard of a static), wherever the call came from, if a program's own thread can go on only on that
// kernel thread.
// The kernel has taken the waiting thread back to its system call, which it makes again wherever it
// goes on. Locks that it holds meanwhile it would also hold asleep.
// If SIGURG is the program's, or ignored, the library interrupts only these waits, by another signal.
#include "weft_threads/kernel/preempt.hpp"

#include "weft_threads/block/sanitizer.hpp"
#include "weft_threads/kernel/posix.hpp"
#include "weft_threads/thread/thread_record.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace weft_threads {

constinit thread_local volatile unsigned t_times_asked = 0;

namespace {

// SIGURG is ignored by default, so a stray one does no harm, and other code hardly uses it. Go uses
// it for the same reasons.
constexpr int k_signal = SIGURG;
constexpr std::size_t k_kernel_mask_bytes = 8;

// A real-time signal that interrupts waits for locks where the library cannot use k_signal; 0: there
// is none. When the first region began its action was to end the program, so the program does not
// use it.
std::atomic<int> g_second_signal{0};
std::atomic<bool> g_second_listens{false};

struct range {
  std::uintptr_t low = 0, high = 0;
  [[nodiscard]] bool has(std::uintptr_t at) const noexcept { return at >= low && at < high; }
};

/// The code in which a thread cannot be left, and one function in it, sched_yield(), in which it
/// can be: programs spin with it.
struct map_of_code {
  static constexpr unsigned k_most = 32;
  range closed[k_most];
  std::atomic<unsigned> count{0}; // O1: store release, load acquire: a handler sees the ranges
  range yield;

  [[nodiscard]] bool may_leave(std::uintptr_t at) const noexcept {
    if (yield.has(at))
      return true;
    const unsigned n = count.load(std::memory_order_acquire); // O1
    for (unsigned i = 0; i < n; ++i)
      if (closed[i].has(at))
        return false;
    return true;
  }
};
map_of_code g_code;
constinit thread_local int t_spin_locks __attribute__((tls_model("initial-exec"))) = 0;
std::atomic<bool> g_listens{false};
constinit thread_local unsigned t_called_off = 0; // of a kernel thread
thread_local bool t_is_open = false; // of a kernel thread: it does not block the signal
thread_local unsigned t_number = 0; // of a kernel thread; 0: it has none yet
thread_local int t_tid = 0; // of a kernel thread, the kernel's number; set with t_number

std::uintptr_t address_of(const char *symbol) noexcept {
  return reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, symbol));
}

range range_of(const dl_phdr_info &info, const ElfW(Phdr) & part) noexcept {
  const std::uintptr_t low = info.dlpi_addr + part.p_vaddr;
  return {low, low + part.p_memsz};
}

/// Closes the code of the library that has an address. A callback of dl_iterate_phdr.
int note_library(dl_phdr_info *info, std::size_t, void *p) {
  const auto mark = *static_cast<const std::uintptr_t *>(p);
  bool meant = false;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    meant |= info->dlpi_phdr[i].p_type == PT_LOAD && range_of(*info, info->dlpi_phdr[i]).has(mark);
  unsigned n = g_code.count.load(std::memory_order_relaxed);
  for (int i = 0; meant && i < info->dlpi_phnum && n < map_of_code::k_most; ++i) {
    const auto &h = info->dlpi_phdr[i];
    if (h.p_type == PT_LOAD && (h.p_flags & PF_X))
      g_code.closed[n++] = range_of(*info, h);
  }
  g_code.count.store(n, std::memory_order_release); // O1
  return meant;
}

/// Closes the code of the library that has an address, unless it is closed. 0: no library.
void close_code(std::uintptr_t mark) noexcept {
  static spin_lock lock; // doors come while programs load libraries
  std::lock_guard guard(lock);
  if (mark != 0 && g_code.may_leave(mark))
    dl_iterate_phdr(&note_library, &mark);
}

/// Counts a thread that was called off this kernel thread. The caller uses the kernel thread's
/// block.
[[gnu::noinline]] void count_called_off() noexcept { ++t_called_off; }

/// Writes the mask and the alternate stack of this kernel thread into the frame. The kernel
/// restores them from there when the handler returns, perhaps on another kernel thread than it
/// interrupted.
void adopt_kernel_thread(ucontext_t &context) noexcept {
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &context.uc_sigmask, k_kernel_mask_bytes);
  sigaltstack(nullptr, &context.uc_stack);
}

constexpr std::uintptr_t k_reach = 64; // bytes: the size of a loop that only looks at a variable
constexpr unsigned k_looks_to_tell = 3; // times at the same place: the thread spins
constexpr std::uint64_t k_longest_suspension_ns = 20'000'000;

/// Suspends a program's own thread that spins outside all regions, if the watcher has asked for
/// that. It leaves threads that compute to the kernel.
void suspend_if_spinning(thread_record &thread, std::uintptr_t at) noexcept {
  const bool same = at - thread.spot + k_reach < 2 * k_reach;
  thread.seen_there = same ? thread.seen_there + 1 : 1;
  if (!same)
    thread.spot = at;
  if (thread.seen_there >= k_looks_to_tell)
    weft::layer::suspend_if_asked(thread.external, k_longest_suspension_ns);
}

void on_signal(int number, siginfo_t *, void *p) {
  t_times_asked = t_times_asked + 1;
  thread_record *const t =
      running_record(); // where the block is a worker's: null, or a thread of the program
  auto &u = *static_cast<ucontext_t *>(p);
  if (t && t->is_of_program() && !t->in_weft && spin_locks_held() == 0)
    take_signals(*t);
  if (!t || spin_locks_held() != 0)
    return;
  const bool waits = !g_code.may_leave(instruction_of(u));
  if (waits ? !waits_for_word(u) : number != k_signal)
    return;
  if (t->is_of_program() && !t->in_weft && !takes_part(*t))
    return suspend_if_spinning(*t, instruction_of(u));
  if (!t->block || t->block != thread_pointer() || t->pinned)
    return;
  const int before = errno;
  if (waits)
    in_core(t, &count_called_off);
  yield_now(*t);
  adopt_kernel_thread(u);
  errno = before;
}

bool is_ours(int signal) noexcept {
  struct sigaction now{};
  return sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
         now.sa_sigaction == &on_signal;
}

/// Installs the handler. Returns false if the program has a handler of its own, or was started with
/// the signal ignored, by which a user can forbid it.
bool install(int signal) noexcept {
  if (k_under_tsan)
    return false; // ThreadSanitizer delivers signals late, at calls that it knows
  struct sigaction before{}, ours{};
  if (sigaction(signal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) ||
      before.sa_handler != SIG_DFL)
    return false;
  ours.sa_sigaction = &on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART |
                  SA_NODEFER; // no mask changes: the handler may return on another kernel thread
  return sigaction(signal, &ours, nullptr) == 0;
}

/// Returns a real-time signal that the program does not use, or 0. It skips what the caller's mask
/// blocks, because a program that waits for a signal without a handler blocks the signal.
int find_second_signal() noexcept {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN;
       --signal) { // programs and tools use the first and the last one
    struct sigaction now{};
    if (!sigismember(&blocked, signal) && sigaction(signal, nullptr, &now) == 0 &&
        !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
      return signal;
  }
  return 0;
}

/// Uses the second signal from now on, because k_signal is the program's.
void give_up_signal() noexcept {
  g_listens.store(false, std::memory_order_relaxed);
  const int second = g_second_signal.load(std::memory_order_relaxed);
  g_second_listens.store(second != 0 && install(second), std::memory_order_relaxed);
}

/// Interrupts a kernel thread only if it waits in the kernel. Returns false if it sent no signal.
bool call_off(int tid) {
  const int second = g_second_signal.load(std::memory_order_relaxed);
  return g_second_listens.load(std::memory_order_relaxed) && weft::layer::has_gone_to_sleep(tid) &&
         is_ours(second) && syscall(SYS_tgkill, getpid(), tid, second) == 0;
}

/// Asks a kernel thread to yield. Returns false if it sent no signal, because the signal is the
/// program's.
bool ask(int tid) {
  if (!g_listens.load(std::memory_order_relaxed))
    return call_off(tid);
  if (is_ours(k_signal))
    return syscall(SYS_tgkill, getpid(), tid, k_signal) == 0;
  give_up_signal(); // the program has a handler of its own by now
  return false;
}

} // namespace

void install_preemption() noexcept {
  constexpr std::uintptr_t k_length_of_yield = 32; // a system call and its return
  for (const std::uintptr_t mark :
       {reinterpret_cast<std::uintptr_t>(&on_signal),
        reinterpret_cast<std::uintptr_t>(&weft::layer::yield_now), address_of("getpid"),
        address_of("__tls_get_addr"), address_of("_Unwind_RaiseException"), address_of("malloc")})
    close_code(mark);
  if (const auto at =
          reinterpret_cast<std::uintptr_t>(dlsym(RTLD_NEXT, "sched_yield"))) // the C library's
    g_code.yield = {at, at + k_length_of_yield};
  g_second_signal.store(find_second_signal(), std::memory_order_relaxed);
  if (install(k_signal))
    g_listens.store(true, std::memory_order_relaxed);
  else
    give_up_signal();
  weft::layer::on_preempt(&ask); // a worker that cannot be asked gets a spare
}

void close_door_code(const void *code) noexcept {
  close_code(reinterpret_cast<std::uintptr_t>(code));
}

namespace {

/// Unblocks the library's signal on this kernel thread, because Weft's threads block all signals.
[[gnu::cold]] void open_kernel_thread() noexcept {
  sigset_t just_it;
  sigemptyset(&just_it);
  sigaddset(&just_it, own_signal());
  pthread_sigmask(SIG_UNBLOCK, &just_it, nullptr);
  t_is_open = true; // after note_mask()
}

[[gnu::cold]] unsigned number_this_one() noexcept {
  static std::atomic<unsigned> g_last{0};
  note_kernel_thread();
  return t_number = g_last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace

[[gnu::noinline]] int spin_locks_held() noexcept { return t_spin_locks; }
[[gnu::noinline]] void count_spin_locks(int by) noexcept { t_spin_locks += by; }

int own_signal() noexcept {
  if (g_listens.load(std::memory_order_relaxed))
    return k_signal;
  return g_second_listens.load(std::memory_order_relaxed)
             ? g_second_signal.load(std::memory_order_relaxed)
             : 0;
}
void close_kernel_thread() noexcept { t_is_open = false; }

bool others_can_be_interrupted() noexcept { return g_listens.load(std::memory_order_relaxed); }
[[gnu::noinline]] unsigned times_called_off() noexcept { return t_called_off; }

void note_kernel_thread() noexcept { t_tid = static_cast<int>(syscall(SYS_gettid)); }
unsigned number_of_kernel_thread() noexcept { return t_number ? t_number : number_this_one(); }

void arrive(thread_record &me) noexcept {
  if (const unsigned number = number_of_kernel_thread(); me.runs_on != number) {
    me.runs_on = number;
    me.tid_below = t_tid;
  }
  if (!t_is_open && own_signal() != 0) [[unlikely]]
    open_kernel_thread();
  if (g_binds) [[unlikely]]
    follow_binding(me);
}

} // namespace weft_threads
