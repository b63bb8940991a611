// SPDX-License-Identifier: Apache-2.0
// Measures single OpenMP constructs; compiled by each runtime's compiler, run on its own runtime
// and on Weft.
//
//     <program> WORKLOAD THREADS COUNT [INNER]
//
// Prints the time of one operation in ns, and how many kernel threads the process has created.
#include "sample.hpp"

#include <atomic>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <vector>

extern "C" int omp_get_num_threads(void); // Clang's header is in a package of its own

namespace {

std::atomic<long> threads_created{0};

} // namespace

/// Starts the runtime's threads.
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*body)(void *), void *argument) noexcept {
  using function = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static const function next = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  threads_created.fetch_add(1, std::memory_order_relaxed);
  return next(thread, attributes, body, argument);
}

namespace {

constexpr int k_most_threads = 64;
struct alignas(64) padded {
  long value = 0;
};
padded counters[k_most_threads];
char cells[sample::k_row][sample::k_row];
char place;

/// Returns the time of one of the n operations of run(n): n is doubled until `least_ns` have
/// passed. The first run warms up.
template <class Run>
double per_operation(Run run, double least_ns = 30e6) {
  run(1);
  for (long n = 1;; n *= 2) {
    const double ns = sample::time_ns([&] { run(n); });
    if (ns >= least_ns)
      return ns / static_cast<double>(n);
  }
}

void fork_join(int threads, long n) {
  for (long i = 0; i < n; ++i) {
#pragma omp parallel num_threads(threads)
    asm volatile("");
  }
}

void barrier(int threads, long n) {
#pragma omp parallel num_threads(threads)
  for (long i = 0; i < n; ++i) {
#pragma omp barrier
  }
}

void static_loop(int threads, long n) {
#pragma omp parallel num_threads(threads)
  for (long i = 0; i < n; ++i) {
#pragma omp for schedule(static)
    for (int j = 0; j < threads; ++j)
      counters[j].value++;
  }
}

void dynamic_loop(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp for schedule(dynamic, 1)
  for (long i = 0; i < n; ++i)
    asm volatile("" : : "r"(i));
}

void critical(int threads, long n) {
  long entered = 0;
#pragma omp parallel num_threads(threads)
#pragma omp for schedule(static)
  for (long i = 0; i < n; ++i) {
#pragma omp critical
    ++entered;
  }
  sample::require(entered == n, "critical");
}

void chain(int threads, long n) {
  long done = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task shared(done) depend(inout : place)
    ++done;
  }
  sample::require(done == n, "chain");
}

void wavefront(int threads, long sweeps) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long s = 0; s < sweeps; ++s)
    for (int i = 1; i <= sample::k_side; ++i)
      for (int j = 1; j <= sample::k_side; ++j) {
#pragma omp task firstprivate(i, j) depend(in : cells[i][j - 1], cells[i - 1][j])                  \
    depend(inout : cells[i][j])
        ++cells[i][j];
      }
}

void tasks(int threads, long n) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task
    asm volatile("");
  }
}

/// Runs nested loops, after Castello and others 2017: a region for each iteration of the outer
/// loop.
void nest(int threads, long outer, long inner, std::vector<char> &touched,
          std::atomic<long> &small_teams) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < outer; ++i) {
#pragma omp parallel num_threads(threads)
    {
      if (omp_get_num_threads() != threads)
        small_teams.fetch_add(1, std::memory_order_relaxed);
#pragma omp for schedule(static)
      for (long j = 0; j < inner; ++j)
        ++touched[static_cast<std::size_t>(i * inner + j)];
    }
  }
}

double nested(int threads, long outer, long inner) {
  std::vector<char> touched(static_cast<std::size_t>(outer * inner));
  std::atomic<long> small_teams{0};
  long nests = 0;
  double ns = 0, first = 0;
  while (ns < 100e6) {
    ns += sample::time_ns([&] { nest(threads, outer, inner, touched, small_teams); });
    if (++nests == 1 && ns < 500e6) // the first one starts threads; a long one is final
      first = std::exchange(ns, 0);
  }
  for (const char c : touched)
    sample::require(c == static_cast<char>(nests), "nested loops");
  sample::require(small_teams == 0, "nested teams are not of the size asked for");
  return ns / static_cast<double>((first > 0 ? nests - 1 : nests) * outer);
}

unsigned compute(long rounds) {
  unsigned x = 1;
  for (long i = 0; i < rounds; ++i)
    x = x * 1664525u + 1013904223u;
  return x;
}

/// Runs regions of about 100 us, whatever else the machine does: beside busy processes a runtime
/// that spins pays here.
void computing(int threads, long n) {
  constexpr long rounds = 40'000;
  for (long i = 0; i < n; ++i) {
    unsigned sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int part = 0; part < 2; ++part)
      sum += compute(rounds + part);
    sample::require(sum != 0, "computing");
  }
}

double ns_of(const sample::request &r, long inner) {
  const int threads = r.workers;
  const auto time = [&](auto function) {
    return per_operation([&](long n) { function(threads, n); });
  };
  if (r.workload == "fork-join")
    return time(fork_join);
  if (r.workload == "barrier")
    return time(barrier);
  if (r.workload == "static")
    return time(static_loop);
  if (r.workload == "dynamic")
    return time(dynamic_loop);
  if (r.workload == "critical")
    return time(critical);
  if (r.workload == "chain")
    return time(chain);
  if (r.workload == "wavefront")
    return time(wavefront) / (sample::k_side * sample::k_side);
  if (r.workload == "nested")
    return nested(threads, r.count, inner);
  if (r.workload == "tasks") {
    tasks(threads, sample::k_warm_up);
    return sample::time_ns([&] { tasks(threads, r.count); }) / static_cast<double>(r.count);
  }
  if (r.workload == "computing")
    return sample::time_ns([&] { computing(threads, r.count); }) / static_cast<double>(r.count);
  sample::refuse(r);
}

} // namespace

int main(int argc, char **argv) {
  const sample::request r = sample::parse(argc, argv);
  if (r.workers < 1 || r.workers > k_most_threads) {
    std::fprintf(stderr, "from 1 to %d threads, not %d\n", k_most_threads, r.workers);
    return 2;
  }
  sample::print("ns", ns_of(r, r.body_ns));
  sample::print("created", static_cast<double>(threads_created.load(std::memory_order_relaxed)));
}
