// SPDX-License-Identifier: Apache-2.0
// Futures in HPX's public names, which layers/hpx has on Weft.
#pragma once

#include "launch.hpp"

#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/mutex.hpp>

#include <string>
#include <utility>

namespace inncabs {

struct hpx_futures {
  static constexpr const char *k_name = "hpx";
  using mutex = hpx::mutex;
  template <class T>
  using future = hpx::future<T>;
  static inline hpx::launch policy = hpx::launch::async;

  struct scope {
    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      return hpx::async(policy, f, std::move(arguments)...);
    }
  };

  class runtime {
   public:
    explicit runtime(const configuration &c) {
      if (c.policy == launch::deferred)
        policy = hpx::launch::deferred;
      else if (c.policy == launch::fork)
        policy = hpx::launch::fork;
      else if (c.policy == launch::optional)
        policy = hpx::launch::async | hpx::launch::deferred;
      hpx::init_params params;
      params.cfg = {"hpx.os_threads=" + std::to_string(c.workers)};
      const char *const name[] = {k_name};
      hpx::start(nullptr, 1, name, params);
    }
    ~runtime() { hpx::stop(); }
    runtime(const runtime &) = delete;
    runtime &operator=(const runtime &) = delete;
    template <class F>
    void call(F &&f) {
      hpx::async(std::forward<F>(f)).get();
    }
    void begin_sample() {}
    template <class F>
    void end_sample(F &&) {}
  };
};

} // namespace inncabs
