// SPDX-License-Identifier: Apache-2.0
// The policies of the parallel algorithms.
#pragma once

#include <weft/detail/call_on.hpp>
#include <weft/detail/skeletons.hpp>
#include <weft/function.hpp>
#include <weft/worker_set.hpp>

#include <concepts>
#include <exception>
#include <iterator>
#include <ranges>
#include <type_traits>

namespace weft::inline v0 {

namespace execution {

/// Gives a block so many elements. An explicit grain always wins; 0 means that the algorithm
/// chooses.
struct grain {
  explicit constexpr grain(std::uint64_t n) noexcept : elements(n) {}
  std::uint64_t elements; ///< of a block
};
/// Lets the algorithm choose its blocks by the time that an element takes: the default.
struct auto_chunk_t {};
inline constexpr auto_chunk_t auto_chunk{};
/// Gives each worker one block of equal size.
struct static_chunk_t {};
inline constexpr static_chunk_t static_chunk{};

template <class Policy>
class task_policy;
/// Makes an algorithm return at once, with the future of its result: par(task).
struct task_t {};
inline constexpr task_t task{}; ///< the tag itself

/// Says how an algorithm may run. A value is two words and a few; with() and on() return a changed
/// copy.
///
///     weft::for_each(weft::execution::par.with(weft::execution::grain(64)), v, f);
template <bool Parallel, bool Unsequenced>
class policy {
 public:
  static constexpr bool is_parallel = Parallel; ///< whether several workers may take part
  static constexpr bool is_unsequenced =
      Unsequenced; ///< whether calls on one thread may interleave, as for vector instructions

  /// @{
  /// Returns the policy with another way to cut, or another treatment of exceptions.
  [[nodiscard]] constexpr policy with(grain size) const noexcept {
    policy p = *this;
    p.m_control.grain = size.elements;
    p.m_control.one_block_each = false;
    return p;
  }
  [[nodiscard]] constexpr policy with(auto_chunk_t) const noexcept { return with(grain(0)); }
  [[nodiscard]] constexpr policy with(static_chunk_t) const noexcept {
    policy p = *this;
    p.m_control.grain = 0;
    p.m_control.one_block_each = true;
    return p;
  }
  [[nodiscard]] constexpr policy with(exception_policy errors) const noexcept {
    policy p = *this;
    p.m_control.errors = errors;
    return p;
  }
  /// @}
  /// Returns the policy for these workers alone: the algorithm runs as an independent function on
  /// the set, and the caller waits for it.
  [[nodiscard]] policy on(const worker_set &set) const {
    policy p = *this;
    p.m_set = set;
    p.m_has_set = true;
    p.m_control.participants = static_cast<unsigned>(set.size());
    return p;
  }

  /// Returns the policy under which an algorithm runs as a task and returns a future.
  [[nodiscard]] constexpr task_policy<policy> operator()(task_t) const noexcept {
    return task_policy<policy>(*this);
  }

  /// @{
  /// Returns what the algorithms read.
  [[nodiscard]] constexpr const detail::loop_control &control() const noexcept { return m_control; }
  [[nodiscard]] constexpr bool has_set() const noexcept { return m_has_set; }
  [[nodiscard]] const worker_set &set() const noexcept { return m_set; }
  /// @}

 private:
  detail::loop_control m_control;
  worker_set m_set;
  bool m_has_set = false;
};

/// Says that an algorithm runs as a task, by the policy within: par(task). weft/algorithm.hpp has the
/// overloads.
template <class Policy>
class task_policy {
 public:
  explicit constexpr task_policy(const Policy &within) noexcept : m_within(within) {}
  /// Returns the policy that the algorithm runs by.
  [[nodiscard]] constexpr const Policy &within() const noexcept { return m_within; }

