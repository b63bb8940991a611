// SPDX-License-Identifier: Apache-2.0
// The standard library's futures: a thread per call.
#pragma once

#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <utility>

namespace rows {

struct std_rows {
  static constexpr const char *k_name = "std";
  static constexpr bool k_threads = true;
  template <class T>
  using promise = std::promise<T>;
  using mutex = std::mutex;
  using latch = std::latch;
  using semaphore = std::counting_semaphore<>;

  template <class F>
  static auto async(F f) {
    return std::async(std::launch::async, std::move(f));
  }
  template <class F>
  static void call(int, F f) {
    f();
  }
};

} // namespace rows
