// SPDX-License-Identifier: Apache-2.0
// Channels: queues between tasks whose ends suspend the task, not the core.
#pragma once

#include <weft/detail/async.hpp>
#include <weft/detail/wait_list.hpp>
#include <weft/mutex.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace weft::inline v0 {

/// Says how an operation on a channel has ended.
enum class channel_status {
  success, ///< the value was moved
  empty, ///< there is none, and the call does not wait
  full, ///< there is no room, and the call does not wait
  closed, ///< the channel is closed; for pop: and empty
  timeout, ///< the time was over first
  stopped, ///< a stop was requested first
};

namespace detail {

/// Holds what channels of every type share: the two lists of waiters.
class WEFT_API channel_base {
 public:
  channel_base(const channel_base &) = delete;
  channel_base &operator=(const channel_base &) = delete;

 protected:
  channel_base() = default;
  ~channel_base() = default;
  using list = wait_list<>;
  using node = wait_node<>;

  void enter(list &waiters, node &self); // names the caller in `self`
  void put_back(list &waiters, node &entry) noexcept; // one that was taken just now
  [[nodiscard]] node *take(list &waiters) noexcept;
  static void grant(node &entry) noexcept;
  /// Waits for the grant of an entered node.
  [[nodiscard]] channel_status await(list &waiters, node &self, const wait_limit &limit);
  /// Takes all waiters, in a chain, which grant_all lets go on with the status `closed`.
  [[nodiscard]] node *take_all_closed(list &waiters) noexcept;
  static void grant_all(node *first) noexcept;
  [[nodiscard]] static channel_status status_of(wait_end how) noexcept;

  list m_receivers, m_senders;
};

} // namespace detail

/// Is a queue between tasks, for any number of senders and receivers. A channel of bounded capacity
/// suspends senders while it is full; with capacity 0 each sender waits until a receiver has taken
/// its value. Values leave in the order in which they came in; waiters are served first come, first
/// served. After close() receivers get what is left, then `closed`.
///
/// A range-based for loop receives values until the channel is closed and empty.
///
/// Cost. One lock and unlock of a weft::mutex, two moves of the value; an allocation for each 512
/// bytes of values that wait. Where the other side waits, the value goes to it directly.
/// Threads. Any. Moves of values run with the channel locked: they must not use the channel.
/// Errors. Exceptions of moves leave the channel as it was, and the value of a sender where it was. A
/// sender whose value cannot be moved into the room that a receiver has made waits on, for the next
/// one. What co_await returns is moved once more: an exception there loses the value.
/// Of calls that wait: no_block in a service or an onready function; out_of_resources; shut_down;
/// then nothing was moved.
/// Source. The interface follows ISO's P0260 (queues) and Boost.Fiber's channels.
template <class T>
class channel : detail::channel_base {
 public:
  using value_type = T; ///< of what it carries
  static constexpr std::size_t unbounded = SIZE_MAX; ///< a capacity

  /// Makes a channel that holds up to `capacity` values.
  explicit channel(std::size_t capacity = unbounded) : m_capacity(capacity) {}
  ~channel() = default; ///< with no one waiting; values that are left are destroyed

  /// Sends a value, and waits while there is no room. Returns success or closed; then `value` is
  /// as it was.
  [[nodiscard]] channel_status push(T &&value) { return send(value, {}, true); }
  [[nodiscard]] channel_status push(const T &value) { ///< @copydoc push
    T copy(value);
    return send(copy, {}, true);
  }
  /// Sends a value unless a stop is requested first.
  [[nodiscard]] channel_status push(T &&value, const std::stop_token &stop) {
    return send(value, {UINT64_MAX, &stop}, true);
  }
  /// Sends a value if there is room or a receiver waits; `full` otherwise. Never waits for room.
  [[nodiscard]] channel_status try_push(T &&value) { return send(value, {}, false); }
  [[nodiscard]] channel_status try_push(const T &value) { ///< @copydoc try_push
    T copy(value);
    return send(copy, {}, false);
  }
  /// Sends a value, and waits for room no longer than `most`.
  template <class Rep, class Period>
  [[nodiscard]] channel_status push_for(T &&value, const std::chrono::duration<Rep, Period> &most) {
    return send(value, detail::limit_of(most), true);
  }
  /// Sends a value, and waits for room until `time`.
  template <class Clock, class Duration>
  [[nodiscard]] channel_status push_until(T &&value,
                                          const std::chrono::time_point<Clock, Duration> &time) {
    channel_status last = channel_status::timeout;
    (void)detail::wait_until_time(time, [&](const detail::wait_limit &limit) {
      return (last = send(value, limit, true)) != channel_status::timeout;
    });
    return last;
  }

