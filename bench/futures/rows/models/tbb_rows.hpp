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

/// Is a call in the task_group that `Group` gives, and its result.
template <class Group, class F>
class tbb_call {
 public:
  explicit tbb_call(F f) {
    m_group.get().run([this, f = std::move(f)] { m_value = f(); });
  }
  tbb_call(const tbb_call &) = delete;
  tbb_call &operator=(const tbb_call &) = delete;
  auto get() {
    m_group.get().wait();
    return m_value;
  }

 private:
  Group m_group;
  std::invoke_result_t<F> m_value{};
};

/// Has a group for each call, so that a caller waits for one of several, as with futures.
struct tbb_rows {
  static constexpr const char *k_name = "tbb";
  static constexpr bool k_threads = true;

  class own_group {
   public:
    tbb::task_group &get() { return m_group; }

   private:
    tbb::task_group m_group;
  };
  template <class F>
  static tbb_call<own_group, F> async(F f) {
    return tbb_call<own_group, F>(std::move(f));
  }
  template <class F>
  static void call(int workers, F f) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(workers));
    tbb::task_arena(workers).execute(std::move(f));
  }
};

} // namespace rows
