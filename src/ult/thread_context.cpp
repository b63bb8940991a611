// SPDX-License-Identifier: Apache-2.0
#include "ult/thread_context.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "trace/session.hpp"
#include "ult/hooks.hpp"
#include "ult/stack_switch.hpp"

#include <new>
#include <pthread.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

std::size_t usable(stack &which) noexcept {
  return static_cast<std::size_t>(reinterpret_cast<char *>(root_of(which)) -
                                  static_cast<char *>(which.low));
}

} // namespace

void arrived() noexcept {
  thread_context &e = *this_thread_context();
  if (stack *gone = std::exchange(e.left_stack, nullptr)) {
    forget_stack(root_of(*gone)->sanitized);
    e.stacks.release(gone);
  }
  if (left_function publish = std::exchange(e.left, nullptr))
    publish(e, *e.left_frame, e.left_context);
}

WEFT_UNINSTRUMENTED void loop_entry(void *root) {
  stack_entered(static_cast<stack_root *>(root)->sanitized);
  arrived();
  worker_loop();
}

thread_context *home_of(thread_context &e) noexcept {
  return e.pool_stack ? root_of(*e.pool_stack)->home : &e;
}

namespace {

stack &acquired(stack *found) {
  if (!found)
    throw_error(
        errc::out_of_resources,
        "no memory for another task stack; lower stack.bytes, or raise the limits of memory or of mappings "
        "(vm.max_map_count)");
  return *found;
}

} // namespace

void require_stack(thread_context &e) { e.stacks.release(&acquired(e.stacks.acquire())); }

stack *fresh_stack(thread_context &e, std::size_t bytes, context &start, void (*entry)(void *)) {
  stack *s = &acquired(bytes ? acquire_sized_stack(bytes) : e.stacks.acquire());
  stack_root *root = ::new (static_cast<void *>(root_of(*s))) stack_root;
  announce_stack(root->sanitized, s->low, s->bytes);
  start = make_context(s->low, usable(*s), entry);
  return s;
}

namespace {

/// Returns the place of the frame for observers of all frames.
frame *&suspended_slot(thread_context &e, frame &suspended) noexcept {
  return suspended.pool_stack ? root_of(*suspended.pool_stack)->suspended : e.suspended;
}

/// Returns the functions of a layer that moves data along with stacks; null: there is none.
const layer::suspension_calls *calls_at_suspensions() noexcept {
  return suspensions_move_data() ? g_suspension_calls.load(std::memory_order_acquire)
                                 : nullptr; // O1
}

/// Returns what a layer knows a stack by; null stands for the thread's own.
const void *name_of(const thread_context &e, const stack *which) noexcept {
  return which ? which->low : static_cast<const void *>(&e);
}

WEFT_COLD void saw_suspension(thread_context &e, frame &suspended, const stack *next) noexcept {
  if (const layer::suspension_calls *const calls = calls_at_suspensions())
    calls->leaves(name_of(e, suspended.pool_stack), name_of(e, next));
  if (suspensions_are_checked())
    note_suspension(suspended.note, suspended.home
                                        ? nullptr
                                        : static_cast<const char *>(suspended.pool_stack->low) +
                                              suspended.pool_stack->bytes);
  if (!e.trace)
    return;
  trace_ring &r = e.trace->ring;
  suspended.traced = std::exchange(r.running, 0);
  if (suspended.traced)
    r.put(trace_event::suspend, 0, suspended.traced, static_cast<std::uint64_t>(suspended.why.what),
          traced_object(suspended.why));
}

WEFT_COLD void saw_resumption(thread_context &e, frame &suspended) noexcept {
  if (const layer::suspension_calls *const calls = calls_at_suspensions())
    calls->continues(name_of(e, suspended.pool_stack));
  if (suspensions_are_checked())
    check_resumption(suspended.note);
  if (!e.trace)
    return;
  trace_ring &r = e.trace->ring;
  r.running = suspended.traced;
  r.settle();
  if (suspended.traced)
    r.put(trace_event::resume, 0, suspended.traced);
}

WEFT_NOINLINE void resumed_own_stack(thread_context &e, frame &suspended) noexcept {
  wait_on_own_stack(e, suspended);
  if (e.hosts)
    return;
  leave_overall(*e.counts, e.time);
  pthread_setcancelstate(suspended.cancel_state, nullptr);
}

/// Restores everything of the frame that the switch itself does not restore.
void resumed(frame &suspended) noexcept {
  thread_context &e = *this_thread_context();
  e.current = suspended.current;
  suspended_slot(e, suspended) = nullptr;
  *e.exceptions = suspended.exceptions;
  arrived();
  count(e.counts->resumed);
  if (!suspended.pool_stack) [[unlikely]]
    resumed_own_stack(e, suspended);
  end_gap(*e.counts, e.time);
  if (suspensions_are_watched()) [[unlikely]]
    saw_resumption(e, suspended);
  *e.error_number = suspended.saved_errno;
}

destination to_frame(frame &suspended) noexcept {
  return {suspended.state, suspended.pool_stack, suspended.sanitized, nullptr};
}

/// Prepares the frame of the caller and the target; split from suspend() so that the latter stays
/// free of instrumentation.
destination choose(thread_context &e, frame &suspended, left_function publish,
                   void *context_of_publish, wait_reason why) {
  if (e.in_callback) [[unlikely]]
    refuse_wait_in(*e.in_callback);
  suspended.saved_errno = *e.error_number;
  runnable *next = pick(e);
  destination d;
  if (next && next->base() == runnable::kind::frame) {
    d = to_frame(*static_cast<frame *>(next));
  } else {
    context start;
    try {
      d.on = fresh_stack(e, 0, start, &loop_entry);
    } catch (...) {
      if (next)
        enqueue_resumed(&e, *next);
      throw;
    }
    d.state = start;
    d.sanitized = &root_of(*d.on)->sanitized;
    d.value = root_of(*d.on);
    e.handoff = next;
  }
  suspended.what = runnable::kind::frame;
  suspended.home = home_of(e);
  suspended.pool_stack = e.pool_stack;
  suspended.sanitized = e.sanitized;
  suspended.current = e.current;
  suspended.why = why;
  suspended_slot(e, suspended) = &suspended;
  suspended.exceptions = std::exchange(*e.exceptions, {});
  if (!suspended.pool_stack && !e.hosts)
      [[unlikely]] { // a thread that hosts tasks cannot be cancelled before its wait is over
    enter_overall(*e.counts);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &suspended.cancel_state);
  }
  if (suspensions_are_watched()) [[unlikely]]
    saw_suspension(e, suspended, d.on);
  e.left = publish;
  e.left_frame = &suspended;
  e.left_context = context_of_publish;
  e.current = nullptr;
  count(e.counts->suspended);
  begin_gap(e.time);
  set_stack(e, d.on, d.sanitized);
  return d;
}

} // namespace