  /// Receives a value, and waits for one. Returns nothing when the channel is closed and empty.
  [[nodiscard]] std::optional<T> pop() {
    std::optional<T> value;
    (void)receive(place_in(value), {}, true);
    return value;
  }
  /// Receives a value unless a stop is requested first.
  [[nodiscard]] channel_status pop(T &value, const std::stop_token &stop) {
    return assign(value, {UINT64_MAX, &stop}, true);
  }
  /// Receives a value, and waits for one. Returns success or closed.
  [[nodiscard]] channel_status pop(T &value) { return assign(value, {}, true); }
  /// Receives a value if there is one or a sender waits; `empty` otherwise. Never waits for one.
  [[nodiscard]] channel_status try_pop(T &value) { return assign(value, {}, false); }
  /// Receives a value, and waits for one no longer than `most`.
  template <class Rep, class Period>
  [[nodiscard]] channel_status pop_for(T &value, const std::chrono::duration<Rep, Period> &most) {
    return assign(value, detail::limit_of(most), true);
  }
  /// Receives a value, and waits for one until `time`.
  template <class Clock, class Duration>
  [[nodiscard]] channel_status pop_until(T &value,
                                         const std::chrono::time_point<Clock, Duration> &time) {
    channel_status last = channel_status::timeout;
    (void)detail::wait_until_time(time, [&](const detail::wait_limit &limit) {
      return (last = assign(value, limit, true)) != channel_status::timeout;
    });
    return last;
  }