 private:
  Policy m_within;
};

using sequenced_policy = policy<false, false>;
using unsequenced_policy = policy<false, true>;
using parallel_policy = policy<true, false>;
using parallel_unsequenced_policy = policy<true, true>;

inline constexpr sequenced_policy seq{}; ///< on the caller, one element after the other
inline constexpr unsequenced_policy unseq{}; ///< on the caller, with vector instructions
inline constexpr parallel_policy par{}; ///< on all workers
inline constexpr parallel_unsequenced_policy par_unseq{}; ///< both

} // namespace execution

namespace detail {

template <class P>
inline constexpr bool is_policy = false;
template <bool Parallel, bool Unsequenced>
inline constexpr bool is_policy<execution::policy<Parallel, Unsequenced>> = true;
template <class P>
concept policy_type = is_policy<P>;

/// Holds for what the algorithms take in the place of an iterator.
template <class It>
concept iterator_type = requires(It it) {
  *it;
  ++it;
};
template <class It>
inline constexpr bool is_random_access =
    std::random_access_iterator<It> ||
    std::is_base_of_v<std::random_access_iterator_tag,
                      typename std::iterator_traits<It>::iterator_category>;

/// Says whether the algorithm runs in parallel over such iterators; else it runs in order.
template <class P, class... It>
inline constexpr bool shares = P::is_parallel && (is_random_access<It> && ...);

template <class It>
using value_of = typename std::iterator_traits<It>::value_type;
template <class It>
using difference_of = typename std::iterator_traits<It>::difference_type;

/// Returns the iterator of element i.
template <class It>
constexpr It at(It first, std::uint64_t i) {
  return first + static_cast<difference_of<It>>(i);
}
template <class It>
std::uint64_t count_between(It first, It last) {
  return static_cast<std::uint64_t>(last - first);
}

/// Calls f on the workers of the policy.
template <class P, class F>
decltype(auto) place(const P &policy, F &&f) {
  using result = decltype(f());
  if (!policy.has_set()) [[likely]]
    return f();
  std::exception_ptr error;
  const auto run = [&](auto &&keep) {
    auto body = [&] {
      try {
        keep();
      } catch (...) {
        error = std::current_exception();
        if (!error)
          throw; // no C++ exception: pthread_exit() or pthread_cancel() ends the thread
      }
    };
    call_on(policy.set(), [](void *b) { (*static_cast<decltype(body) *>(b))(); }, &body);
    if (error)
      std::rethrow_exception(std::move(error));
  };
  if constexpr (std::is_void_v<result>) {
    run([&] { f(); });
  } else {
    std::optional<result> value;
    run([&] { value.emplace(f()); });
    return result(std::move(*value));
  }
}

/// Calls f in order, for a policy or iterators that do not allow more. Of a sequential policy only
/// what the program says of it counts, not the setting.
template <class P, class F>
decltype(auto) in_order(const P &policy, F &&f) {
  if constexpr (!P::is_parallel)
    if (policy.control().errors == exception_policy::by_setting) [[likely]]
      return f();
  return with_errors(policy.control(), static_cast<F &&>(f));
}

/// Calls f(i) for the i of a block.
template <class P, class F>
void each_of(std::uint64_t first, std::uint64_t count, F &&f) {
  if constexpr (P::is_unsequenced) {
#if defined(__clang__)
#pragma clang loop interleave(enable)
#else
#pragma GCC ivdep
#endif
    for (std::uint64_t i = first; i < first + count; ++i)
      f(i);
  } else {
    for (std::uint64_t i = first; i < first + count; ++i)
      f(i);
  }
}

/// Calls f(i) for each i of [0, n).
template <class P, class F>
void for_indices(const P &policy, std::uint64_t n, F f) {
  for_blocks<F>(policy.control(), n,
                [&f](std::uint64_t first, std::uint64_t count) { each_of<P>(first, count, f); });
}

/// Says whether a serial call is the better one: nothing to share, or not worth it.
template <class Tag, class P>
bool stays_in_order(const P &policy, std::uint64_t n) {
  return n < 2 || !pays(policy.control(), site_of<Tag>, static_cast<double>(n));
}

/// Runs the serial algorithm, and remembers what an element takes.
template <class Tag, class P, class F>
decltype(auto) remembered(const P &policy, std::uint64_t n, F &&serial) {
  struct clock {
    std::uint64_t begin = loop_clock(), count;
    explicit clock(std::uint64_t cost) : count(cost) {}
    ~clock() { remember(site_of<Tag>, loop_clock() - begin, static_cast<double>(count)); }
  };
  return in_order(policy, [&]() -> decltype(auto) {
    std::optional<clock> timed;
    if (n > 64 || site_of<Tag>.ns.load(std::memory_order_relaxed) <= 0)
      timed.emplace(n);
    return serial();
  });
}

/// Returns the least i of [0, n) with is(i), or n.
template <class P, class F>
std::uint64_t find_index(const P &policy, std::uint64_t n, F is) {
  return find_block<F>(policy.control(), n, [&is](std::uint64_t first, std::uint64_t count) {
    const std::uint64_t end = first + count;
    std::uint64_t i = first;
    for (; end - i >= 4; i += 4) { // as the standard's own do
      if (is(i))
        return i;
      if (is(i + 1))
        return i + 1;
      if (is(i + 2))
        return i + 2;
      if (is(i + 3))
        return i + 3;
    }
    while (i < end && !is(i))
      ++i;
    return i;
  });
}

/// Returns op over value(i) for i of [first, first + 4), in pairs.
template <class T, class Value, class Op>
[[gnu::always_inline]] inline T fold_four(std::uint64_t first, Value &value, Op &op) {
  T left(op(T(value(first)), T(value(first + 1)))),
      right(op(T(value(first + 2)), T(value(first + 3))));
  return T(op(std::move(left), std::move(right)));
}

/// Returns op over `sum` and value(i) for i of [first, end), in order. A function of its own, because a
/// sum that lives across the calls around the loop would lie in memory: twice the time per element.
/// Elements are put together first, so that the sum waits for one operation in eight (of other types
/// than numbers: in four), and not for each.
template <class T, class Value, class Op>
[[gnu::noinline]] T fold(T sum, std::uint64_t first, std::uint64_t end, Value &value, Op &op) {
  if constexpr (std::is_arithmetic_v<T>)
    for (; end - first >= 8; first += 8) {
      T left(fold_four<T>(first, value, op)), right(fold_four<T>(first + 4, value, op));
      sum = op(sum, T(op(left, right)));
      if constexpr (std::is_floating_point_v<T>)
        asm("" : "+r"(first)); // elements of one vector: GCC's -O3 shuffles for longer than it adds
    }
  for (; end - first >= 4; first += 4) {
    sum = op(std::move(sum), fold_four<T>(first, value, op));
    if constexpr (std::is_floating_point_v<T>)
      asm("" : "+r"(first));
  }
  for (; first < end; ++first)
    sum = op(std::move(sum), value(first));
  return sum;
}

/// Reduces value(i) for i of [0, n) by op, in order.
template <class T, class P, class Value, class Op>
std::optional<T> reduce_indices(const P &policy, std::uint64_t n, Value value, Op op) {
  struct tag {};
  return reduce_blocks<tag, T>(
      policy.control(), n,
      [&](std::uint64_t first, std::uint64_t count) {
        return fold(T(value(first)), first + 1, first + count, value, op);
      },
      [&](T &into, std::uint64_t first, std::uint64_t count) {
        into = fold(std::move(into), first, first + count, value, op);
      },
      op);
}

/// Returns op over init and value(i) for i of [0, n), in order. A short loop is one call of fold(): a
/// look at an optional sum would take a third of the time of 100 elements.
template <class T, class P, class Value, class Op>
T reduce_onto(const P &policy, T init, std::uint64_t n, Value value, Op op) {
  struct tag {};
  const loop_control &control = policy.control();
  if (is_one_block<tag>(control, n)) [[likely]]
    return as_one_block<tag>(
        control, n, [&] { return fold(std::move(init), std::uint64_t{0}, n, value, op); });
  std::optional<T> sum = reduce_timed_blocks<tag, T>(
      control, n,
      [&](std::uint64_t first, std::uint64_t count) {
        return fold(T(value(first)), first + 1, first + count, value, op);
      },
      [&](T &into, std::uint64_t first, std::uint64_t count) {
        into = fold(std::move(into), first, first + count, value, op);
      },
      op);
  return with_errors(control, [&]() -> T {
    if (!sum)
      return std::move(init);
    return T(op(std::move(init), std::move(*sum)));
  });
}

} // namespace detail

using detail::iterator_type;
using detail::policy_type;

} // namespace weft::inline v0
