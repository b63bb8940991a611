// SPDX-License-Identifier: Apache-2.0
// std::async: the standard library makes a thread per call.
#include "../support/main.hpp"
#include "launch.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <sched.h>

namespace inncabs {

namespace {

std::launch g_policy = std::launch::async;
std::atomic<long> g_threads{0};
long g_most_threads = 0;

/// Counts a call's thread while it runs. Beyond the limit the standard library would throw
/// std::system_error, as it does at the system's own limit; the program ends there.
struct counted_thread {
  ~counted_thread() { g_threads.fetch_sub(1, std::memory_order_relaxed); }
};
bool may_start_thread() {
  if (g_threads.fetch_add(1, std::memory_order_relaxed) < g_most_threads)
    return true;
  g_threads.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

} // namespace

struct standard {
  static constexpr const char *k_name = "std";
  using mutex = std::mutex;
  template <class T>
  using future = std::future<T>;

  struct scope {
    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      std::launch policy = g_policy;
      const bool thread = (policy & std::launch::async) == std::launch::async;
      if (thread && !may_start_thread()) {
        if (policy == std::launch::async)
          end_at_limit(g_most_threads);
        policy = std::launch::deferred; // as the standard library decides when it gets no thread
      }
      const bool counted = (policy & std::launch::async) == std::launch::async;
      try {
        return std::async(policy, [f, counted, ... arguments = std::move(arguments)]() mutable {
          if (!counted)
            return f(std::move(arguments)...);
          const counted_thread here;
          return f(std::move(arguments)...);
        });
      } catch (const std::system_error &) {
        end_at_limit(g_threads.load());
      }
    }
  };

  class runtime {
   public:
    explicit runtime(const configuration &c) {
      g_most_threads = c.threads;
      switch (c.policy) {
      case launch::async:
        g_policy = std::launch::async;
        break;
      case launch::deferred:
        g_policy = std::launch::deferred;
        break;
      case launch::optional:
        g_policy = std::launch::async | std::launch::deferred;
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

int main(int argc, char **argv) { return inncabs::run<inncabs::standard>(argc, argv); }