void refuse_wait_in(const callback &called) {
  throw_error(
      errc::no_block,
      "%s '%s' must not wait: it is called between tasks; let it unblock a task or spawn one",
      called.what, called.name);
}

WEFT_UNINSTRUMENTED void suspend(left_function publish, void *context_of_publish, wait_reason why) {
  frame f;
  const destination d = choose(*this_thread_context(), f, publish, context_of_publish, why);
  switch_stack(&f.state, *f.sanitized, d.state, *d.sanitized, d.value);
  resumed(f);
}

namespace {

destination choose_frame(frame &suspended) noexcept {
  thread_context &e = *this_thread_context();
  e.left_stack = e.pool_stack;
  const destination d = to_frame(suspended);
  set_stack(e, d.on, d.sanitized);
  return d;
}

} // namespace

WEFT_UNINSTRUMENTED void leave_for_frame(frame &suspended) noexcept {
  sanitized_stack *mine = this_thread_context()->sanitized;
  const destination d = choose_frame(suspended);
  context nobody;
  switch_stack(&nobody, *mine, d.state, *d.sanitized, d.value, leave::for_good);
  __builtin_unreachable();
}

namespace {

/// Describes a call on a stack of its own. The caller's stack is a frame that no other thread can
/// see, resumed when the call ends.
struct own_stack_call {
  void (*entry)(void *);
  void *argument;
  frame caller;
  stack *on = nullptr;
};

WEFT_UNINSTRUMENTED void own_stack_entry(void *p);

void own_stack_body(own_stack_call &call) {
  arrived();
  call.entry(call.argument);
  thread_context &e = *this_thread_context(); // the thread may have changed
  e.left_stack = e.pool_stack;
  *e.exceptions = {};
  set_stack(e, call.caller.pool_stack, call.caller.sanitized);
}

WEFT_UNINSTRUMENTED void own_stack_entry(void *p) {
  own_stack_call &call = *static_cast<own_stack_call *>(p);
  sanitized_stack *mine = &root_of(*call.on)->sanitized;
  stack_entered(*mine);
  own_stack_body(call);
  context nobody;
  switch_stack(&nobody, *mine, call.caller.state, *call.caller.sanitized, nullptr, leave::for_good);
  __builtin_unreachable();
}

destination prepare_own_stack(own_stack_call &call, std::size_t bytes) {
  thread_context &e = *this_thread_context();
  context start;
  call.on = fresh_stack(e, bytes, start, &own_stack_entry);
  root_of(*call.on)->home = home_of(e); // the call returns to the caller's stack
  call.caller.pool_stack = e.pool_stack;
  call.caller.sanitized = e.sanitized;
  call.caller.current = e.current;
  sanitized_stack *sanitized = &root_of(*call.on)->sanitized;
  set_stack(e, call.on, sanitized);
  return {start, call.on, sanitized, &call};
}

void finish_own_stack(own_stack_call &call) noexcept {
  this_thread_context()->current = call.caller.current;
  arrived();
}

} // namespace

WEFT_UNINSTRUMENTED void run_on_own_stack(std::size_t bytes, void (*entry)(void *),
                                          void *argument) {
  own_stack_call call;
  call.entry = entry;
  call.argument = argument;
  const destination d = prepare_own_stack(call, bytes);
  switch_stack(&call.caller.state, *call.caller.sanitized, d.state, *d.sanitized, d.value);
  finish_own_stack(call);
}

void make_ready(frame &suspended) {
  if (thread_context *home = suspended.home) {
    if (suspended.flags & detail::k_naps) [[unlikely]]
      return end_nap(*home, suspended);
    home->own_frame.put(suspended);
    if (unless(bug::own_frame_wakes_nobody, home != this_thread_context()))
      wake(*home);
  } else {
    enqueue_resumed(this_thread_context(), suspended);
  }
}

void for_each_root(void (*f)(const stack_root &, void *), void *context) {
  std::pair both(f, context);
  for_each_stack(
      [](stack &which, void *p) {
        const auto &[call, passed] = *static_cast<decltype(both) *>(p);
        call(*root_of(which), passed);
      },
      &both);
}

void for_each_suspended(void (*f)(frame &, void *), void *context) {
  std::pair both(f, context);
  for_each_root(
      [](const stack_root &root, void *p) {
        const auto &[call, passed] = *static_cast<decltype(both) *>(p);
        if (root.suspended)
          call(*root.suspended, passed);
      },
      &both);
}

} // namespace rt
} // namespace weft::inline v0
