// SPDX-License-Identifier: Apache-2.0
#include "jobs.hpp"

#include <weft_threads/light_thread.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <omp.h>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <vector>

extern "C" void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);

namespace weft_blas {
namespace {

constexpr int k_most_buffers = 64;

[[noreturn]] void end_without_buffers(int jobs, int buffers) {
  std::fprintf(stderr, "weft: error: OpenBLAS asks for %d jobs and has %d buffers\n", jobs,
               buffers);
  std::abort();
}

/// Holds which buffers are free. A call takes all that it needs at once: if two calls had a part
/// each, both could wait for ever.
class buffer_pool {
 public:
  buffer_pool() noexcept {
    omp_init_lock(&m_lock);
    pthread_atfork([] { omp_set_lock(&the_pool().m_lock); },
                   [] { omp_unset_lock(&the_pool().m_lock); }, [] { the_pool().begin_again(); });
  }

  static buffer_pool &the_pool() noexcept {
    static buffer_pool pool;
    return pool;
  }

  void limit(int count) noexcept {
    omp_set_lock(&m_lock);
    if (count < m_count) {
      m_free &= first(count);
      m_count = count;
    }
    omp_unset_lock(&m_lock);
  }

  /// Returns `count` buffers as bits, when so many are free. Ends the program if there are never so
  /// many.
  std::uint64_t take(int count) noexcept {
    for (;;) {
      omp_set_lock(&m_lock);
      if (count > m_count)
        end_without_buffers(count, m_count);
      if (std::popcount(m_free) >= count) {
        std::uint64_t left = m_free;
        for (int i = 0; i != count; ++i)
          left &= left - 1;
        const std::uint64_t taken = m_free ^ left;
        m_free = left;
        omp_unset_lock(&m_lock);
        return taken;
      }
      omp_unset_lock(&m_lock);
      weft_threads::yield_light_thread();
    }
  }

  void give_back(std::uint64_t taken) noexcept {
    omp_set_lock(&m_lock);
    m_free |= taken & first(m_count);
    omp_unset_lock(&m_lock);
  }

 private:
  static std::uint64_t first(int count) noexcept {
    return count >= k_most_buffers ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
  /// The child of a fork() has one thread, which is in no job.
  void begin_again() noexcept {
    omp_init_lock(&m_lock);
    m_free = first(m_count);
  }

  omp_lock_t m_lock;
  int m_count = k_most_buffers;
  std::uint64_t m_free = ~std::uint64_t{0};
};

/// Holds one call.
struct call {
  job_function run;
  int count;
  std::size_t size;
  char *jobs;
  int argument;
  std::uint64_t buffers;

  void run_job(int index) const noexcept {
    std::uint64_t left = buffers;
    for (int i = 0; i != index; ++i)
      left &= left - 1;
    run(std::countr_zero(left), jobs + size * static_cast<std::size_t>(index), argument);
  }
};

[[noreturn]] void end_without_thread(const std::system_error &error) {
  std::fprintf(stderr,
               "weft: error: no thread for a job of OpenBLAS, whose others wait for it: %s; set "
               "OPENBLAS_NUM_THREADS lower, or the limit of threads higher\n",
               error.what());
  std::abort();
}

/// Runs the jobs that a team is too small for on threads of their own.
void run_member(const call &whole, int index, int team) noexcept {
  std::vector<std::thread> others;
  try {
    for (int more = index + team; more < whole.count; more += team)
      others.emplace_back([&whole, more] { whole.run_job(more); });
  } catch (const std::system_error &error) {
    end_without_thread(error);
  }
  if (index < whole.count)
    whole.run_job(index);
  for (std::thread &one : others)
    one.join();
}

void run_in_team(void *p) {
  run_member(*static_cast<const call *>(p), omp_get_thread_num(), omp_get_num_threads());
}

/// Holds one call of a library whose jobs may follow each other on a thread, in order.
template <class Run>
struct loop {
  Run run;
  int count;

  static void run_in_team(void *p) {
    const loop &whole = *static_cast<const loop *>(p);
    for (int i = omp_get_thread_num(); i < whole.count; i += omp_get_num_threads())
      whole.run(i);
  }
};

/// Lets the next region of the calling thread have as many threads as it asks for, and restores what
/// the program has set.
class whole_teams {
 public:
  whole_teams() noexcept : m_dynamic(omp_get_dynamic()), m_levels(omp_get_max_active_levels()) {
    if (m_dynamic)
      omp_set_dynamic(0);
    if (m_levels <= omp_get_active_level())
      omp_set_max_active_levels(omp_get_active_level() + 1);
  }
  ~whole_teams() {
    if (m_dynamic)
      omp_set_dynamic(1);
    if (omp_get_max_active_levels() != m_levels)
      omp_set_max_active_levels(m_levels);
  }
  whole_teams(const whole_teams &) = delete;
  whole_teams &operator=(const whole_teams &) = delete;

 private:
  int m_dynamic;
  int m_levels;
};

/// Calls `run(index)` for each index below `count`, on as many threads as OpenMP gives.
template <class Run>
void run_loop(int count, Run run) noexcept {
  loop<Run> whole{run, count};
  if (count == 1) {
    run(0);
  } else if (count > 1) {
    const whole_teams here;
    GOMP_parallel(&loop<Run>::run_in_team, &whole, static_cast<unsigned>(count), 0);
  }
}

} // namespace

void limit_buffers(int buffers) noexcept { buffer_pool::the_pool().limit(buffers); }

void run_jobs(int /*sync*/, job_function run, int count, std::size_t size, void *jobs,
              int argument) noexcept {
  if (count <= 0)
    return;
  buffer_pool &pool = buffer_pool::the_pool();
  call whole{run, count, size, static_cast<char *>(jobs), argument, pool.take(count)};
  if (count == 1) {
    whole.run_job(0);
  } else {
    const whole_teams here;
    GOMP_parallel(&run_in_team, &whole, static_cast<unsigned>(count), 0);
  }
  pool.give_back(whole.buffers);
}

void run_blosc_jobs(void * /*data*/, void (*run)(void *job), int count, std::size_t size,
                    void *jobs) noexcept {
  run_loop(count, [=](int index) {
    run(static_cast<char *>(jobs) + size * static_cast<std::size_t>(index));
  });
}

void run_fftw_jobs(void *(*run)(char *job), char *jobs, std::size_t size, int count,
                   void * /*data*/) noexcept {
  run_loop(count, [=](int index) { run(jobs + size * static_cast<std::size_t>(index)); });
}

} // namespace weft_blas
