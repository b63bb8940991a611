// SPDX-License-Identifier: Apache-2.0
// Threads that are tasks: the names of std::thread and its kin, on Weft's workers.
#pragma once

#include <weft/error.hpp>
#include <weft/function.hpp>
#include <weft/runtime.hpp>
#include <weft/sync/event.hpp>
#include <weft/sync/sleep.hpp>
#include <weft/task.hpp>
#include <weft/task_local.hpp>

#include <compare>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <stop_token>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

class thread;

namespace detail {

/// Holds what a thread object and its task share.
struct thread_state {
  event ended;
};

/// Returns a number that no other thread object has had.
[[nodiscard]] WEFT_API std::uint64_t next_thread_number() noexcept;
/// Holds the number of the thread object whose function the task runs. 0: none.
[[nodiscard]] WEFT_API std::uint64_t &running_thread_number();
[[nodiscard]] WEFT_API const void *current_owner();

} // namespace detail

/// Runs a function as an independent task, on a stack of its own size class, and lets others wait
/// for its end. The interface is that of std::thread.
///
/// - No parent waits for it, and it is in no group: join() or detach() says what becomes of it.
/// - An exception that leaves the function ends the program, as with std::thread.
/// - The end of the program waits for detached threads.
/// - It shares its worker with other tasks: while it computes, others do not run on that worker.
///
/// Cost. A spawn and two allocations.
/// Threads. Any. One object is used by one thread at a time.
/// Errors. Of the constructor: as spawn_function(), and what copies of the arguments throw. Where no memory is left when
/// the function begins, this_thread::get_id() is another one there than get_id() of the object.
/// Source. ISO C++20, [thread.thread.class].
class thread {
 public:
  /// Names a thread, or the task or thread that runs. A copyable value; the default names none.
  class id {
   public:
    constexpr id() noexcept = default;
    /// Writes the name.
    friend std::ostream &operator<<(std::ostream &out, const id &self) {
      return out << self.m_number;
    }
    constexpr explicit id(std::uint64_t number) noexcept : m_number(number) {} ///< for the library
    /// Returns the number, for a hash.
    [[nodiscard]] constexpr std::uint64_t number() const noexcept { return m_number; }

   private:
    std::uint64_t m_number = 0;
  };

  thread() noexcept = default; ///< that represents no thread
  /// Starts f(args...), with copies of all.
  template <class F, class... Args>
    requires(!std::is_same_v<std::remove_cvref_t<F>, thread> &&
             std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>)
  explicit thread(F &&f, Args &&...args)
      : m_state(std::make_shared<detail::thread_state>()), m_id(detail::next_thread_number()) {
    spawn_function([state = m_state, number = m_id.number(),
                    call = std::tuple<std::decay_t<F>, std::decay_t<Args>...>(
                        std::forward<F>(f), std::forward<Args>(args)...)]() mutable noexcept {
      try {
        detail::running_thread_number() = number;
      } catch (const error &) { // no memory: it has the name of a task
      }
      {
        auto gone = std::move(call); // its destructors run in the thread, before a join returns
        std::apply([](auto &&...parts) { std::invoke(std::forward<decltype(parts)>(parts)...); },
                   std::move(gone));
      }
      const auto last = std::move(state);
      last->ended.set();
    });
  }
  /// Takes the other one's thread.
  thread(thread &&other) noexcept
      : m_state(std::move(other.m_state)), m_id(std::exchange(other.m_id, id())) {}
  /// Takes the other one's thread. Ends the program if this one is joinable.
  thread &operator=(thread &&other) noexcept {
    if (joinable())
      std::terminate();
    m_state = std::move(other.m_state);
    m_id = std::exchange(other.m_id, id());
    return *this;
  }
  /// Ends the program if the thread was neither joined nor detached.
  ~thread() {
    if (joinable())
      std::terminate();
  }

