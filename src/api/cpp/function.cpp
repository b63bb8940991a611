// SPDX-License-Identifier: Apache-2.0
// Independent functions. A function is a task below functions_root(). The destructor of its closure
// runs after its deep completion, and starts what comes next.
#include "api/cpp/function.hpp"

#include "base/error.hpp"
#include "queue/spin_lock.hpp"
#include "task/hooks.hpp"
#include "task/tracing.hpp"
#include "worker/functions.hpp"
#include "worker/hooks.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/call_on.hpp>
#include <weft/detail/sender.hpp>
#include <weft/layer/function.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace weft::inline v0 {

using namespace rt;

/// Holds a stream for the stream object and for each of its functions that has not ended.
struct function_stream::state {
  explicit state(const char *name) noexcept : label(name) {}
  const char *label;
  unsigned generation = functions_generation();
  std::atomic<std::uint32_t> references{1};
  spin_lock<> lock;
  intrusive_queue<runnable> waiting; // guarded by the lock
  task *turn = nullptr; // the one of its functions that runs or is ready; guarded by the lock
};

namespace {

using stream_state = function_stream::state;

/// Holds the content of a function, of its completion function, or of the task that a waiter puts
/// into a stream.
struct closure {
  any_function f;
  void *arg;
  void (*invoke)(void *storage);
  task *completion;
  stream_state *in;
};

closure &content_of(task &t) noexcept { return *static_cast<closure *>(detail::storage(&t)); }

void drop(stream_state &stream) noexcept {
  if (take_away(stream.references, 1))
    delete &stream;
}

/// Makes `t` the running function of the stream, or queues it. True: `t` is the running one, and
/// the caller enqueues it.
bool take_turn(stream_state &stream, task &t) noexcept {
  stream.references.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard guard(stream.lock);
  if (stream.turn) {
    stream.waiting.push_back(&t);
    return false;
  }
  stream.turn = &t;
  return true;
}

void pass_turn(stream_state &stream) noexcept {
  stream.lock.lock();
  runnable *next = stream.waiting.pop_front();
  stream.turn = static_cast<task *>(next);
  stream.lock.unlock();
  if (next)
    enqueue_ready(*next);
  drop(stream);
}

void invoke(void *storage) {
  if (auto *c = static_cast<closure *>(storage); c->f)
    c->invoke(storage);
}

/// Ends a deeply complete function: starts the completion function, then the stream's next
/// function.
void over(void *storage) noexcept {
  const auto *c = static_cast<closure *>(storage);
  if (!c->completion) {
    if (c->in)
      pass_turn(*c->in);
    return;
  }
  if (c->in) {
    const std::lock_guard guard(c->in->lock);
    c->in->turn = c->completion;
  }
  enqueue_ready(*c->completion);
}

constexpr detail::body_ops k_ops{&invoke, &over, nullptr, true, sizeof(closure)};

void call_directly(void *storage) {
  const auto *c = static_cast<closure *>(storage);
  reinterpret_cast<void (*)(void *)>(c->f)(c->arg);
}

task &make(worker &w, const closure &body, const char *label, std::int32_t priority,
           unsigned set = 0) {
  void *block = w.memory->allocate(task::block_bytes(k_ops, 0));
  if (!block)
    throw_error(errc::out_of_resources,
                "no memory for function '%s'; spawn fewer at a time or lower throttle.bytes",
                label ? label : "task");
  task *t = ::new (block) task(k_ops, &functions_root(), nullptr);
  t->label = label;
  t->confine(set);
  t->priority = static_cast<std::int16_t>(std::clamp(priority, -32768, 32767));
  if (t->priority < 0)
    t->set(detail::k_special); // the task is never an immediate successor
  else if (t->priority > 0)
    expect_priorities();
  ::new (detail::storage(t)) closure(body);
  return *t;
}

void trace_function(worker &w, task &t) noexcept {
  if (!w.trace || !traces(trace_level::tasks)) [[likely]]
    return;
  trace_birth(*w.trace, t);
  trace_creation(*w.trace, t, {}, created_for::one_run);
}

/// Hands the task over: from here on it runs, sooner or later.
void submit(worker &w, task &t, stream_state *in) {
  functions_root().children.add_by_non_owner();
  count(w.counts->without_accesses);
  trace_function(w, t);
  if (!in || take_turn(*in, t))
    enqueue(&w, t, origin::fresh);
}

stream_state *state_of(const function_stream *stream) {
  if (!stream)
    return nullptr;
  stream_state &state = stream->internals();
  if (state.generation != functions_generation())
    throw_error(
        errc::invalid_argument,
        "stream '%s' was made before fork(), and its functions are the parent's; make a stream in the "
        "child",
        state.label);
  return &state;
}

/// Returns whether the caller descends from a function of the stream.
bool runs_in(const stream_state &stream, const task *t) noexcept {
  for (; t; t = t->parent)
    if (t->ops == &k_ops &&
        static_cast<const closure *>(detail::storage(const_cast<task *>(t)))->in == &stream)
      return true;
  return false;
}

} // namespace

