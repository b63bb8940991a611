// SPDX-License-Identifier: Apache-2.0
// Tasks of Weft with handles of their results.
#pragma once

#include "weft_runtime.hpp"

#include <weft/weft.hpp>

namespace inncabs {

struct weft_handles {
  static constexpr const char *k_name = "weft";
  using mutex = weft::mutex;
  template <class T>
  using future = weft::handle<T>;

  struct scope {
    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      return weft::spawn([f, ... arguments = std::move(
                                 arguments)]() mutable { return f(std::move(arguments)...); },
                         weft::tracked);
    }
  };

  class runtime : public weft_runtime {
   public:
    explicit runtime(const configuration &c) : weft_runtime(c) { require_async(c.policy, k_name); }
  };
};

} // namespace inncabs
