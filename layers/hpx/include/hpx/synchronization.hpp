// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: synchronization that suspends the task.
#pragma once

#include <hpx/future.hpp>
#include <weft/sync.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <utility>

namespace hpx {

using weft::barrier;
using weft::binary_semaphore;
using weft::call_once;
using weft::condition_variable;
using weft::condition_variable_any;
using weft::counting_semaphore;
using weft::latch;
using weft::mutex;
using weft::once_flag;
using weft::recursive_mutex;
using weft::shared_mutex;
using weft::timed_mutex;
using spinlock = weft::spin_mutex;
using std::cv_status;
using std::lock_guard;
using std::scoped_lock;
using std::shared_lock;
using std::unique_lock;

/// Lets steps of a sequence run ahead of the slowest by `most` at most.
template <class = void>
class sliding_semaphore_var {
 public:
  explicit sliding_semaphore_var(std::int64_t most, std::int64_t lower = 0)
      : m_most(most), m_lower(lower) {}
  void set_max_difference(std::int64_t most, std::int64_t lower = 0) {
    const std::lock_guard guard(m_lock);
    m_most = most;
    m_lower = lower;
    m_changed.notify_all();
  }
  /// Waits until `upper` is no more than the difference above the signalled step.
  void wait(std::int64_t upper = 1) {
    std::unique_lock guard(m_lock);
    m_changed.wait(guard, [&] { return upper - m_most <= m_lower; });
  }
  bool try_wait(std::int64_t upper = 1) {
    const std::lock_guard guard(m_lock);
    return upper - m_most <= m_lower;
  }
  void signal(std::int64_t lower) {
    const std::lock_guard guard(m_lock);
    if (lower > m_lower)
      m_lower = lower;
    m_changed.notify_all();
  }
  std::int64_t signal_all() {
    const std::lock_guard guard(m_lock);
    m_lower += m_most;
    m_changed.notify_all();
    return m_lower;
  }

 private:
  weft::mutex m_lock;
  weft::condition_variable m_changed;
  std::int64_t m_most, m_lower;
};
using sliding_semaphore = sliding_semaphore_var<>;

namespace lcos::local {

using hpx::call_once;
using hpx::condition_variable;
using hpx::condition_variable_any;
using hpx::mutex;
using hpx::once_flag;
using hpx::recursive_mutex;
using hpx::shared_mutex;
using hpx::sliding_semaphore;
using hpx::spinlock;
using hpx::timed_mutex;

/// Is a semaphore with HPX's own names for its calls.
class counting_semaphore {
 public:
  explicit counting_semaphore(std::ptrdiff_t count = 0) : m_units(count) {}
  void wait(std::ptrdiff_t n = 1) {
    while (n-- > 0)
      m_units.acquire();
  }
  bool try_wait(std::ptrdiff_t n = 1) {
    for (std::ptrdiff_t taken = 0; taken != n; ++taken)
      if (!m_units.try_acquire()) {
        m_units.release(taken);
        return false;
      }
    return true;
  }
  void signal(std::ptrdiff_t n = 1) { m_units.release(n); }
  void acquire() { m_units.acquire(); }
  bool try_acquire() { return m_units.try_acquire(); }
  void release(std::ptrdiff_t n = 1) { m_units.release(n); }

 private:
  weft::counting_semaphore<> m_units;
};

/// Is a latch with the former names for its calls.
class latch {
 public:
  explicit latch(std::ptrdiff_t count) : m_latch(count) {}
  void count_down_and_wait() { m_latch.arrive_and_wait(); }
  void arrive_and_wait() { m_latch.arrive_and_wait(); }
  void count_down(std::ptrdiff_t n = 1) { m_latch.count_down(n); }
  [[nodiscard]] bool is_ready() const noexcept { return m_latch.try_wait(); }
  [[nodiscard]] bool try_wait() const noexcept { return m_latch.try_wait(); }
  void wait() const { m_latch.wait(); }

 private:
  weft::latch m_latch;
};

class barrier {
 public:
  explicit barrier(std::ptrdiff_t count) : m_barrier(count) {}
  void wait() { m_barrier.arrive_and_wait(); }
  void count_up() = delete; // the number of arrivals is fixed

 private:
  weft::barrier<> m_barrier;
};

class event {
 public:
  void wait() { m_event.wait(); }
  void set() { m_event.set(); }
  void reset() noexcept { m_event.reset(); }
  [[nodiscard]] bool occurred() const noexcept { return m_event.is_set(); }

 private:
  weft::event m_event;
};

/// Hands values on in order: a value that comes first waits for its get(), and a get() that comes
/// first is a future of the value. Copies are the same channel.
template <class T = void>
class channel {
 public:
  /// Waits for the next value.
  T get(launch) const { return get().get(); }
  /// Returns the future of the next value.
  future<T> get() const {
    state &s = *m_state;
    const std::lock_guard guard(s.lock);
    if (!s.ready.empty()) {
      future<T> first = std::move(s.ready.front());
      s.ready.pop_front();
      return first;
    }
    if (s.closed)
      return weft::make_exceptional_future<T>(
          std::runtime_error("the channel is closed and empty"));
    s.waiting.emplace_back();
    return s.waiting.back().get_future();
  }
  /// Sends a value; of a channel of void, nothing.
  template <class... Value>
  void set(Value &&...value) const {
    promise<T> p;
    {
      state &s = *m_state;
      const std::lock_guard guard(s.lock);
      if (s.closed)
        throw std::runtime_error("a value is sent to a channel that is closed");
      if (s.waiting.empty()) {
        s.ready.push_back(p.get_future());
      } else {
        p = std::move(s.waiting.front());
        s.waiting.pop_front();
      }
    }
    if constexpr (std::is_void_v<T>)
      p.set_value();
    else
      p.set_value(T(static_cast<Value &&>(value)...));
  }
  /// Ends the channel: futures that have no value get an exception. Returns how many.
  std::size_t close(bool = false) const {
    std::deque<promise<T>> waiting;
    {
      const std::lock_guard guard(m_state->lock);
      m_state->closed = true;
      waiting.swap(m_state->waiting);
    }
    for (promise<T> &p : waiting)
      p.set_exception(
          std::make_exception_ptr(std::runtime_error("the channel is closed and empty")));
    return waiting.size();
  }

 private:
  struct state {
    weft::mutex lock;
    std::deque<promise<T>> waiting;
    std::deque<future<T>> ready;
    bool closed = false;
  };
  std::shared_ptr<state> m_state = std::make_shared<state>();
};
template <class T = void>
using one_element_channel = channel<T>;
/// Is the end of a channel that values leave.
template <class T = void>
class receive_channel {
 public:
  receive_channel(channel<T> from) : m_channel(std::move(from)) {}
  future<T> get() const { return m_channel.get(); }
  T get(launch) const { return m_channel.get().get(); }

 private:
  channel<T> m_channel;
};
/// Is the end of a channel that values enter.
template <class T = void>
class send_channel {
 public:
  send_channel(channel<T> to) : m_channel(std::move(to)) {}
  template <class... Value>
  void set(Value &&...value) const {
    m_channel.set(static_cast<Value &&>(value)...);
  }
  std::size_t close(bool force = false) const { return m_channel.close(force); }

 private:
  channel<T> m_channel;
};

} // namespace lcos::local

template <class = void>
using counting_semaphore_var = lcos::local::counting_semaphore;

} // namespace hpx
