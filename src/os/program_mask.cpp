// SPDX-License-Identifier: Apache-2.0
#include "os/program_mask.hpp"

#include "os/thread.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

// All relaxed. The mask is one word, the kernel's: signal n is bit n - 1. `g_answer` is code, which
// is there for all.
constinit std::atomic<std::uint64_t> g_mask{0};
constinit std::atomic<bool (*)(sigset_t &) noexcept> g_answer{nullptr};

/// Exchanges the mask in the kernel. A layer may have a pthread_sigmask() of its own.
std::uint64_t exchange_mask(int how, const std::uint64_t *set) noexcept {
  std::uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, how, set, &before, sizeof before);
  return before;
}

/// Returns whether the caller has blocked all signals: a thread of Weft's leaves SIGPROF open.
bool blocks_all_signals() noexcept {
  return exchange_mask(SIG_BLOCK, nullptr) >> (SIGPROF - 1) & 1;
}

} // namespace

void note_program_mask() noexcept {
  g_mask.store(exchange_mask(SIG_BLOCK, nullptr), std::memory_order_relaxed);
}

bool program_mask(sigset_t &mask) noexcept {
  if (const auto answer = g_answer.load(std::memory_order_relaxed); answer && answer(mask))
    return true;
  if (!on_own_thread() || blocks_all_signals())
    return false;
  const std::uint64_t word = g_mask.load(std::memory_order_relaxed);
  sigemptyset(&mask);
  std::memcpy(&mask, &word, sizeof word);
  return true;
}

void ask_for_masks(bool (*answer)(sigset_t &mask) noexcept) noexcept {
  g_answer.store(answer, std::memory_order_relaxed);
}

void take_program_mask_in_child() noexcept {
  sigset_t mask;
  const bool is_another = program_mask(mask);
  give_to_program();
  if (!is_another)
    return;
  std::uint64_t word = 0;
  std::memcpy(&word, &mask, sizeof word);
  exchange_mask(SIG_SETMASK, &word);
}

} // namespace rt
} // namespace weft::inline v0
