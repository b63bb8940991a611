// SPDX-License-Identifier: Apache-2.0
#include "task/stack_usage.hpp"

#include "mem/watermark.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Returns the innermost watermark of the stack that the caller is on, whichever thread runs the
/// stack.
watermark *&innermost_watermark() noexcept {
  thread_context &e = *this_thread_context();
  return e.pool_stack ? e.pool_stack->innermost : e.thread_innermost;
}

/// Returns the lowest address to measure. A thread's own stack may be large: it is measured no
/// deeper than a stack of Weft's.
const char *measured_low(const thread_context &e) noexcept {
  constexpr std::size_t k_end = 128; // a canary is there
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto low = reinterpret_cast<std::uintptr_t>(e.stack_low) + k_end;
  const std::uintptr_t near = here - configured_stack_bytes();
  return reinterpret_cast<const char *>(e.pool_stack ? low : std::max(low, near));
}

} // namespace

void run_measured(task &t, void (*invoke)(task &) noexcept) noexcept {
  watermark mark;
  mark.begin(measured_low(*this_thread_context()), innermost_watermark());
  invoke(t);
  const std::size_t bytes =
      mark.end(innermost_watermark()); // the stack is the same, the thread may have changed
  const std::string_view closure = t.label ? std::string_view{} : closure_of(t);
  note_watermark(closure.empty() ? label_of(t) : closure, bytes);
  if (const stack *s = this_thread_context()->pool_stack)
    note_stack_depth(static_cast<std::size_t>(reinterpret_cast<const char *>(s) - mark.deepest()),
                     s->bytes);
}

} // namespace rt
} // namespace weft::inline v0
