// SPDX-License-Identifier: Apache-2.0
// Calls functions at given times, on a thread of its own, so that time passes while all workers
// compute. The thread sleeps while nothing is due.
#pragma once

#include "os/thread.hpp"
#include "ult/thread_context.hpp"

#include <cstdint>
#include <map>
#include <pthread.h>

namespace weft::inline v0 {
namespace rt {

class timer {
 public:
  /// Describes one pending call. The caller owns it, and keeps it until the call was made or
  /// cancelled.
  struct call {
    void (*f)(void *context) =
        nullptr; // runs on the timer's thread under its lock: short, must not call the timer
    void *context = nullptr;
    // Asked on time, under the same rules; true: not yet. No one waits for a call that has this
    // function.
    bool (*is_deferred)(void *context) = nullptr;
    std::uint64_t period_ns = 0; // for which the call is deferred
    std::multimap<std::uint64_t, call *>::node_type room; // of a prepared call
    std::multimap<std::uint64_t, call *>::iterator at{};
    bool pending = false;
  };

  /// Creates a timer without a thread. `adopt` makes the timer's thread one that may use Weft, for
  /// services; it returns null if the thread may not (any more).
  explicit timer(thread_context *(*adopt)() noexcept);
  timer(const timer &) = delete;
  timer &operator=(const timer &) = delete;

  /// Does everything of at() that can fail: takes memory, and starts the thread on first use.
  /// Throws weft::error or std::bad_alloc.
  void prepare(call &timed);
  /// Schedules c.f(c.context) for `deadline_ns` of the monotonic clock. Once for each prepare().
  void at(std::uint64_t deadline_ns, call &timed) noexcept;
  /// Cancels the call: after cancel() has returned, it is neither pending nor running.
  void cancel(call &timed);
  /// Calls from now on the services of poll point timer every `period_ns`, and those of poll point
  /// idle while no worker idles.
  void poll_services(std::uint64_t period_ns);
  /// Says whether a call is pending that something waits for, or the timer's thread is calling
  /// services.
  [[nodiscard]] bool is_busy();
  [[nodiscard]] bool has_thread();
  void stop();
  void forget_after_fork();

 private:
  void ensure_thread();
  void run();
  void call_or_put_off(std::uint64_t now);
  std::uint64_t poll_now();
  void wait_until(std::uint64_t deadline_ns);

  pthread_mutex_t m_mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t m_changed;
  std::multimap<std::uint64_t, call *> m_calls;
  std::uint64_t m_period_ns = 0;
  thread m_thread;
  thread_context *(*const m_adopt)() noexcept;
  bool m_polling = false;
  bool m_stopping = false;
};

} // namespace rt
} // namespace weft::inline v0
