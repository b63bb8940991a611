// SPDX-License-Identifier: Apache-2.0
// A barrier that suspends the task, not the core.
#pragma once

#include <weft/detail/async.hpp>
#include <weft/detail/sync_words.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {
namespace detail {

/// Holds what barriers of every completion function share.
class WEFT_API barrier_base {
 public:
  explicit barrier_base(std::ptrdiff_t expected);
  barrier_base(const barrier_base &) = delete;
  barrier_base &operator=(const barrier_base &) = delete;

 protected:
  ~barrier_base() = default;
  /// Arrives. Returns the phase; sets `last` if the caller is to complete the phase and end it.
  [[nodiscard]] std::uint32_t arrive(std::ptrdiff_t count, bool &last);
  void drop() noexcept { m_state.expected.fetch_sub(1, std::memory_order_relaxed); }
  void turn(std::uint32_t phase);
  template <bool MayEnd>
  [[nodiscard]] auto awaits(std::uint32_t phase, const wait_limit &limit) const noexcept {
    return awaited_phase<MayEnd>(m_state, phase, limit);
  }
  /// Returns whether the phase is over.
  bool within(std::uint32_t phase, const wait_limit &limit) const {
    return m_state.is_over(phase) || wait_slow(phase, limit);
  }

 private:
  template <bool MayEnd>
  struct awaited_phase : async_take<barrier_state<>, async_kind::barrier, MayEnd> {
    awaited_phase(barrier_state<> &barrier, std::uint32_t which, const wait_limit &limit) noexcept
        : async_take<barrier_state<>, async_kind::barrier, MayEnd>(barrier, limit) {
      this->phase = which;
    }
  };
  bool wait_slow(std::uint32_t phase, const wait_limit &limit) const;
  mutable barrier_state<> m_state;
};

struct no_completion {
  void operator()() const noexcept {}
};

} // namespace detail

/// Lets a number of tasks and threads wait for each other, again and again: the last one that
/// arrives in a phase calls the completion function, then all go on into the next phase. The
/// interface is that of std::barrier, and waits that end early.
///
/// A wait that ends early takes no arrival back: the phase ends without the caller, which keeps its
/// token, and may wait again.
///
/// Cost. One atomic operation for an arrival; the last one of a phase takes a short lock. 24 bytes.
/// Threads. Any. The completion function runs in the last arriver, and may suspend it.
/// Errors. invalid_argument for an arrival that is one too many, and for a number below 0 or above
/// max(). Of calls that wait: no_block in a service or an onready function; out_of_resources;
/// shut_down; the arrival counts then.
/// Source. ISO C++20, [thread.barrier].
template <class CompletionFunction = detail::no_completion>
class barrier : detail::barrier_base {
  static_assert(std::is_nothrow_invocable_v<CompletionFunction &>,
                "the completion function of a barrier is noexcept");

 public:
  /// Names the phase in which its owner has arrived.
  class arrival_token {
   public:
    arrival_token(arrival_token &&) noexcept = default; ///< takes the other one's arrival
    arrival_token &operator=(arrival_token &&) noexcept = default; ///< does the same
    ~arrival_token() = default;

   private:
    friend barrier;
    explicit arrival_token(std::uint32_t phase) noexcept : m_phase(phase) {}
    std::uint32_t m_phase;
  };

  /// Makes a barrier for `expected` arrivals a phase.
  explicit barrier(std::ptrdiff_t expected, CompletionFunction f = CompletionFunction())
      : barrier_base(expected), m_completion(std::move(f)) {}
  /// Returns the largest number of arrivals a phase.
  [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept { return UINT32_MAX; }

  /// Arrives `count` times, without waiting.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) {
    return arrival_token(arrive_in_phase(count));
  }
  /// Waits until the phase of the token is over: the current one, or the one before.
  void wait(arrival_token &&arrival) const { (void)barrier_base::within(arrival.m_phase, {}); }
  /// Waits until the phase of the token is over or a stop is requested. Returns whether it is over.
  [[nodiscard]] bool wait(const arrival_token &arrival, const std::stop_token &stop) const {
    return barrier_base::within(arrival.m_phase, {UINT64_MAX, &stop});
  }
  /// Waits no longer than `most`. Returns whether the phase of the token is over.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(const arrival_token &arrival,
                              const std::chrono::duration<Rep, Period> &most) const {
    return barrier_base::within(arrival.m_phase, detail::limit_of(most));
  }
  /// Waits until `time`. Returns whether the phase of the token is over.
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(const arrival_token &arrival,
                                const std::chrono::time_point<Clock, Duration> &time) const {
    return detail::wait_until_time(time, [&](const detail::wait_limit &limit) {
      return barrier_base::within(arrival.m_phase, limit);
    });
  }
  /// Arrives, and waits until the phase is over.
  void arrive_and_wait() { (void)barrier_base::within(arrive_in_phase(1), {}); }
  /// @{ Lets a coroutine wait until the phase is over: `co_await b.async_arrive_and_wait()`. No stack
  /// waits. The call arrives, not the await. With a stop token or a time the await says whether the
  /// phase is over; the stop token lives until then.
  ///
  /// Errors. Of the await: out_of_resources.
  [[nodiscard]] auto async_wait(arrival_token &&arrival) const noexcept {
    return barrier_base::template awaits<false>(arrival.m_phase, {});
  }
  [[nodiscard]] auto async_wait(const arrival_token &arrival,
                                const std::stop_token &stop) const noexcept {
    return barrier_base::template awaits<true>(arrival.m_phase, {UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_wait_for(const arrival_token &arrival,
                                    const std::chrono::duration<Rep, Period> &most) const {
    return barrier_base::template awaits<true>(arrival.m_phase, detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto
  async_wait_until(const arrival_token &arrival,
                   const std::chrono::time_point<Clock, Duration> &time) const {
    return detail::await_until(
        time, [this, phase = arrival.m_phase](const detail::wait_limit &limit) {
          return barrier_base::template awaits<true>(phase, limit);
        });
  }
  [[nodiscard]] auto async_arrive_and_wait() {
    return barrier_base::template awaits<false>(arrive_in_phase(1), {});
  }
  /// @}
  /// Arrives, and leaves: one arrival less is expected from the next phase on.
  void arrive_and_drop() {
    drop();
    (void)arrive_in_phase(1);
  }

 private:
  std::uint32_t arrive_in_phase(std::ptrdiff_t count) {
    bool last = false;
    const std::uint32_t phase = barrier_base::arrive(count, last);
    if (last) {
      m_completion();
      turn(phase);
    }
    return phase;
  }
  [[no_unique_address]] CompletionFunction m_completion;
};

} // namespace weft::inline v0
