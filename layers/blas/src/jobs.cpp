// SPDX-License-Identifier: Apache-2.0
#include "jobs.hpp"

#include <weft_threads/light_thread.hpp>

#include <algorithm>
#include <array>
#include <atomic>
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

constexpr int k_most_buffers = 1024; // of a copy that calls share
constexpr int k_usual_buffers = 64;
constexpr int k_bits = 64; // of a word

/// Holds numbers of buffers. Every value is a valid one, so that a child of fork() may begin with
/// whatever the parent was writing.
class buffer_set {
 public:
  [[nodiscard]] int size() const noexcept {
    int all = 0;
    for (const std::uint64_t word : m_words)
      all += std::popcount(word);
    return all;
  }
  /// Fills an empty set with the first `count` buffers.
  void fill(int count) noexcept {
    for (std::uint64_t &word : m_words) {
      word = count >= k_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << std::max(count, 0)) - 1;
      count -= k_bits;
    }
  }
  /// Moves the first `count` of another set here.
  void take_from(buffer_set &other, int count) noexcept {
    for (std::size_t i = 0; i != m_words.size(); ++i)
      for (; count > 0 && other.m_words[i] != 0; --count) {
        m_words[i] |= other.m_words[i] & -other.m_words[i];
        other.m_words[i] &= other.m_words[i] - 1;
      }
  }
  void add(const buffer_set &other) noexcept {
    for (std::size_t i = 0; i != m_words.size(); ++i)
      m_words[i] |= other.m_words[i];
  }
  /// Returns the buffer that has `index` before it in the set; `index` itself where the set is smaller.
  [[nodiscard]] int at(int index) const noexcept {
    int skip = index, first = 0;
    for (std::uint64_t left : m_words) {
      const int here = std::popcount(left);
      if (skip < here) {
        for (; skip > 0; --skip)
          left &= left - 1;
        return first + std::countr_zero(left);
      }
      skip -= here;
      first += k_bits;
    }
    return index;
  }

 private:
  std::array<std::uint64_t, k_most_buffers / k_bits> m_words{};
};

/// Holds which buffers of a copy are free. A call takes all that it needs at once: if two calls had
/// a part each, both could wait for ever. Calls that wait are served in the order of their coming, so
/// that small ones do not keep a large one waiting.
class buffer_pool {
 public:
  buffer_pool(const void *begin, const void *end, int count) noexcept
      : m_begin(reinterpret_cast<std::uintptr_t>(begin)),
        m_end(reinterpret_cast<std::uintptr_t>(end)), m_count(std::clamp(count, 1, k_most_buffers)) {
    begin_again();
  }

  /// Returns the pool of the copy that has the function.
  static buffer_pool &pool_of(job_function run) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(run);
    for (buffer_pool *one = s_first.load(std::memory_order_acquire); one; one = one->m_next)
      if (address >= one->m_begin && address < one->m_end)
        return *one;
    return others();
  }

  static void add(const void *begin, const void *end, int count) {
    static const int registered = pthread_atfork(nullptr, nullptr, &begin_all_again);
    (void)registered;
    (void)others(); // so that no thread is making it at a fork()
    auto *const made = new buffer_pool(begin, end, count); // its copy stays loaded
    made->m_next = s_first.load(std::memory_order_relaxed);
    s_first.store(made, std::memory_order_release);
  }

  /// Returns `count` buffers, or all where the pool has fewer, when they are free.
  buffer_set take(int count) noexcept {
    const int wanted = std::min(count, m_count);
    omp_set_lock(&m_lock);
    const unsigned long mine = m_came++;
    while (mine != m_served || m_free.size() < wanted) {
      omp_unset_lock(&m_lock);
      weft_threads::yield_light_thread();
      omp_set_lock(&m_lock);
    }
    ++m_served;
    buffer_set taken;
    taken.take_from(m_free, wanted);
    omp_unset_lock(&m_lock);
    return taken;
  }

  void give_back(const buffer_set &taken) noexcept {
    omp_set_lock(&m_lock);
    m_free.add(taken);
    omp_unset_lock(&m_lock);
  }

 private:
  /// Returns the pool of a copy whose function is elsewhere.
  static buffer_pool &others() noexcept {
    static buffer_pool pool(nullptr, nullptr, k_usual_buffers);
    return pool;
  }
  /// The child of a fork() has one thread, which is in no job.
  static void begin_all_again() noexcept {
    for (buffer_pool *one = s_first.load(std::memory_order_relaxed); one; one = one->m_next)
      one->begin_again();
    others().begin_again();
  }
  void begin_again() noexcept {
    omp_init_lock(&m_lock);
    m_free.fill(m_count);
    m_came = m_served = 0;
  }

  static std::atomic<buffer_pool *> s_first; // those of copies

  const std::uintptr_t m_begin, m_end;
  const int m_count;
  buffer_pool *m_next = nullptr;
  omp_lock_t m_lock;
  buffer_set m_free;
  unsigned long m_came, m_served; // calls
};

std::atomic<buffer_pool *> buffer_pool::s_first{nullptr};

/// Holds one call.
struct call {
  job_function run;
  int count;
  std::size_t size;
  char *jobs;
  int argument;
  buffer_set buffers;

  void run_job(int index) const noexcept {
    run(buffers.at(index), jobs + size * static_cast<std::size_t>(index), argument);
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

void add_buffers(const void *begin, const void *end, int buffers) {
  buffer_pool::add(begin, end, buffers);
}

void run_jobs(int /*sync*/, job_function run, int count, std::size_t size, void *jobs,
              int argument) noexcept {
  if (count <= 0)
    return;
  buffer_pool &pool = buffer_pool::pool_of(run);
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