  /// Returns whether the object represents a thread.
  [[nodiscard]] bool joinable() const noexcept { return m_state != nullptr; }
  /// Returns the name of the thread, or id().
  [[nodiscard]] id get_id() const noexcept { return m_id; }
  /// Waits until the function has returned.
  ///
  /// Blocks. Yes: the worker runs other tasks meanwhile.
  /// Errors. std::system_error: invalid_argument if it is not joinable,
  /// resource_deadlock_would_occur in the thread itself; those of waits.
  void join() {
    check_join();
    m_state->ended.wait();
    forget();
  }
  /// Waits until the function has returned or a stop is requested. Returns whether it has returned;
  /// else the thread is joinable as before, and knows nothing of the request.
  ///
  /// Blocks. Yes: the worker runs other tasks meanwhile.
  /// Errors. As join().
  [[nodiscard]] bool join(const std::stop_token &stop) {
    check_join();
    const bool has_ended = m_state->ended.wait(stop);
    if (has_ended)
      forget();
    return has_ended;
  }
  /// @{ Lets a coroutine do what join() does: `co_await t.async_join()`. No stack waits. The object stays as it
  /// is, and the token lives, until the await is over.
  ///
  /// Errors. Of the call: as join(). Of the await: out_of_resources; then the object is unchanged.
  [[nodiscard]] auto async_join() {
    check_join();
    return joins(*this, [](const event &ended) { return ended.async_wait(); });
  }
  [[nodiscard]] auto async_join(const std::stop_token &stop) {
    check_join();
    return joins(*this, [&stop](const event &ended) { return ended.async_wait(stop); });
  }
  /// @}
  /// Lets the thread go on by itself.
  ///
  /// Errors. std::system_error, invalid_argument, if it is not joinable.
  void detach() {
    check_joinable("detach");
    forget();
  }
  /// Exchanges the threads of two objects.
  void swap(thread &other) noexcept {
    std::swap(m_state, other.m_state);
    std::swap(m_id, other.m_id);
  }
  friend void swap(thread &a, thread &b) noexcept { a.swap(b); } ///< @copydoc swap
  /// Returns how many workers there are.
  [[nodiscard]] static unsigned hardware_concurrency() {
    return static_cast<unsigned>(worker_count());
  }

 private:
  template <class Begin>
  class [[nodiscard]] joins : public detail::coro_awaiter_around {
   public:
    joins(thread &of, Begin begin) : m_of(of), m_wait(begin(of.m_state->ended)) {}
    [[nodiscard]] bool await_ready() noexcept { return m_wait.await_ready(); }
    template <class Handle>
    bool await_suspend(Handle handle) {
      return m_wait.await_suspend(handle);
    }
    auto await_resume() {
      if constexpr (std::is_void_v<decltype(m_wait.await_resume())>) {
        m_wait.await_resume();
        m_of.forget();
      } else {
        const bool has_ended = m_wait.await_resume();
        if (has_ended)
          m_of.forget();
        return has_ended;
      }
    }

   private:
    thread &m_of;
    decltype(std::declval<Begin &>()(std::declval<const event &>())) m_wait;
  };
  void check_join() const {
    check_joinable("join");
    if (m_id.number() == detail::running_thread_number())
      throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                              "weft::thread::join");
  }
  void check_joinable(const char *what) const {
    if (!joinable())
      throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                              std::string("weft::thread::") + what);
  }
  friend class jthread;
  /// Joins, however long no stack can be had to wait with.
  void join_surely() noexcept {
    try {
      check_join();
    } catch (const error &) { // no memory for the name of the caller
    }
    detail::wait_surely(m_state->ended);
    forget();
  }
  void forget() noexcept {
    m_state.reset();
    m_id = id();
  }
  std::shared_ptr<detail::thread_state> m_state;
  id m_id;
};

/// @{ Compares names, in a total order. What converts to a name can be compared, too.
constexpr bool operator==(thread::id a, thread::id b) noexcept { return a.number() == b.number(); }
constexpr std::strong_ordering operator<=>(thread::id a, thread::id b) noexcept {
  return a.number() <=> b.number();
}
/// @}

