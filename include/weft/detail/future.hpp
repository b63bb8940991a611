// SPDX-License-Identifier: Apache-2.0
// What the templates of futures and the library agree on. Not for users: it changes with the version.
#pragma once

#include <weft/detail/spawn.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {
namespace detail {

/// Begins it as the policy, of launch, says. Throws weft::error; the task is gone then.
WEFT_API void task_launch(task *t, unsigned how);
/// Returns whether a continuation of futures that are ready, or are not, is a task that waits for
/// them; otherwise it is launched. Throws weft::error for a policy that is none.
[[nodiscard]] WEFT_API bool continues_as_task(unsigned how, bool ready);
/// Adds a reference as a handle has one.
WEFT_API void task_add_handle(task *t) noexcept;
/// Returns what the ended task threw, and leaves it there for others that ask.
[[nodiscard]] WEFT_API std::exception_ptr task_exception(task *t) noexcept;
/// Returns whether the ended task threw.
[[nodiscard]] WEFT_API bool task_has_failed(const task *t) noexcept;
/// Asks the task to stop: a body that has not begun is skipped, another one sees it by
/// this_task::cancelled().
WEFT_API void task_request_stop(task *t);

enum class wait_result : std::uint8_t { ended, timeout, deferred, stopped };
/// Waits for at most `ns` nanoseconds (negative: for ever), and until `stop`, if given, is
/// requested.
WEFT_API wait_result task_wait_for(task *t, std::int64_t ns, const std::stop_token *stop);

/// Creates a state that no body ends, with a reference of its consumer and one of its producer.
WEFT_API task *state_create(const body_ops &ops, const char *label);
/// Makes the caller the one thread that ends the state. False: another one is, or was.
[[nodiscard]] WEFT_API bool state_begin(task *t) noexcept;
/// Takes that back.
WEFT_API void state_give_up(task *t) noexcept;
/// Keeps an exception as the result.
WEFT_API void state_fail(task *t, std::exception_ptr error) noexcept;
/// Publishes the result, and hands all waiters on.
WEFT_API void state_publish(task *t) noexcept;
/// Does the same, and drops the producer's reference.
WEFT_API void state_finish(task *t) noexcept;
/// Does the same from a waiter that is being fired.
WEFT_API void state_finish_within(task *t, firing &all) noexcept;
/// Finishes with future_error broken_promise as the result; without memory, with bad_alloc.
WEFT_API void state_break(task *t) noexcept;

/// Starts the inputs that are deferred. Throws future_error no_state if one is null.
WEFT_API void inputs_start(const input_list &inputs);

/// Waits for the inputs of a state, for one at a time: those that have ended meanwhile are passed
/// over. The thread that has been fired, or creates the state, owns it.
struct all_inputs : waiter {
  task *whole = nullptr;
  input_list inputs;
  std::size_t passed = 0; // inputs that have ended, and the one that it is attached to
};
/// Ends `all.whole` when all inputs have ended.
WEFT_API void state_finish_after_all(all_inputs &all) noexcept;

/// Ends a state when `needed` of several tasks have ended, and forgets the others.
struct choice {
  struct node : waiter {
    choice *of = nullptr;
  };
  task *whole = nullptr;
  node *nodes = nullptr; // one for each input
  input_list inputs;
  std::size_t *winners = nullptr; // their numbers, in the order of their ends
  std::uint32_t needed = 0;
  bool cancels = false; // asks the others to stop
  std::atomic<std::uint32_t> fired{0}, written{0};
  std::atomic<std::uint32_t> phase{0}; // 1: all are attached; 2: it is decided
  std::atomic<std::uint32_t> left{0}; // nodes that may be fired, and the creator
};
WEFT_API void state_finish_after_some(choice &selection) noexcept;

struct posting_waiter;
struct posted_call : call_record {
  using call_record::call_record;
  posting_waiter *owner = nullptr;
};
/// Posts its record when it is fired. The record knows the waiter.
struct posting_waiter : waiter {
  explicit posting_waiter(void (*f)(call_record *) noexcept) noexcept;
  posted_call record;
};
WEFT_API void fire_by_post(waiter *self, firing &all) noexcept;
inline posting_waiter::posting_waiter(void (*f)(call_record *) noexcept) noexcept : record(f) {
  fire = &fire_by_post;
  record.owner = this;
}

/// Adds an event to the running task, or takes it back from the task, which then may end.
WEFT_API void task_add_event(task *t);
WEFT_API void task_take_event(task *t) noexcept;
inline task *task_of(void *storage) noexcept {
  return reinterpret_cast<task *>(static_cast<char *>(storage) - k_storage_offset);
}

[[noreturn]] WEFT_API void throw_no_state();
[[noreturn]] WEFT_API void throw_no_exception();
[[noreturn]] WEFT_API void throw_stopped();
[[noreturn]] WEFT_API void throw_too_many(std::size_t wanted, std::size_t given);

/// Holds the result of a state.
template <class T>
struct state_body {
  result_of<T> result;
  bool has_result = false;
  ~state_body() {}
  static void destroy_result(void *p) noexcept {
    auto *self = static_cast<state_body *>(p);
    if (self->has_result)
      self->result.destroy();
  }
  static constexpr body_ops ops{nullptr, nullptr, is_trivial_result<T> ? nullptr : &destroy_result,
                                !is_trivial_result<T>, 0};
};
template <>
struct state_body<void> {
  static constexpr body_ops ops{nullptr, nullptr, nullptr, false, 0};
};
template <class Body>
inline constexpr body_ops k_state_ops{
    nullptr,      nullptr, Body::ops.destroy_result, (Body::ops.traits.flags & k_destroys) != 0,
    sizeof(Body), nullptr, Body::ops.inputs};

/// Creates the state of a T.
template <class T>
task *make_state(const char *label) {
  static_assert(alignof(state_body<T>) <= k_storage_align);
  task *const t = state_create(k_state_ops<state_body<T>>, label);
  ::new (storage(t)) state_body<T>;
  return t;
}

template <class T>
auto &result_in(task *t) noexcept {
  return static_cast<result_of<T> *>(storage(t))->get();
}

/// Calls a copy of a callable once, with copies of its arguments.
template <class F, class... Args>
struct bound_call {
  F f;
  std::tuple<Args...> args;
  decltype(auto) operator()() {
    return std::apply(
        [this](Args &...a) -> decltype(auto) { return std::invoke(std::move(f), std::move(a)...); },
        args);
  }
};
template <class F>
struct bound_call<F> {
  F f;
  decltype(auto) operator()() { return std::invoke(std::move(f)); }
};
template <class F, class... Args>
auto bind_call(F &&f, Args &&...args) {
  using call = bound_call<std::decay_t<F>, std::decay_t<Args>...>;
  if constexpr (sizeof...(Args) == 0)
    return call{static_cast<F &&>(f)};
  else
    return call{static_cast<F &&>(f),
                std::tuple<std::decay_t<Args>...>(static_cast<Args &&>(args)...)};
}

} // namespace detail
} // namespace weft::inline v0
