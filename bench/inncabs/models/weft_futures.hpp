// SPDX-License-Identifier: Apache-2.0
// Futures of Weft, under each launch policy.
#pragma once

#include "weft_runtime.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

namespace inncabs {

struct weft_futures {
  static constexpr const char *k_name = "weft";
  using mutex = weft::mutex;
  template <class T>
  using future = weft::future<T>;

  static inline weft::launch policy = weft::launch::async;

  struct scope {
    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      return weft::async(policy, f, std::move(arguments)...);
    }
  };

  class runtime : public weft_runtime {
   public:
    explicit runtime(const configuration &c) : weft_runtime(c) {
      switch (c.policy) {
      case launch::async:
        policy = weft::launch::async;
        break;
      case launch::deferred:
        policy = weft::launch::deferred;
        break;
      case launch::optional:
        policy = weft::launch::async | weft::launch::deferred;
        break;
      case launch::fork:
        policy = weft::launch::fork;
        break;
      }
    }
    /// Runs the program as a task: on a thread's own stack no wait runs what it waits for.
    template <class F>
    void call(F &&f) {
      weft::async([&f] { f(); }).get();
    }
  };
};

} // namespace inncabs