/// Is a thread whose destructor requests a stop and joins. The interface is that of std::jthread.
///
/// Source. ISO C++20, [thread.jthread.class].
class jthread {
 public:
  using id = thread::id; ///< as of thread

  jthread() noexcept : m_stop(std::nostopstate) {} ///< that represents no thread
  /// Starts f(token, args...) if that can be called, else f(args...), with copies of all.
  template <class F, class... Args>
    requires(!std::is_same_v<std::remove_cvref_t<F>, jthread>)
  explicit jthread(F &&f, Args &&...args)
      : m_thread(start(m_stop, std::forward<F>(f), std::forward<Args>(args)...)) {}
  jthread(jthread &&) noexcept = default; ///< takes the other one's thread
  /// Requests a stop of this thread, joins it, and takes the other one's.
  jthread &operator=(jthread &&other) noexcept {
    jthread(std::move(other)).swap(*this);
    return *this;
  }
  ~jthread() {
    if (joinable()) {
      request_stop();
      m_thread.join_surely();
    }
  }

  [[nodiscard]] bool joinable() const noexcept { return m_thread.joinable(); } ///< as of thread
  [[nodiscard]] id get_id() const noexcept { return m_thread.get_id(); } ///< as of thread
  void join() { m_thread.join(); } ///< as of thread
  /// As of thread. The token may be another one than that of the thread, which it does not stop.
  [[nodiscard]] bool join(const std::stop_token &stop) { return m_thread.join(stop); }
  [[nodiscard]] auto async_join() { return m_thread.async_join(); } ///< as of thread
  [[nodiscard]] auto async_join(const std::stop_token &stop) { ///< as of thread
    return m_thread.async_join(stop);
  }
  void detach() { m_thread.detach(); } ///< as of thread
  /// Returns the source of the thread's stop token.
  [[nodiscard]] std::stop_source get_stop_source() noexcept { return m_stop; }
  /// Returns the thread's stop token.
  [[nodiscard]] std::stop_token get_stop_token() const noexcept { return m_stop.get_token(); }
  /// Requests a stop. Returns whether it is the first request.
  bool request_stop() noexcept { return m_stop.request_stop(); }
  /// Exchanges the threads of two objects.
  void swap(jthread &other) noexcept {
    std::swap(m_stop, other.m_stop);
    m_thread.swap(other.m_thread);
  }
  friend void swap(jthread &a, jthread &b) noexcept { a.swap(b); } ///< @copydoc swap
  /// Returns how many workers there are.
  [[nodiscard]] static unsigned hardware_concurrency() { return thread::hardware_concurrency(); }

 private:
  template <class F, class... Args>
  static thread start(std::stop_source &stop, F &&f, Args &&...args) {
    if constexpr (std::is_invocable_v<std::decay_t<F>, std::stop_token, std::decay_t<Args>...>)
      return thread(std::forward<F>(f), stop.get_token(), std::forward<Args>(args)...);
    else
      return thread(std::forward<F>(f), std::forward<Args>(args)...);
  }
  std::stop_source m_stop;
  thread m_thread;
};

/// Holds what std::this_thread has.
namespace this_thread {

/// Returns the name of the thread object whose function runs; in other tasks, and in threads of the
/// program, a name that no thread object has. Each task has its own.
[[nodiscard]] inline thread::id get_id() {
  if (const std::uint64_t number = detail::running_thread_number())
    return thread::id(number);
  return thread::id(reinterpret_cast<std::uintptr_t>(detail::current_owner()) | std::uint64_t{1}
                                                                                    << 63);
}
/// Lets other tasks run first: taskyield().
inline void yield() { taskyield(); }
using this_task::sleep_for; ///< suspends the task
using this_task::sleep_until; ///< suspends the task

} // namespace this_thread
} // namespace weft::inline v0

/// @cond
template <>
struct std::hash<weft::thread::id> {
  std::size_t operator()(const weft::thread::id &self) const noexcept {
    return std::hash<std::uint64_t>()(self.number());
  }
};
/// @endcond
