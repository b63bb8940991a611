// SPDX-License-Identifier: Apache-2.0
// Lightweight threads that are no tasks: a stack with a function. A worker continues it like any
// other frame.
#include "ult/light_thread.hpp"
#include "base/leak.hpp"
#include "base/log.hpp"
#include "ult/hooks.hpp"
#include "ult/stack_switch.hpp"

#include <exception>
#include <memory>

namespace weft::inline v0 {
namespace rt {

struct light_thread {
  void (*body)(void *);
  void *argument;
  frame start;
};

namespace {

/// Does what resumed() does, for a stack on which nothing has run.
light_thread &light_begins() noexcept {
  thread_context &e = *this_thread_context();
  light_thread &t = *root_of(*e.pool_stack)->light;
  e.current = t.start.current;
  *e.exceptions = {};
  arrived();
  end_gap(*e.counts, e.time);
  return t;
}

destination light_ends(light_thread &thread) noexcept {
  thread_context &e = *this_thread_context(); // the thread may have changed
  e.left_stack = e.pool_stack;
  e.pool_stack->client.store(0, std::memory_order_relaxed); // a sample
  e.current = nullptr;
  *e.exceptions = {};
  begin_gap(e.time);
  free_light_root(thread.start.current);
  delete &thread;
  context start;
  try {
    stack *next = fresh_stack(e, 0, start, &loop_entry);
    set_stack(e, next, &root_of(*next)->sanitized);
    return {start, next, &root_of(*next)->sanitized, root_of(*next)};
  } catch (const std::exception &error) {
    fatal("a lightweight thread cannot end: %s", error.what());
  }
}

WEFT_UNINSTRUMENTED void light_entry(void *) {
  sanitized_stack *mine = this_thread_context()->sanitized;
  stack_entered(*mine);
  light_thread &t = light_begins();
  t.body(t.argument);
  mine = this_thread_context()->sanitized;
  const destination d = light_ends(t);
  context nobody;
  switch_stack(&nobody, *mine, d.state, *d.sanitized, d.value, leave::for_good);
  __builtin_unreachable();
}

} // namespace

runnable &make_light_thread(std::size_t bytes, void (*body)(void *), void *argument,
                            layer::client runs) {
  auto t = std::unique_ptr<light_thread>(new light_thread{body, argument, {}});
  ignore_leak(t.get()); // only its stack refers to it
  frame &f = t->start;
  f.current = make_light_root();
  f.what = runnable::kind::frame;
  stack *s = nullptr;
  try {
    s = fresh_stack(*this_thread_context(), bytes, f.state, &light_entry);
  } catch (...) {
    free_light_root(f.current);
    throw;
  }
  s->client.store(static_cast<std::uint8_t>(runs), std::memory_order_relaxed); // a sample
  f.pool_stack = s;
  f.sanitized = &root_of(*s)->sanitized;
  root_of(*s)->light = t.release();
  return f;
}

} // namespace rt
} // namespace weft::inline v0
