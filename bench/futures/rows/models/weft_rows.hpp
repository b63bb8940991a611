// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weft/future.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <string>

namespace rows {

struct weft_rows {
  static constexpr const char *k_name = "weft";
  static constexpr bool k_threads = true;
  template <class T>
  using promise = weft::promise<T>;
  template <class T>
  using shared_future = weft::shared_future<T>;
  using mutex = weft::mutex;
  using latch = weft::latch;
  using semaphore = weft::counting_semaphore<>;
  struct channel {
    explicit channel(std::size_t size) : c(size) {}
    void push(long v) { static_cast<void>(c.push(v)); }
    void pop(long &v) { static_cast<void>(c.pop(v)); }
    weft::channel<long> c;
  };
  struct add_one {
    long operator()(long v) const { return v + 1; }
  };

  template <class F>
  static auto async(F f) {
    return weft::async(std::move(f));
  }
  template <class Futures>
  static auto when_all(Futures &futures) {
    return weft::when_all(std::move(futures));
  }
  static void yield() { weft::taskyield(); }
  /// Calls f in a task: on a thread's own stack nothing runs in place.
  template <class F>
  static void call(int workers, F f) {
    weft::configure("workers", std::to_string(workers).c_str());
    weft::async(std::move(f)).get();
  }
};

} // namespace rows
