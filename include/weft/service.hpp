// SPDX-License-Identifier: Apache-2.0
// Services: callbacks that workers run when they have nothing better to do, or between tasks.
#pragma once

#include <weft/detail/core.hpp>

#include <concepts>
#include <memory>
#include <type_traits>

namespace weft::inline v0 {

/// Says where the dispatcher calls a service.
enum class poll_point : std::uint8_t {
  idle, ///< by workers without work, again and again; when all workers sleep or none is without work, every poll.period or so
  timer, ///< by the timer thread, every poll.period
  taskwait, ///< by a task that has to wait for its children or its group, once, before it does
  scheduling_point, ///< by workers between tasks: in taskyield(), when a task suspends, when a worker asks for shared work
};
using place [[deprecated("use weft::poll_point")]] = poll_point; ///< the former name, until 1.0

/// Registers a callback for the life of the object. `f` returns true when it did something. `name`
/// must outlive the object.
///
/// - No two threads call `f` at the same time.
/// - Of the services of a poll point those of higher priority are called first, and those of equal
///   priority in the order in which they were made.
/// - `f` may unblock tasks, decrease events, spawn, and make or end services, also its own. What
///   the services of one poll point spawn are siblings, and the end of the program waits for them.
/// - `f` must not wait (errc::no_block) nor throw (the program ends with a message that names the
///   service).
/// - A service that takes longer than poll.slow in a call, or does not return from it, is reported
///   with its name.
/// - The destructor returns when no call is running. Two services must not end each other at the
///   same time.
/// - Only the poll points idle and timer are certain to be reached: a task that never waits calls
///   no service.
///
/// Cost. One allocation. While a service of poll point idle exists, sleeping workers wake every
/// poll.period to call it, and the timer's thread looks after it. A service costs its poll points
/// one clock reading per round and one per call. Poll points without services cost one load.
/// Threads. Any.
/// Errors. invalid_argument without a function or for a poll point that does not exist;
/// out_of_resources; shut_down.
class WEFT_API service {
 public:
  /// Registers `f(context)`, which is called at `where`, larger `priority` first.
  service(const char *name, poll_point where, bool (*f)(void *context), void *context,
          int priority = 0);
  /// Registers `f()`, a callable that returns bool. The service owns a copy of it, or what it was
  /// moved from, and destroys it at its end, when no call is running. An `f` that ends its own service uses nothing of
  /// itself afterwards.
  ///
  /// Cost. Two allocations more.
  /// Errors. As above, and what the copy of `f` throws.
  template <class F>
    requires(std::constructible_from<std::decay_t<F>, F> &&
             std::is_invocable_r_v<bool, std::decay_t<F> &>)
  service(const char *name, poll_point where, F &&f, int priority = 0)
      : service(name, where, &call<std::decay_t<F>>,
                std::make_unique<std::decay_t<F>>(static_cast<F &&>(f)).release(),
                &destroy<std::decay_t<F>>, priority) {}
  service(const service &) = delete;
  service &operator=(const service &) = delete;
  ~service();

 private:
  /// Takes over `callable`: if it throws, it has destroyed it.
  service(const char *name, poll_point where, bool (*f)(void *callable), void *callable,
          void (*destroy)(void *callable) noexcept, int priority);
  template <class F>
  static bool call(void *callable) {
    return (*static_cast<F *>(callable))();
  }
  template <class F>
  static void destroy(void *callable) noexcept {
    delete static_cast<F *>(callable);
  }

  void *m_entry;
};

} // namespace weft::inline v0
