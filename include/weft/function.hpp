// SPDX-License-Identifier: Apache-2.0
// Independent functions: tasks that no other task waits for, and streams, which run them one after another.
#pragma once

#include <weft/detail/core.hpp>
#include <weft/worker_set.hpp>

#include <concepts>
#include <memory>
#include <type_traits>

namespace weft::inline v0 {

/// Runs the functions that are spawned into it one after another, in the order of the spawns. The
/// next function starts when the one before, its descendants and its completion function have
/// ended. Several streams run side by side.
///
/// Cost. One allocation. A function in a stream takes a short lock twice.
/// Threads. Any may spawn into it and wait for it.
class WEFT_API function_stream {
 public:
  /// Makes a stream. `label` must outlive the object.
  ///
  /// Errors. out_of_resources.
  explicit function_stream(const char *label = "stream");
  function_stream(const function_stream &) = delete;
  function_stream &operator=(const function_stream &) = delete;
  /// Gives the stream up without waiting: the functions that were spawned into it run, in order.
  ~function_stream();

  /// Waits until every function that was spawned into the stream before has ended, with its
  /// descendants and its completion function.
  ///
  /// Cost. That of an empty function.
  /// Blocks. Yes.
  /// Errors. deadlock in a function of this stream, which would wait for itself; no_block in a
  /// service or an onready function; out_of_resources; shut_down; invalid_argument in a process
  /// that was forked after the stream was made.
  void wait();

  struct state;
  [[nodiscard]] state &internals() const noexcept { return *m_state; } ///< for the library

 private:
  state *m_state;
};

using stream [[deprecated("use weft::function_stream")]] =
    function_stream; ///< the former name, until 1.0

/// Holds the properties of a function that its spawn takes.
struct function_options {
  const char *label = nullptr; ///< for messages and this_task::label(); must outlive the function
  std::int32_t priority = 0; ///< as clause priority
  function_stream *in = nullptr; ///< null: it starts as soon as a worker is free
  worker_set on =
      {}; ///< the workers that alone run it, its descendants and its completion function
};

/// Spawns f(arg) as an independent task. No parent waits for it, and it is in no group. It has a
/// dependency namespace of its own: its children are ordered among themselves, and with no other
/// task.
///
/// - When the function and all of its descendants are complete (external events, too),
///   on_completion(completion_arg) runs as a task of its own, on any worker; it may wait and spawn.
/// - Both are called once.
/// - An exception of f or on_completion is reported on standard error. on_completion runs even if f
///   throws.
/// - The end of the program waits for functions that have not ended.
///
/// Cost. That of a task, two with on_completion.
/// Threads. Any, inside of tasks and outside, also in services and onready functions.
/// Errors. invalid_argument without f, and for a stream or a set of workers that was made before
/// fork(); out_of_resources; shut_down. After an error nothing was spawned.
WEFT_API void spawn_function(void (*f)(void *arg), void *arg,
                             void (*on_completion)(void *arg) = nullptr,
                             void *completion_arg = nullptr, const function_options &options = {});

namespace detail {

/// Calls the callable at `callable`, which it owns, and destroys it.
template <class F>
void call_and_destroy(void *callable) {
  const std::unique_ptr<F> owned(static_cast<F *>(callable));
  (*owned)();
}

} // namespace detail

/// Holds for what is called without arguments: a lambda, a function object.
template <class F>
concept plain_callable =
    std::constructible_from<std::decay_t<F>, F> && std::invocable<std::decay_t<F> &>;

/// Spawns a callable as an independent task, as spawn_function() with a function and its argument
/// does. The task owns a copy of `f`, or what it was moved from: it is destroyed when its call has
/// returned or thrown, before the completion function runs.
///
/// Cost. One allocation more.
/// Threads. Any, inside of tasks and outside, also in services and onready functions.
/// Errors. Those of spawn_function() with a function, and what the copy of `f` throws. After an
/// error nothing was spawned.
template <plain_callable F>
void spawn_function(F &&f, const function_options &options = {}) {
  using callable = std::decay_t<F>;
  auto owned = std::make_unique<callable>(static_cast<F &&>(f));
  spawn_function(&detail::call_and_destroy<callable>, owned.get(), nullptr, nullptr, options);
  static_cast<void>(owned.release());
}

/// Does the same, and calls `on_completion` when the task and all of its descendants are complete,
/// also if `f` has thrown. A task of its own calls and owns it.
///
/// Cost. Two allocations more.
/// Threads. Any, inside of tasks and outside, also in services and onready functions.
/// Errors. Those of spawn_function() with a function, and what the copies throw. After an error
/// nothing was spawned.
template <plain_callable F, plain_callable G>
void spawn_function(F &&f, G &&on_completion, const function_options &options = {}) {
  using callable = std::decay_t<F>;
  using completion = std::decay_t<G>;
  auto owned = std::make_unique<callable>(static_cast<F &&>(f));
  auto owned_completion = std::make_unique<completion>(static_cast<G &&>(on_completion));
  spawn_function(&detail::call_and_destroy<callable>, owned.get(),
                 &detail::call_and_destroy<completion>, owned_completion.get(), options);
  static_cast<void>(owned.release());
  static_cast<void>(owned_completion.release());
}

} // namespace weft::inline v0
