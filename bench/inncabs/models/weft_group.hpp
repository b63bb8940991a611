// SPDX-License-Identifier: Apache-2.0
// Tasks of Weft, in a group per scope.
#pragma once

#include "scoped.hpp"
#include "weft_runtime.hpp"

#include <weft/weft.hpp>

namespace inncabs {

namespace detail {

struct weft_calls {
  weft::task_group group;
  template <class F>
  void run(F f) {
    group.spawn(std::move(f));
  }
  void wait() { group.wait(); }
};

} // namespace detail

struct weft_group : scoped<detail::weft_calls> {
  static constexpr const char *k_name = "weft-group";
  using mutex = weft::mutex;

  class runtime : public weft_runtime {
   public:
    explicit runtime(const configuration &c) : weft_runtime(c) { require_async(c.policy, k_name); }
  };
};

} // namespace inncabs
