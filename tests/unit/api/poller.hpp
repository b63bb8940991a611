// SPDX-License-Identifier: Apache-2.0
// A service that counts its calls, and those that overlap.
#pragma once

#include <atomic>

namespace test {

struct poller {
  std::atomic<int> calls{0}, inside{0}, overlaps{0};
  bool busy = false;
  static bool call(void *context) {
    auto &self = *static_cast<poller *>(context);
    self.overlaps += self.inside++ != 0;
    ++self.calls;
    for (int i = 0; i != 100; ++i)
      self.overlaps += self.inside != 1;
    --self.inside;
    return self.busy;
  }
};

} // namespace test
