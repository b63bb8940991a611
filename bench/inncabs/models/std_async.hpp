// SPDX-License-Identifier: Apache-2.0
// std::async: the standard library makes a thread per call.
#pragma once

#include "../support/request.hpp"
#include "launch.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <sched.h>

namespace inncabs {

struct std_async {
  static constexpr const char *k_name = "std";
  using mutex = std::mutex;
  template <class T>
  using future = std::future<T>;

  static inline std::launch policy = std::launch::async;
  static inline std::atomic<long> threads{0};
  static inline long most_threads = 0;

  /// Counts a call's thread while it runs. Beyond the limit the standard library would throw
  /// std::system_error, as it does at the system's own limit; the program ends there.
  struct counted_thread {
    ~counted_thread() { threads.fetch_sub(1, std::memory_order_relaxed); }
  };
  static bool may_start_thread() {
    if (threads.fetch_add(1, std::memory_order_relaxed) < most_threads)
      return true;
    threads.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }

  struct scope {
    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      std::launch how = policy;
      const bool thread = (how & std::launch::async) == std::launch::async;
      if (thread && !may_start_thread()) {
        if (how == std::launch::async)
          end_at_limit(most_threads);
        how = std::launch::deferred; // as the standard library decides when it gets no thread
      }
      const bool counted = (how & std::launch::async) == std::launch::async;
      try {
        return std::async(how, [f, counted, ... arguments = std::move(arguments)]() mutable {
          if (!counted)
            return f(std::move(arguments)...);
          const counted_thread here;
          return f(std::move(arguments)...);
        });
      } catch (const std::system_error &) {
        end_at_limit(threads.load());
      }
    }
  };

  class runtime {
   public:
    explicit runtime(const configuration &c) {
      most_threads = c.threads;
      switch (c.policy) {
      case launch::async:
        policy = std::launch::async;
        break;
      case launch::deferred:
        policy = std::launch::deferred;
        break;
      case launch::optional:
        policy = std::launch::async | std::launch::deferred;
        break;
      case launch::fork:
        throw std::runtime_error("std has no launch policy fork; it has async, deferred, optional");
      }
      use_processors(c.workers);
    }
    template <class F>
    void call(F &&f) {
      f();
    }
    void begin_sample() {}
    template <class F>
    void end_sample(F &&) {}

   private:
    /// There is no number of workers to set, so the process gets so many processors.
    static void use_processors(int workers) {
      cpu_set_t allowed;
      if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
      for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &allowed) && workers-- <= 0)
          CPU_CLR(cpu, &allowed);
      sched_setaffinity(0, sizeof allowed, &allowed);
    }
  };
};

} // namespace inncabs