  /// @{ Lets a coroutine send a value, as push() does: `co_await c.async_push(v)`. No stack waits for
  /// room. The token lives until the await is over.
  ///
  /// Errors. Of the await: as push().
  [[nodiscard]] auto async_push(T value) { return sending<T>(*this, std::move(value), {}); }
  [[nodiscard]] auto async_push(T value, const std::stop_token &stop) {
    return sending<T>(*this, std::move(value), {UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_push_for(T value, const std::chrono::duration<Rep, Period> &most) {
    return sending<T>(*this, std::move(value), detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto async_push_until(T value,
                                      const std::chrono::time_point<Clock, Duration> &time) {
    if constexpr (detail::is_clock_of_limits<Clock>)
      return sending<T>(*this, std::move(value), detail::limit_of(time - Clock::now()));
    else
      return detail::await_until(
          time, [this, value = std::move(value)](const detail::wait_limit &limit) mutable {
            return sending<T &>(*this, value, limit); // a wait that times out leaves it there
          });
  }
  /// @}
  /// @{ Lets a coroutine receive a value, as pop() does: `while (auto v = co_await c.async_pop())`. No
  /// stack waits for a value. There is none when the channel is closed and empty, or the wait ended
  /// early.
  ///
  /// Errors. Of the await: as pop().
  [[nodiscard]] auto async_pop() { return receiving(*this, {}); }
  [[nodiscard]] auto async_pop(const std::stop_token &stop) {
    return receiving(*this, {UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_pop_for(const std::chrono::duration<Rep, Period> &most) {
    return receiving(*this, detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto async_pop_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::await_until(
        time, [this](const detail::wait_limit &limit) { return receiving(*this, limit); });
  }
  /// @}

  /// Closes the channel: no value comes in any more, and all waiters go on. A second call does
  /// nothing.
  void close() {
    std::unique_lock here(m_mutex);
    m_closed = true;
    node *receivers = this->take_all_closed(m_receivers),
         *senders = this->take_all_closed(m_senders);
    here.unlock();
    this->grant_all(receivers);
    this->grant_all(senders);
  }
  /// Returns whether the channel was closed.
  [[nodiscard]] bool is_closed() const {
    const std::lock_guard here(m_mutex);
    return m_closed;
  }
  /// Returns how many values the channel holds; those of waiting senders are not counted.
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard here(m_mutex);
    return m_values.size();
  }
  /// Returns how many values the channel holds at most.
  [[nodiscard]] std::size_t capacity() const noexcept { return m_capacity; }

  /// Receives values one after the other.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag; ///< of the standard's requirements
    using value_type = T; ///< of what it carries
    using difference_type = std::ptrdiff_t; ///< of the standard's requirements
    using pointer = T *; ///< to the value
    using reference = T &; ///< to the value

    iterator() = default;
    /// Receives the first value.
    explicit iterator(channel &from) : m_from(&from), m_value(from.pop()) {}
    reference operator*() const noexcept { return *m_value; } ///< the value that was received last
    pointer operator->() const noexcept { return &*m_value; } ///< the same
    /// Receives the next value.
    iterator &operator++() {
      m_value.reset();
      (void)m_from->receive(place_in(m_value), {}, true);
      return *this;
    }
    void operator++(int) { ++*this; } ///< receives the next value
    /// Returns whether the channel was closed and empty.
    friend bool operator==(const iterator &it, std::default_sentinel_t) noexcept {
      return !it.m_value;
    }

   private:
    channel *m_from = nullptr;
    mutable std::optional<T> m_value;
  };
  [[nodiscard]] iterator begin() { return iterator(*this); } ///< receives the first value
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; } ///< closed and empty

 private:
  /// Is where a receiver wants its value.
  struct place {
    void (*put)(void *to, T &&value); // may throw
    void *to;
    void take(T &&value) { put(to, std::move(value)); }
  };
  static place place_in(std::optional<T> &value) noexcept {
    return {[](void *to, T &&v) { static_cast<std::optional<T> *>(to)->emplace(std::move(v)); },
            &value};
  }
  static place place_of(T &value) noexcept {
    return {[](void *to, T &&v) { *static_cast<T *>(to) = std::move(v); }, std::addressof(value)};
  }

  /// Moves from a node's place, or to it; puts the node back if that fails.
  template <class Move>
  void with_taken(list &waiters, node &entry, Move move) {
    try {
      move();
    } catch (...) {
      this->put_back(waiters, entry);
      throw;
    }
  }

  /// Sends a value that it holds, or refers to.
  template <class Held>
  class [[nodiscard]] sending : public detail::async_wait {
   public:
    sending(channel &to, Held &&sent, const detail::wait_limit &until)
        : async_wait(static_cast<detail::channel_base *>(&to), detail::async_kind::channel, until),
          m_to(to), m_value(static_cast<Held &&>(sent)) {
      this->list = &to.m_senders;
    }
    [[nodiscard]] bool await_ready() {
      return (m_status = m_to.send_or_enter(m_value, nullptr)) != channel_status::full;
    }
    template <class Handle>
    bool await_suspend(Handle handle) {
      return this->suspend(handle, [this] {
        this->detail::wait_node<>::value = &m_value;
        return (m_status = m_to.send_or_enter(m_value, this)) != channel_status::full;
      });
    }
    channel_status await_resume() {
      return m_status != channel_status::full ? m_status : status_of(this->ended());
    }

   private:
    channel &m_to;
    Held m_value;
    channel_status m_status = channel_status::full;
  };
  class [[nodiscard]] receiving : public detail::async_wait {
   public:
    receiving(channel &from, const detail::wait_limit &until)
        : async_wait(static_cast<detail::channel_base *>(&from), detail::async_kind::channel,
                     until),
          m_from(from) {
      this->list = &from.m_receivers;
    }
    [[nodiscard]] bool await_ready() {
      return m_from.receive_or_enter(m_place, nullptr) != channel_status::empty;
    }
    template <class Handle>
    bool await_suspend(Handle handle) {
      return this->suspend(handle, [this] {
        this->detail::wait_node<>::value = &m_place;
        return m_from.receive_or_enter(m_place, this) != channel_status::empty;
      });
    }
    std::optional<T> await_resume() {
      this->forget_limits();
      return std::move(m_value);
    }

   private:
    channel &m_from;
    std::optional<T> m_value;
    place m_place = place_in(m_value); // an awaiter is not moved
  };

  channel_status send(T &value, const detail::wait_limit &limit, bool waits) {
    node self;
    self.value = &value;
    const channel_status how = send_or_enter(value, waits ? &self : nullptr);
    return how == channel_status::full && waits ? this->await(m_senders, self, limit) : how;
  }
  /// Sends, or says that the channel is full; then the node, if there is one, waits.
  channel_status send_or_enter(T &value, node *waiter) {
    std::unique_lock here(m_mutex);
    if (m_closed)
      return channel_status::closed;
    if (node *receiver = this->take(m_receivers)) {
      with_taken(m_receivers, *receiver,
                 [&] { static_cast<place *>(receiver->value)->take(std::move(value)); });
      here.unlock();
      this->grant(*receiver);
      return channel_status::success;
    }
    if (m_values.size() < m_capacity && (no_sender_waits() || let_senders_in())) {
      m_values.push_back(std::move(value));
      return channel_status::success;
    }
    if (waiter)
      this->enter(m_senders, *waiter);
    return channel_status::full;
  }

  [[nodiscard]] bool no_sender_waits() const noexcept {
    return !m_senders.oldest.load(std::memory_order_relaxed); // they enter with the channel locked
  }
  /// Moves the values of waiting senders in while there is room. Returns whether there is room still:
  /// not if one cannot be moved, whose sender then waits on, before all that come.
  bool let_senders_in() noexcept {
    while (m_values.size() < m_capacity) {
      node *const sender = this->take(m_senders);
      if (!sender)
        return true;
      try {
        m_values.push_back(std::move(*static_cast<T *>(sender->value)));
      } catch (...) {
        this->put_back(m_senders, *sender);
        return no_sender_waits(); // its time may be over
      }
      this->grant(*sender);
    }
    return false;
  }

  channel_status receive(place to, const detail::wait_limit &limit, bool waits) {
    node self;
    self.value = &to;
    const channel_status how = receive_or_enter(to, waits ? &self : nullptr);
    return how == channel_status::empty && waits ? this->await(m_receivers, self, limit) : how;
  }
  /// Receives, or says that the channel is empty; then the node, if there is one, waits.
  channel_status receive_or_enter(place &to, node *waiter) {
    std::unique_lock here(m_mutex);
    if (!m_values.empty()) {
      to.take(std::move(m_values.front()));
      m_values.pop_front();
      if (!no_sender_waits())
        (void)let_senders_in();
      return channel_status::success;
    }
    if (node *sender = this->take(m_senders)) { // capacity 0, or a value that could not be moved in
      with_taken(m_senders, *sender,
                 [&] { to.take(std::move(*static_cast<T *>(sender->value))); });
      here.unlock();
      this->grant(*sender);
      return channel_status::success;
    }
    if (m_closed)
      return channel_status::closed;
    if (waiter)
      this->enter(m_receivers, *waiter);
    return channel_status::empty;
  }

  channel_status assign(T &value, const detail::wait_limit &limit, bool waits) {
    return receive(place_of(value), limit, waits);
  }

  mutable mutex m_mutex;
  std::deque<T> m_values;
  std::size_t m_capacity;
  bool m_closed = false;
};

} // namespace weft::inline v0
