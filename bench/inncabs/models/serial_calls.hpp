// SPDX-License-Identifier: Apache-2.0
// The programs without tasks: what the others are compared with.
#pragma once

#include "launch.hpp"
#include "serial.hpp"

namespace inncabs {

struct serial_calls : serial {
  static constexpr const char *k_name = "serial";

  class runtime {
   public:
    explicit runtime(const configuration &c) { require_async(c.policy, k_name); }
    template <class F>
    void call(F &&f) {
      f();
    }
    void begin_sample() {}
    template <class F>
    void end_sample(F &&) {}
  };
};

} // namespace inncabs
