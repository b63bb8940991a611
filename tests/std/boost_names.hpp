// SPDX-License-Identifier: Apache-2.0
// What a test of Boost.Thread includes in the place of Boost's headers: Boost's names over Weft's.
#pragma once

#include <weft/future.hpp>
#include <weft/sync.hpp>
#include <weft/thread.hpp>

#include <cassert>
#include <chrono>
#include <climits>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace boost {
using weft::async;
using weft::future;
using weft::launch;
using weft::make_ready_future;
using weft::mutex;
using weft::packaged_task;
using weft::promise;
using weft::shared_future;
using weft::thread;
using weft::when_all;
template <class T>
using unique_future = weft::future<T>; // its former name
namespace this_thread = weft::this_thread;
namespace chrono = std::chrono;
namespace csbl = std;

/// @{ Returns the futures alone, as Boost does; Weft's result has the number of the ready one, too.
template <class T>
constexpr bool is_iterator = requires { typename std::iterator_traits<T>::iterator_category; };
template <class First, class... Rest>
  requires(!is_iterator<std::decay_t<First>>)
auto when_any(First &&first, Rest &&...rest) {
  return weft::when_any(static_cast<First &&>(first), static_cast<Rest &&>(rest)...)
      .then([](auto all) { return std::move(all.get().futures); });
}
template <class Iterator>
  requires is_iterator<Iterator>
auto when_any(Iterator first, Iterator last) {
  return weft::when_any(first, last).then([](auto all) { return std::move(all.get().futures); });
}
inline auto when_any() { return weft::when_all(); }
/// @}

using std::add_lvalue_reference;
using std::allocator_arg;
using std::exception_ptr;
using std::future_errc;
using std::future_error;
using std::future_status;
using std::is_copy_constructible;
using std::is_same;
using std::lock_guard;
using std::move;
using std::ref;
using std::remove_reference;
using std::true_type;
template <class E>
exception_ptr copy_exception(const E &error) {
  return std::make_exception_ptr(error);
}
namespace system {
using std::make_error_code;
} // namespace system
template <class T>
using has_move_emulation_enabled = std::false_type; // of C++98
template <class To, class From>
To underlying_cast(From from) {
  return static_cast<To>(from);
}

/// Counts what BOOST_TEST found wrong.
inline int &errors() {
  static int count = 0;
  return count;
}
inline void check(bool holds, const char *text, const char *file, int line) {
  if (holds)
    return;
  ++errors();
  std::cerr << file << ':' << line << ": does not hold: " << text << '\n';
}
inline int report_errors() { return errors() != 0; }
} // namespace boost

#define BOOST_TEST(x) ::boost::check(static_cast<bool>(x), #x, __FILE__, __LINE__)
#define BOOST_TEST_EQ(a, b) BOOST_TEST((a) == (b))
#define BOOST_TEST_LT(a, b) BOOST_TEST((a) < (b))
// Bounds of time: less than the sleeps of the tests, and enough for a machine with other work.
#define BOOST_THREAD_TEST_TIME_MS 400
#define BOOST_THREAD_TEST_IT(a, b) BOOST_TEST_LT(a, b)
#define BOOST_STATIC_ASSERT(...) static_assert(__VA_ARGS__)
#define BOOST_STATIC_ASSERT_MSG(x, text) static_assert(x, text)
#define BOOST_THROW_EXCEPTION(x) throw x
// The moves of C++11.
#define BOOST_RV_REF(T) T &&
#define BOOST_THREAD_RV_REF(T) T &&
#define BOOST_THREAD_RV_REF_BEG
#define BOOST_THREAD_RV_REF_END &&
#define BOOST_THREAD_RV(x) x
#define BOOST_THREAD_MAKE_RV_REF(x) x
#define BOOST_THREAD_COPY_ASSIGN_REF(T) const T &
#define BOOST_THREAD_COPYABLE_AND_MOVABLE(T)
#define BOOST_THREAD_DCL_MOVABLE(T)
#define BOOST_THREAD_MOVABLE_ONLY(T)                                                               \
  T(const T &) = delete;                                                                           \
  T &operator=(const T &) = delete;
#define BOOST_THREAD_LOG std::ostringstream()
#define BOOST_THREAD_END_LOG ""
// What Boost's version 4 of the interface has.
#define BOOST_THREAD_USES_CHRONO
#define BOOST_THREAD_PROVIDES_VARIADIC_THREAD
#define BOOST_THREAD_PROVIDES_SIGNATURE_PACKAGED_TASK
#define BOOST_THREAD_PROVIDES_FUTURE_CTOR_ALLOCATORS
#define BOOST_THREAD_PROVIDES_FUTURE_INVALID_AFTER_GET
#define BOOST_THREAD_PROVIDES_FUTURE_CONTINUATION
#define BOOST_THREAD_PROVIDES_FUTURE_WHEN_ALL_WHEN_ANY
