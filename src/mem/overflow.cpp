// SPDX-License-Identifier: Apache-2.0
#include "mem/overflow.hpp"

#include "base/log.hpp"
#include "mem/stack_pool.hpp"

#include <atomic>
#include <csignal>
#include <mutex>
#include <sys/mman.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_alternate_bytes = 64 << 10;

struct sigaction g_previous_segv, g_previous_bus;
const char *(*g_label)() = nullptr;

void chain(int signal, siginfo_t *info, void *context) {
  const struct sigaction &previous = signal == SIGBUS ? g_previous_bus : g_previous_segv;
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    std::signal(signal, SIG_DFL); // the faulting instruction runs again and ends the program as it would have
  }
}

void on_fault(int signal, siginfo_t *info, void *context) {
  const guarded_range r = find_guard(info->si_addr);
  if (!r.low)
    return chain(signal, info, context);
  const char *label = g_label ? g_label() : nullptr;
  signal_safe_line()
      .text("weft: stack overflow in task '")
      .text(label ? label : "?")
      .text("' (task stack ")
      .pointer(r.low)
      .text("-")
      .pointer(r.low + r.stack_bytes)
      .text(", ")
      .decimal(static_cast<std::int64_t>(r.stack_bytes >> 10))
      .text(" KiB, fault at ")
      .pointer(info->si_addr)
      .text("); raise stack.bytes, for example WEFT_STACK_BYTES=")
      .decimal(static_cast<std::int64_t>(r.stack_bytes >> 9))
      .text("KiB, or give the task weft::stack_bytes")
      .write();
  chain(signal, info, context); // a crash reporter, or the end by this signal with a core file
}

void install_handler() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &g_previous_segv);
    sigaction(SIGBUS, &action, &g_previous_bus);
  });
}

thread_local void *t_alternate = nullptr;

} // namespace

void set_overflow_label(const char *(*label)()) noexcept { g_label = label; }

void install_overflow_stack() noexcept {
  install_handler();
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE))
    return; // the program has one of its own
  void *p = mmap(nullptr, k_alternate_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return;
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
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(t_alternate, k_alternate_bytes);
  t_alternate = nullptr;
}

} // namespace rt
} // namespace weft::inline v0
