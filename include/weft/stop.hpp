// SPDX-License-Identifier: Apache-2.0
// Stop tokens: the standard's of C++20, and those of C++26 whose source is in place.
// Not part of <weft/weft.hpp>.
#pragma once

#include <weft/detail/stop_words.hpp>

#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

class inplace_stop_source;
template <class Callback>
class inplace_stop_callback;

/// Says whether a stop was requested of an inplace_stop_source, which outlives it. A token has one
/// pointer, and copies of it cost nothing.
///
/// Threads. Any.
/// Source. ISO C++26, [stoptoken.inplace].
class inplace_stop_token {
 public:
  /// Names the type of a callback for such tokens.
  template <class Callback>
  using callback_type = inplace_stop_callback<Callback>;

  /// Makes a token of no source, which is never requested.
  inplace_stop_token() noexcept = default;
  /// Returns whether a stop was requested. What the requester did before is seen then.
  [[nodiscard]] bool stop_requested() const noexcept { return m_state && m_state->is_requested(); }
  /// Returns whether the token has a source.
  [[nodiscard]] bool stop_possible() const noexcept { return m_state != nullptr; }
  /// Exchanges the sources of two tokens.
  void swap(inplace_stop_token &other) noexcept { std::swap(m_state, other.m_state); }
  friend bool operator==(const inplace_stop_token &, const inplace_stop_token &) noexcept =
      default; ///< whether both have one source, or none

 private:
  friend class inplace_stop_source;
  template <class Callback>
  friend class inplace_stop_callback;
  explicit inplace_stop_token(detail::stop_state<> *state) noexcept : m_state(state) {}
  detail::stop_state<> *m_state = nullptr;
};

/// Requests a stop of all that hold its tokens. It is where it was declared, and allocates nothing;
/// it outlives its tokens and their callbacks.
///
/// Cost. 48 bytes. A callback is entered and taken out under a short lock.
/// Threads. Any.
/// Source. ISO C++26, [stopsource.inplace].
class inplace_stop_source {
 public:
  /// Makes a source of which no stop is requested.
  constexpr inplace_stop_source() noexcept = default;
  inplace_stop_source(const inplace_stop_source &) = delete;
  inplace_stop_source &operator=(const inplace_stop_source &) = delete;
  ~inplace_stop_source() = default;

  /// Returns a token of this source.
  [[nodiscard]] inplace_stop_token get_token() const noexcept {
    return inplace_stop_token(&m_state);
  }
  /// Returns true: a source can always be asked.
  [[nodiscard]] static constexpr bool stop_possible() noexcept { return true; }
  /// Returns whether a stop was requested.
  [[nodiscard]] bool stop_requested() const noexcept { return m_state.is_requested(); }
  /// Requests a stop, and calls the registered callbacks, one after the other, before it returns. The
  /// callbacks of the library make a waiter ready or post a record; they resume nothing in place. An
  /// exception of a callback ends the program. Returns false if a stop was requested before.
  ///
  /// Blocks. If a callback does.
  bool request_stop() noexcept { return detail::request_stop(m_state); }

 private:
  mutable detail::stop_state<> m_state;
};

/// Calls a function when a stop is requested: in the requester, or in its own constructor if that
/// happened before.
///
/// The destructor takes the callback back. If the callback runs elsewhere, the destructor waits until
/// it has returned: the task is suspended, and its worker goes on. A callback may destroy itself.
///
/// Cost. No allocation; 48 bytes and the function.
/// Threads. Any.
/// Blocks. The destructor, while the callback runs elsewhere. Where a wait is refused (a service, an
/// onready function, no stack left) it spins.
/// Source. ISO C++26, [stopcallback.inplace].
template <class Callback>
class [[nodiscard]] inplace_stop_callback : detail::stop_node<> {
  static_assert(std::invocable<Callback> && std::destructible<Callback>,
                "a stop callback is called without arguments");

 public:
  using callback_type = Callback; ///< the type of the function

  /// Registers a function made of `init`, or calls it at once.
  ///
  /// Errors. What the function's constructor throws; then nothing is registered.
  template <class Init>
    requires std::constructible_from<Callback, Init>
  explicit inplace_stop_callback(inplace_stop_token token, Init &&init) noexcept(
      std::is_nothrow_constructible_v<Callback, Init>)
      : m_state(token.m_state), m_callback(static_cast<Init &&>(init)) {
    if (!m_state)
      return;
    call = [](detail::stop_node<> &self) noexcept {
      static_cast<Callback &&>(static_cast<inplace_stop_callback &>(self).m_callback)();
    };
    registered = detail::register_callback(*m_state, *this);
    if (!registered)
      call(*this);
  }
  inplace_stop_callback(const inplace_stop_callback &) = delete;
  inplace_stop_callback &operator=(const inplace_stop_callback &) = delete;
  /// Takes the callback back.
  ~inplace_stop_callback() {
    if (registered)
      detail::remove_callback(*m_state, *this);
  }

 private:
  detail::stop_state<> *m_state;
  [[no_unique_address]] Callback m_callback;
};
/// Takes the type of the function from the argument.
template <class Callback>
inplace_stop_callback(inplace_stop_token, Callback) -> inplace_stop_callback<Callback>;

/// Is a token that is never requested.
///
/// Source. ISO C++26, [stoptoken.never].
class never_stop_token {
  struct callback {
    template <class Init>
    explicit callback(never_stop_token, Init &&) noexcept {}
  };

 public:
  /// Names the type of a callback that is never called.
  template <class>
  using callback_type = callback;
  [[nodiscard]] static constexpr bool stop_requested() noexcept { return false; } ///< false
  [[nodiscard]] static constexpr bool stop_possible() noexcept { return false; } ///< false
  friend constexpr bool operator==(never_stop_token, never_stop_token) noexcept = default; ///< true
};

/// @cond
namespace detail {
template <class Token, class Callback>
struct stop_callback_for {
  using type = typename Token::template callback_type<Callback>;
};
template <class Callback>
struct stop_callback_for<std::stop_token, Callback> { // C++20's has no such member
  using type = std::stop_callback<Callback>;
};
} // namespace detail
/// @endcond

/// Names the type of a callback for tokens of this type, std::stop_token included.
template <class Token, class Callback>
using stop_callback_for_t = typename detail::stop_callback_for<Token, Callback>::type;

namespace this_task {

/// Returns a token that is requested when cancelled() becomes true: by the group of the running task
/// or of a task above it, or through a future of one of these. It may be used until the task ends, and
/// later, too. On a thread, and in a task that nothing can cancel, it has no source.
///
/// A request through a future, or from more than some ten tasks above, reaches the token a moment later, on
/// a worker: the callbacks of a token are the user's, and tasks may nest to any depth.
///
/// Cost. The first call in a task allocates, and so do the first ones of the tasks above it.
/// Threads. Any.
/// Errors. out_of_resources.
[[nodiscard]] WEFT_API std::stop_token stop_token();

} // namespace this_task
} // namespace weft::inline v0
