// SPDX-License-Identifier: Apache-2.0
// Tasks of oneTBB, in a task_group per scope.
#pragma once

#include "launch.hpp"
#include "scoped.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace inncabs {

namespace detail {

/// Runs what the model calls in a group. A group's callable is const; the call moves its arguments.
struct tbb_calls {
  tbb::task_group group;
  template <class F>
  void run(F f) {
    group.run([f = std::move(f)] {
      F once = f;
      once();
    });
  }
  void wait() { group.wait(); }
};

} // namespace detail

struct tbb_group : scoped<detail::tbb_calls> {
  static constexpr const char *k_name = "tbb";
  using mutex = tbb::mutex;

  class runtime {
   public:
    explicit runtime(const configuration &c)
        : m_workers(tbb::global_control::max_allowed_parallelism,
                    static_cast<std::size_t>(c.workers)),
          m_arena(c.workers) {
      require_async(c.policy, k_name);
    }
    template <class F>
    void call(F &&f) {
      m_arena.execute(f);
    }
    void begin_sample() {}
    template <class F>
    void end_sample(F &&) {}

   private:
    tbb::global_control m_workers;
    tbb::task_arena m_arena;
  };
};

} // namespace inncabs
