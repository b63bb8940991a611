// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber, on one thread.
#pragma once

#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/future.hpp>
#include <boost/fiber/mutex.hpp>
#include <boost/fiber/operations.hpp>
#include <cstddef>
#include <utility>

namespace rows {

struct boost_fiber_rows {
  static constexpr const char *k_name = "boost-fiber";
  static constexpr bool k_threads = false;
  template <class T>
  using promise = boost::fibers::promise<T>;
  using mutex = boost::fibers::mutex;
  struct channel {
    explicit channel(std::size_t size) : c(size) {}
    void push(long v) { c.push(v); }
    void pop(long &v) { c.pop(v); }
    boost::fibers::buffered_channel<long> c;
  };

  template <class F>
  static auto async(F f) {
    return boost::fibers::async(std::move(f));
  }
  static void yield() { boost::this_fiber::yield(); }
  template <class F>
  static void call(int, F f) {
    boost::fibers::async(std::move(f)).get();
  }
};

} // namespace rows
