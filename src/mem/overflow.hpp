// SPDX-License-Identifier: Apache-2.0
// Reports which task has overflown its stack, and which setting helps. Every fault, a stack
// overflow included, then goes where it would have gone without Weft.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Describes the task or the thread that ran on the stack.
struct overflow_victim {
  const char *label = nullptr;
  std::string_view closure;              // of a task without label: the source of its closure
  const char *creator = nullptr;         // of a task without label
  const char *thread_stack_low = nullptr; // not null: it runs on its thread's own stack
  bool is_task = false;                  // not the program's own code on a thread
};

/// Gives the calling thread an alternate signal stack; the first call installs the handler, which
/// chains to the one it found.
void install_overflow_stack() noexcept;
void uninstall_overflow_stack() noexcept;
/// Describes what runs on the calling thread, or returns false; async-signal-safe.
void set_overflow_witness(bool (*describe)(overflow_victim &)) noexcept;

/// Sets a range in which a fault is not the program's: the fault calls `say`, which does not
/// return. Async-signal-safe.
void set_forbidden_range(const void *low, std::size_t bytes, void (*say)() noexcept) noexcept;

struct overflow_guard {
  overflow_guard() noexcept { install_overflow_stack(); }
  ~overflow_guard() { uninstall_overflow_stack(); }
  overflow_guard(const overflow_guard &) = delete;
  overflow_guard &operator=(const overflow_guard &) = delete;
};

} // namespace rt
} // namespace weft::inline v0
