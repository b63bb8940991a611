// SPDX-License-Identifier: Apache-2.0
// Fibers of Boost, which threads steal from each other. A child runs before its creator goes on:
// otherwise all fibers of a level, with their stacks, would exist at a time.
#pragma once

#include "launch.hpp"

#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/future.hpp>
#include <boost/fiber/mutex.hpp>
#include <boost/fiber/operations.hpp>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace inncabs {

struct boost_fiber {
  static constexpr const char *k_name = "boost-fiber";
  using mutex = boost::fibers::mutex;
  template <class T>
  using future = boost::fibers::future<T>;

  struct scope {
    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      return boost::fibers::async(boost::fibers::launch::dispatch,
                                  [f, ... arguments = std::move(arguments)]() mutable {
                                    return f(std::move(arguments)...);
                                  });
    }
  };

  class runtime {
   public:
    explicit runtime(const configuration &c) {
      require_async(c.policy, k_name);
      const auto workers = static_cast<std::uint32_t>(c.workers);
      if (workers == 1)
        return;
      for (std::uint32_t i = 1; i < workers; ++i)
        m_threads.emplace_back([this, workers] {
          use_stealing(workers);
          std::unique_lock here(m_mutex);
          m_over.wait(here, [this] { return m_ended; });
        });
      use_stealing(workers);
    }
    runtime(const runtime &) = delete;
    runtime &operator=(const runtime &) = delete;
    ~runtime() {
      {
        const std::lock_guard here(m_mutex);
        m_ended = true;
      }
      m_over.notify_all();
      for (std::thread &t : m_threads)
        t.join();
    }
    /// Runs the root in a fiber, which any thread may go on with.
    template <class F>
    void call(F &&f) {
      boost::fibers::async(std::forward<F>(f)).get();
    }
    void begin_sample() {}
    template <class F>
    void end_sample(F &&) {}

   private:
    static void use_stealing(std::uint32_t workers) {
      boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(workers, true);
    }
    std::vector<std::thread> m_threads;
    boost::fibers::mutex m_mutex;
    boost::fibers::condition_variable m_over;
    bool m_ended = false;
  };
};

} // namespace inncabs
