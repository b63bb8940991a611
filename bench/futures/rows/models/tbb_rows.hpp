// SPDX-License-Identifier: Apache-2.0
// Calls in tbb::task_group, whose results lie beside their groups: TBB has no future.
#pragma once

#include <cstddef>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <type_traits>
#include <utility>

namespace rows {

/// Has a group for each call, so that a caller waits for one of several, as with futures.
struct tbb_rows {
  static constexpr const char *k_name = "tbb";
  static constexpr bool k_threads = true;

  template <class F>
  class result {
   public:
    explicit result(F f) {
      m_group.run([this, f = std::move(f)] { m_value = f(); });
    }
    result(const result &) = delete;
    result &operator=(const result &) = delete;
    auto get() {
      m_group.wait();
      return m_value;
    }

   private:
    tbb::task_group m_group;
    std::invoke_result_t<F> m_value{};
  };

  template <class F>
  static result<F> async(F f) {
    return result<F>(std::move(f));
  }
  template <class F>
  static void call(int workers, F f) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(workers));
    tbb::task_arena(workers).execute(std::move(f));
  }
};

} // namespace rows
