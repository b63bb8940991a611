// SPDX-License-Identifier: Apache-2.0
// Recording a taskiter, and giving its graph to the workers.
#include "base/error.hpp"
#include "iter/iteration.hpp"
#include "task/recorded.hpp"
#include "task/tracing.hpp"
#include "trace/structure.hpp"
#include "worker/runtime.hpp"

#include <weft/taskiter.hpp>

#include <memory>
#include <new>

namespace weft::inline v0 {
namespace detail {

using namespace rt;

namespace {

/// Runs between the rounds as a task that asks whether one more follows.
struct control {
  bool (*more)(void *);
  void *context;
  iteration *whole;

  static void invoke(void *p) {
    const auto *self = static_cast<control *>(p);
    if (!self->more(self->context))
      self->whole->stop.store(true, std::memory_order_relaxed);
  }
};
constexpr body_ops k_control_ops{&control::invoke, nullptr, nullptr, false, sizeof(control)};

/// Runs as the task behind the tasks that reduce an object, and adds their copies.
struct combining {
  reduction_store *copies;
  task *whole;

  static void invoke(void *p) {
    const auto *self = static_cast<combining *>(p);
    combine_copies_so_far(*self->copies, *self->whole);
  }
};
constexpr body_ops k_combining_ops{&combining::invoke, nullptr, nullptr, false, sizeof(combining)};

void record_combinations(iteration &whole, bool controlled) {
  spawn_options options;
  options.label = "reduction";
  for (const iteration::combination &c : whole.combinations(controlled)) {
    task *t = task_create_with(k_combining_ops, 1, options);
    ::new (storage(t)) combining{c.copies, &whole.owner()};
    whole.record_behind(c.behind);
    task_submit(t, access{c.address, access_mode::inout});
  }
}

void record_control(iteration &whole, const char *name, bool (*more)(void *), void *context) {
  spawn_options options;
  options.label = name;
  task *t = task_create_with(k_control_ops, 0, options);
  ::new (storage(t)) control{more, context, &whole};
  task_submit(t);
  if (tracer *x = this_thread_context()->trace; x && traces(trace_level::graph))
    x->ring.put(trace_event::access, 0, t->trace_id, k_all_data,
                static_cast<std::uint64_t>(access_mode::inout) << 32);
}

} // namespace

void iterate(std::uint64_t rounds, bool (*more)(void *), void (*record)(void *), void *context) {
  if (rounds == 0 || (more && !more(context)))
    return;
  task &t = *this_worker().current;
  auto whole = std::make_unique<iteration>(t);
  task_extra &x = extra_of(t);
  x.iterated = whole.get();
  try {
    record(context);
    record_combinations(*whole, more != nullptr);
    if (more)
      record_control(*whole, t.label, more, context);
    whole->build_edges(rounds, more != nullptr);
  } catch (const std::bad_alloc &) {
    x.iterated = nullptr;
    throw_error(errc::out_of_resources,
                "no memory for the graph of taskiter '%s'; make an iteration smaller", label_of(t));
  } catch (...) {
    x.iterated = nullptr;
    throw;
  }
  if (whole->empty()) {
    x.iterated = nullptr;
    return;
  }
  x.events.increase(1);
  whole.release()->start();
}

} // namespace detail
} // namespace weft::inline v0