namespace rt {

void for_each_behind(task &t, void (*f)(task &, const char *, void *), void *context) {
  if (t.ops != &k_ops)
    return;
  const closure &c = content_of(t);
  if (c.completion)
    f(*c.completion, nullptr, context);
  if (!c.in || c.in->turn != &t)
    return;
  for (runnable *r = c.in->waiting.front(); r; r = r->next)
    f(*static_cast<task *>(r), c.in->label, context);
}

namespace {

/// Gives `t`, which the caller has just made, a completion function, or frees it and throws.
task &complete_by(worker &w, task &t, const closure &after, const char *label,
                  std::int32_t priority, unsigned set) {
  task *completion = nullptr;
  try {
    completion = &make(w, after, label, priority, set);
  } catch (...) {
    w.memory->deallocate(&t);
    throw;
  }
  content_of(t).completion = completion;
  functions_root().children.add_by_non_owner();
  count(w.counts->without_accesses);
  trace_function(w, *completion);
  return *completion;
}

} // namespace

void spawn_function_with(void (*invoke)(void *storage), any_function f, void *arg,
                         void (*on_completion)(void *), void *completion_arg,
                         const function_options &options) {
  if (!f)
    throw_error(errc::invalid_argument, "spawn_function() has no function to call; pass one");
  worker &w = this_worker();
  stream_state *const in = state_of(options.in);
  const unsigned set = number_of(options.on);
  task &t = make(w, {f, arg, invoke, nullptr, in}, options.label, options.priority, set);
  if (on_completion)
    complete_by(w, t,
                {reinterpret_cast<any_function>(on_completion), completion_arg, &call_directly,
                 nullptr, in},
                options.label, options.priority, set);
  submit(w, t, in);
  if (the_runtime().producers.over()) [[unlikely]]
    the_runtime().producers.hold_back(w);
}

} // namespace rt

void spawn_function(void (*f)(void *), void *arg, void (*on_completion)(void *),
                    void *completion_arg, const function_options &options) {
  spawn_function_with(&call_directly, reinterpret_cast<any_function>(f), arg, on_completion,
                      completion_arg, options);
}

namespace detail {

void call_on(const worker_set &on, void (*f)(void *), void *arg) {
  worker &w = this_worker();
  if (w.in_callback) // no way back once the task is submitted: it refers to the caller's frame
    refuse_wait_in(*w.in_callback);
  constexpr const char *label = "algorithm";
  task &t = make(w, {reinterpret_cast<any_function>(f), arg, &call_directly, nullptr, nullptr},
                 label, 0, number_of(on));
  task &end = complete_by(w, t, {nullptr, nullptr, nullptr, nullptr, nullptr}, label, 0, 0);
  end.set(k_tracked); // its end signals the waiter
  end.references.store(2, std::memory_order_relaxed); // no other thread knows the task yet
  submit(w, t, nullptr);
  if (the_runtime().producers.over()) [[unlikely]]
    the_runtime().producers.hold_back(w);
  wait_until_done(end, exhausted::goes_on);
  drop_references(end, 1);
}

} // namespace detail

namespace layer {

detail::task &make_function(void (*f)(void *), void *arg, const function_options &options) {
  if (!f)
    throw_error(errc::invalid_argument, "spawn_function() has no function to call; pass one");
  worker &w = this_worker();
  stream_state *const in = state_of(options.in);
  task &t = make(w, {reinterpret_cast<any_function>(f), arg, &call_directly, nullptr, in},
                 options.label, options.priority, number_of(options.on));
  t.set(detail::k_tracked); // its end signals the waiter
  t.references.store(2, std::memory_order_relaxed); // no other thread knows the task yet
  return t;
}

void submit_function(detail::task &function) {
  worker &w = this_worker();
  submit(w, function, content_of(function).in);
  if (the_runtime().producers.over()) [[unlikely]]
    the_runtime().producers.hold_back(w);
}

void *argument_of_running(void (*f)(void *)) noexcept {
  const thread_context *e = this_thread_context();
  task *t = e ? e->current : nullptr;
  while (t && t->has(detail::k_implicit))
    t = t->parent;
  if (!t || t->ops != &k_ops || content_of(*t).f != reinterpret_cast<any_function>(f))
    return nullptr;
  return content_of(*t).arg;
}

void move_to(const worker_set &on) {
  worker &w = this_worker();
  task &t = *w.current;
  if (t.has(detail::k_implicit))
    throw_error(errc::not_a_task,
                "move_to() outside of a task: a thread keeps to its own worker; spawn a task");
  const unsigned before = t.confinement();
  t.confine(number_of(on));
  try {
    suspend([](thread_context &, frame &f, void *) { make_ready(f); }, nullptr);
  } catch (...) {
    t.confine(before);
    throw;
  }
}

} // namespace layer

function_stream::function_stream(const char *label)
    : m_state(new(std::nothrow) state(label ? label : "stream")) {
  if (!m_state)
    throw_error(errc::out_of_resources, "no memory for stream '%s'", label ? label : "stream");
}

function_stream::~function_stream() { drop(*m_state); }

void function_stream::wait() {
  worker &w = this_worker();
  stream_state &s = *state_of(this);
  if (runs_in(s, w.current))
    throw_error(
        errc::deadlock,
        "stream '%s' is waited for by its own function '%s', which would wait for itself; wait outside of it",
        s.label, label_of(*w.current));
  task &marker = make(w, {nullptr, nullptr, nullptr, nullptr, &s}, s.label, 0);
  marker.set(detail::k_tracked); // its end signals the waiter
  marker.references.store(2, std::memory_order_relaxed); // no other thread knows the task yet
  submit(w, marker, &s);
  struct dropper {
    ~dropper() { drop_references(t, 1); }
    task &t;
  } const mine{marker};
  wait_until_done(marker);
}

} // namespace weft::inline v0
