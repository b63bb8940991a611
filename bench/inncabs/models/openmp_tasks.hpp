// SPDX-License-Identifier: Apache-2.0
// Tasks of OpenMP; a future waits with taskwait, for all children of the task.
#pragma once

#include "launch.hpp"
#include "slot.hpp"

#include <omp.h>

namespace inncabs {

struct openmp_tasks {
  static constexpr const char *k_name = "openmp";

  class mutex {
   public:
    mutex() { omp_init_lock(&m_lock); }
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;
    ~mutex() { omp_destroy_lock(&m_lock); }
    void lock() { omp_set_lock(&m_lock); }
    void unlock() { omp_unset_lock(&m_lock); }

   private:
    omp_lock_t m_lock;
  };

  struct scope;

  template <class T>
  class future {
   public:
    template <class F>
    future(scope &here, F f) : m_scope(here) {
      here.open = true;
      slot<T> *const to = &m_value;
#pragma omp task firstprivate(to, f)
      to->fill(f);
    }
    future(const future &) = delete;
    future &operator=(const future &) = delete;
    T get() {
      m_scope.wait();
      return m_value.take();
    }

   private:
    scope &m_scope;
    slot<T> m_value;
  };

  struct scope {
    bool open = false; // calls have been made since the last wait

    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      return future<std::invoke_result_t<F, Arguments...>>(
          *this, [f, ... arguments = std::move(arguments)]() mutable {
            return f(std::move(arguments)...);
          });
    }
    void wait() {
      if (open) {
#pragma omp taskwait
      }
      open = false;
    }
  };

  class runtime {
   public:
    explicit runtime(const configuration &c) : m_workers(c.workers) {
      require_async(c.policy, k_name);
      omp_set_dynamic(0);
    }
    template <class F>
    void call(F &&f) {
#pragma omp parallel num_threads(m_workers)
#pragma omp single
      f();
    }
    void begin_sample() {}
    template <class F>
    void end_sample(F &&) {}

   private:
    int m_workers;
  };
};

} // namespace inncabs
