// SPDX-License-Identifier: Apache-2.0
// Calls in one tbb::task_group, which has to wait for all of them: a floor of TBB, not a future.
#pragma once

#include "tbb_rows.hpp"

namespace rows {

/// Has one group for all calls, which is TBB's fastest way while one call is open at a time.
struct tbb_one_group_rows {
  static constexpr const char *k_name = "tbb-one-group";
  static constexpr bool k_threads = true;

  struct shared_group {
    static tbb::task_group &get() { return *group; }
  };
  template <class F>
  static tbb_call<shared_group, F> async(F f) {
    return tbb_call<shared_group, F>(std::move(f));
  }
  template <class F>
  static void call(int workers, F f) {
    tbb_rows::call(workers, [&f] {
      tbb::task_group all;
      group = &all;
      f();
    });
  }

  inline static tbb::task_group *group = nullptr;
};

} // namespace rows
