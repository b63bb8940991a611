// SPDX-License-Identifier: Apache-2.0
// Tasks of oneTBB, in a task_group per scope.
#pragma once

#include "launch.hpp"
#include "slot.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace inncabs {

struct tbb_group {
  static constexpr const char *k_name = "tbb";
  using mutex = tbb::mutex;

  struct scope;

  template <class T>
  class future {
   public:
    template <class F>
    future(scope &here, F f) : m_scope(here) {
      here.open = true;
      here.group.run([this, f = std::move(f)] {
        F once = f; // the callable is const, and its arguments are moved from
        m_value.fill(once);
      });
    }
    future(const future &) = delete;
    future &operator=(const future &) = delete;
    T get() {
      m_scope.wait();
      return m_value.take();
    }

   private:
    scope &m_scope;
    mutable slot<T> m_value;
  };

  struct scope {
    tbb::task_group group;
    bool open = false; // calls have been made since the last wait

    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      return future<std::invoke_result_t<F, Arguments...>>(
          *this, [f, ... arguments = std::move(arguments)]() mutable {
            return f(std::move(arguments)...);
          });
    }
    void wait() {
      if (open)
        group.wait();
      open = false;
    }
  };

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
