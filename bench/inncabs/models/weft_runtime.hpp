// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch.hpp"

#include <weft/counters.hpp>
#include <weft/weft.hpp>

#include <optional>
#include <string>

namespace inncabs {

/// Starts Weft, and reads its counters around each sample.
class weft_runtime {
 public:
  explicit weft_runtime(const configuration &c) {
    weft::configure("workers", std::to_string(c.workers).c_str());
    weft::start();
  }
  template <class F>
  void call(F &&f) {
    f();
  }
  void begin_sample() { m_before.emplace(weft::counters::take()); }
  /// Calls print(name, value): what the thesis' counters say of the sample.
  template <class F>
  void end_sample(F &&print) {
    const weft::counters::snapshot spent = weft::counters::take() - *m_before;
    print("task_ns", spent.value("/threads/time/average"));
    print("overhead_ns", spent.value("/threads/time/average-overhead"));
    print("management_ns", spent.value("/threads/time/average-management"));
  }

 private:
  std::optional<weft::counters::snapshot> m_before;
};

} // namespace inncabs
