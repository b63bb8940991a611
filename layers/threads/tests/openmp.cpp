// SPDX-License-Identifier: Apache-2.0
// OpenMP inside lightweight threads that another door has started: each is an initial thread, with
// the same variables in the region and outside of it. Compiled by the compilers for their own
// runtimes.
#include <weft_threads/light_thread.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define CHECK(what)                                                                                \
  do {                                                                                             \
    if (!(what)) {                                                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                              \
      std::abort();                                                                                \
    }                                                                                              \
  } while (0)

static int g_private = 5;
#pragma omp threadprivate(g_private)

namespace {

std::atomic<int> g_open{0};
std::atomic<long> g_sum{0}, g_tasks{0}, g_last_regions{0};

/// Begins a region in a destructor, when the thread's function has returned.
struct last_region {
  ~last_region() {
    int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    ++members;
    g_last_regions += members == 2;
  }
  bool used = false;
};
thread_local last_region t_last_region;

long fib(int n) {
  long a = n, b = 0;
  if (n > 1) {
#pragma omp task shared(a)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
  }
  return a + b;
}

void life(void *p) {
  const int number = static_cast<int>(reinterpret_cast<long>(p));
  t_last_region.used = true;
  CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && omp_get_level() == 0);
  CHECK(g_private == 5);
  g_private = number;
  const pthread_t me = pthread_self();
  int members = 0;
  long sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  {
    ++members;
    if (omp_get_thread_num() == 0)
      CHECK(pthread_equal(pthread_self(), me) && g_private == number);
    else
      CHECK(!pthread_equal(pthread_self(), me) && g_private == 5);
    sched_yield();
#pragma omp barrier
#pragma omp for reduction(+ : sum) schedule(dynamic)
    for (int i = 1; i <= 100; ++i)
      sum += i;
#pragma omp single
    g_tasks += fib(10);
  }
  CHECK(members >= 1);
  g_sum += sum;
  weft_threads::yield_light_thread();
  weft_threads::unpark(*weft_threads::this_light_thread()); // which no wait of OpenMP's takes
#pragma omp parallel num_threads(2)
#pragma omp critical
  usleep(1);
  weft_threads::park_light_thread();
  CHECK(pthread_equal(pthread_self(), me) && g_private == number);
}

void end(void *) { g_open.fetch_sub(1); }

void run(int threads, int first) {
  g_open = threads;
  for (int i = 0; i < threads; ++i)
    CHECK(weft_threads::start_light_thread(
        {&life, reinterpret_cast<void *>(static_cast<long>(first + i)), &end, 0, "test"}));
  while (g_open != 0)
    usleep(100);
}

} // namespace

int main() {
  constexpr int k_rounds = 30, k_threads = 6;
#if !defined(LATE) // else a lightweight thread is the first to use OpenMP
  int before = 0;
#pragma omp parallel num_threads(2) reduction(+ : before)
  ++before;
  CHECK(before == 2);
#endif
  for (int i = 0; i < k_rounds; ++i)
    run(k_threads, 100 * (i + 1));
  CHECK(g_sum == 5050l * k_rounds * k_threads);
  CHECK(g_tasks == 55l * k_rounds * k_threads);
  CHECK(g_last_regions == k_rounds * k_threads);
  CHECK(weft_threads::light_threads("test") == 0);
  CHECK(g_private == 5);
  std::puts("openmp: ok");
}
