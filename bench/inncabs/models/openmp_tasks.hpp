// SPDX-License-Identifier: Apache-2.0
// Tasks of OpenMP; a future waits with taskwait, for all children of the task.
#pragma once

#include "launch.hpp"
#include "scoped.hpp"

#include <omp.h>

namespace inncabs {

namespace detail {

struct openmp_calls {
  template <class F>
  void run(F f) {
#pragma omp task firstprivate(f)
    f();
  }
  void wait() {
#pragma omp taskwait
  }
};

} // namespace detail

struct openmp_tasks : scoped<detail::openmp_calls> {
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
