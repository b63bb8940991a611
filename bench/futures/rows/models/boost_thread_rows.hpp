// SPDX-License-Identifier: Apache-2.0
// Boost.Thread: a thread per call; a continuation runs in the thread that keeps the promise.
#pragma once

#define BOOST_THREAD_VERSION 5
#include <boost/thread/future.hpp>
#include <boost/thread/latch.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/sync_bounded_queue.hpp>
#include <cstddef>
#include <utility>

namespace rows {

struct boost_thread_rows {
  static constexpr const char *k_name = "boost-thread";
  static constexpr bool k_threads = true;
  template <class T>
  using promise = boost::promise<T>;
  template <class T>
  using shared_future = boost::shared_future<T>;
  using mutex = boost::mutex;
  using latch = boost::latch;
  struct channel {
    explicit channel(std::size_t size) : c(size) {}
    void push(long v) { c.push(v); }
    void pop(long &v) { c.pull(v); }
    boost::sync_bounded_queue<long> c;
  };

  struct add_one {
    long operator()(boost::future<long> v) const { return v.get() + 1; }
  };

  template <class F>
  static auto async(F f) {
    return boost::async(boost::launch::async, std::move(f));
  }
  template <class Futures>
  static auto when_all(Futures &futures) {
    return boost::when_all(futures.begin(), futures.end());
  }
  template <class F>
  static void call(int, F f) {
    f();
  }
};

} // namespace rows
