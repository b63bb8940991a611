// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: groups of tasks.
#pragma once

#include <weft/future.hpp>
#include <weft/group.hpp>

#include <utility>

namespace hpx::experimental {

class task_group {
 public:
  template <class F, class... Args>
  void run(F &&f, Args &&...args) {
    m_group.spawn([call = weft::detail::bind_call(
                       static_cast<F &&>(f), static_cast<Args &&>(args)...)]() mutable { call(); });
  }
  /// Waits, and throws the first exception.
  void wait() { m_group.wait(); }

 private:
  weft::task_group m_group;
};

} // namespace hpx::experimental
