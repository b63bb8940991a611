// SPDX-License-Identifier: Apache-2.0
#include "mem/overflow.hpp"

#include "base/log.hpp"
#include "mem/stack_pool.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_alternate_bytes = 64 << 10;
constexpr std::size_t k_thread_guard_bytes =
    64 << 10; // a fault so little below a thread's stack is an overflow of it

struct sigaction g_previous_segv, g_previous_bus;
bool (*g_describe)(overflow_victim &) = nullptr;
std::atomic<bool> g_warned_no_alternate{false};

struct sigaction &previous_of(int signal) noexcept {
  return signal == SIGBUS ? g_previous_bus : g_previous_segv;
}

// ---- how a fault ends without Weft --------------------------------------------------------------

/// Ends the process by the signal's default. A fault of an instruction occurs again at once, and
/// leaves a core file of its place.
void end_by(int signal, const siginfo_t *info) noexcept {
  std::signal(signal, SIG_DFL);
  if (info->si_code <= 0) // sent by kill() or its like: the signal would not occur again
    raise(signal);
}

void call_handler(const struct sigaction &handler, int signal, siginfo_t *info,
                  void *context) noexcept {
  sigset_t before, during = handler.sa_mask;
  if (!(handler.sa_flags & SA_NODEFER))
    sigaddset(&during, signal); // the kernel ends a program at a fault inside the handler
  pthread_sigmask(SIG_BLOCK, &during, &before);
  if (handler.sa_flags & SA_SIGINFO)
    handler.sa_sigaction(signal, info, context);
  else
    handler.sa_handler(signal);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Identifies the innermost call of chain() on this thread: a handler that has itself called Weft's
/// handler must not be called again.
thread_local const void *t_chained_context = nullptr;
thread_local const void *t_chained_frame = nullptr;

bool calls_itself(const void *context) noexcept {
  const void *here = __builtin_frame_address(0);
  const bool again = t_chained_context == context &&
                     here < t_chained_frame; // not below: that handler was left by a jump
  t_chained_context = context;
  t_chained_frame = here;
  return again;
}

void chain(int signal, siginfo_t *info, void *context) noexcept {
  struct sigaction &previous = previous_of(signal);
  const struct sigaction now = previous;
  const bool takes_info = (now.sa_flags & SA_SIGINFO) != 0;
  if (!takes_info && now.sa_handler == SIG_IGN && info->si_code <= 0)
    return;
  if ((!takes_info && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) ||
      calls_itself(context))
    return end_by(signal, info);
  if (now.sa_flags & SA_RESETHAND) {
    previous.sa_flags = 0;
    previous.sa_handler = SIG_DFL;
  }
  call_handler(now, signal, info, context);
  t_chained_context = nullptr;
}

// ---- the message ---------------------------------------------------------------------------------------------------

signal_safe_line &name(signal_safe_line &line, const overflow_victim &victim) noexcept {
  line.text("weft: stack overflow in task '").text(victim.label ? victim.label : "?").text("'");
  if (!victim.closure.empty())
    line.text(", spawned as ").text(victim.closure.substr(0, 400));
  if (victim.creator)
    line.text(" by task '").text(victim.creator).text("'");
  return line;
}

void report_pool_stack(const overflow_victim &victim, const guarded_range &range,
                       const void *at) noexcept {
  signal_safe_line line;
  name(line, victim)
      .text(" (task stack ")
      .pointer(range.low)
      .text("-")
      .pointer(range.low + range.stack_bytes)
      .text(", ")
      .decimal(static_cast<std::int64_t>(range.stack_bytes >> 10))
      .text(" KiB, fault at ")
      .pointer(at);
  const auto twice = static_cast<std::int64_t>(range.stack_bytes >> 9);
  if (range.stack_bytes == configured_stack_bytes())
    line.text("); raise stack.bytes, for example WEFT_STACK_BYTES=")
        .decimal(twice)
        .text("KiB, or give the task weft::stack_bytes");
  else
    line.text("); raise the task's weft::stack_bytes, for example to ").decimal(twice << 10);
  line.write();
}

void report_thread_stack(const overflow_victim &victim, const void *at) noexcept {
  signal_safe_line line;
  name(line, victim)
      .text(" (on its thread's own stack, which ends at ")
      .pointer(victim.thread_stack_low)
      .text(", fault at ")
      .pointer(at)
      .text("); raise the thread's stack (ulimit -s), or give the task weft::stack_bytes")
      .write();
}

struct {
  const char *low = nullptr;
  std::size_t bytes = 0;
  void (*say)() noexcept = nullptr;
} g_forbidden; // set while the process has one thread

bool is_forbidden(const siginfo_t *info) noexcept {
  const char *at = static_cast<const char *>(info->si_addr);
  return g_forbidden.low && info->si_code > 0 && at >= g_forbidden.low &&
         at < g_forbidden.low + g_forbidden.bytes;
}

void on_fault(int signal, siginfo_t *info, void *context) {
  const int saved_errno = errno;
  if (is_forbidden(info))
    g_forbidden.say();
  const guarded_range r = info->si_code > 0 ? find_guard(info->si_addr) : guarded_range{};
  overflow_victim v;
  const bool known = g_describe && info->si_code > 0 && g_describe(v);
  const char *at = static_cast<const char *>(info->si_addr);
  if (r.low)
    report_pool_stack(v, r, at);
  else if (known && v.is_task && v.thread_stack_low && at < v.thread_stack_low + 4096 &&
           at >= v.thread_stack_low - k_thread_guard_bytes)
    report_thread_stack(v, at);
  chain(signal, info, context); // a crash reporter, or the end by this signal with a core file
  errno = saved_errno;
}

void install_handler() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGSEGV, SIGBUS}) {
      sigaction(signal, nullptr, &previous_of(signal)); // first: the handler may be needed at once
      sigaction(signal, &action, nullptr);
    }
  });
}

thread_local void *t_alternate = nullptr;

} // namespace

void set_overflow_witness(bool (*describe)(overflow_victim &)) noexcept { g_describe = describe; }

void set_forbidden_range(const void *low, std::size_t bytes, void (*say)() noexcept) noexcept {
  g_forbidden = {static_cast<const char *>(low), bytes, say};
}

void install_overflow_stack() noexcept {
  install_handler();
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE))
    return; // the program has an alternate stack of its own
  void *p =
      mmap(nullptr, k_alternate_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return warn_once(
        g_warned_no_alternate,
        "no memory for an alternate signal stack; a stack overflow of this thread will end the "
        "program without saying which task it was");
  stack_t ours{};
  ours.ss_sp = p;
  ours.ss_size = k_alternate_bytes;
  if (sigaltstack(&ours, nullptr) == 0)
    t_alternate = p;
  else
    munmap(p, k_alternate_bytes);
}

void uninstall_overflow_stack() noexcept {
  if (!t_alternate)
    return;
  stack_t now{};
  if (sigaltstack(nullptr, &now) == 0 &&
      now.ss_sp == t_alternate) { // else the program has set another one since
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
  }
  munmap(t_alternate, k_alternate_bytes);
  t_alternate = nullptr;
}

} // namespace rt
} // namespace weft::inline v0
