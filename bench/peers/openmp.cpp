// SPDX-License-Identifier: Apache-2.0
// The workloads in OpenMP; compiled once for each OpenMP runtime.
#include "sample.hpp"

#include <vector>

using sample::work;

namespace {

char grid[sample::k_row][sample::k_row];
char columns[2][2];

void independent(long n, long body) {
  for (long i = 0; i < n; ++i) {
#pragma omp task firstprivate(body)
    work(body);
  }
#pragma omp taskwait
}

void chain(long n, long body) {
  static char x;
  for (long i = 0; i < n; ++i) {
#pragma omp task firstprivate(body) depend(inout : x)
    work(body);
  }
#pragma omp taskwait
}

void two_wave(long n, char *a, char *b, long body) {
  for (long i = 0; i < n; ++i) {
#pragma omp task firstprivate(body) depend(inout : a[i])
    work(body);
  }
  for (long i = 0; i < n; ++i) {
#pragma omp task firstprivate(body) depend(in : a[i]) depend(out : b[i])
    work(body);
  }
#pragma omp taskwait
}

void wavefront(long sweeps, long body) {
  for (long s = 0; s < sweeps; ++s)
    for (int i = 1; i <= sample::k_side; ++i)
      for (int j = 1; j <= sample::k_side; ++j) {
#pragma omp task firstprivate(body) depend(in : grid[i][j - 1], grid[i - 1][j])                    \
    depend(inout : grid[i][j])
        work(body);
      }
#pragma omp taskwait
}

void stencil(long steps, long body) {
  for (long t = 0; t < steps; ++t) {
    char *before = columns[t % 2], *now = columns[(t + 1) % 2];
    for (int c = 0; c < 2; ++c) {
#pragma omp task firstprivate(body) depend(in : before[0], before[1]) depend(out : now[c])
      work(body);
    }
  }
#pragma omp taskwait
}

long fib(long n) {
  if (n < 2)
    return n;
  long x = 0;
#pragma omp task shared(x) firstprivate(n)
  x = fib(n - 1);
  const long y = fib(n - 2);
#pragma omp taskwait
  return x + y;
}

/// Runs the workload inside of the team, on one of its threads.
void measure(const sample::request &r) {
  const double n = static_cast<double>(r.count);
  double ns = 0;
  independent(sample::k_warm_up, 0);
  if (r.workload == "independent") {
    ns = sample::time_ns([&] { independent(r.count, r.body_ns); }) / n;
  } else if (r.workload == "chain") {
    chain(sample::k_warm_up, 0);
    ns = sample::time_ns([&] { chain(r.count, r.body_ns); }) / n;
  } else if (r.workload == "two-wave") {
    std::vector<char> a(static_cast<std::size_t>(r.count)), b(a.size());
    ns = sample::time_ns([&] { two_wave(r.count, a.data(), b.data(), r.body_ns); }) / (2 * n);
  } else if (r.workload == "wavefront") {
    ns = sample::time_ns([&] { wavefront(r.count, r.body_ns); }) /
         (n * sample::k_side * sample::k_side);
  } else if (r.workload == "fib-spawn") {
    fib(sample::k_warm_up_fib);
    long value = 0;
    ns = sample::time_ns([&] { value = fib(r.count); }) /
         static_cast<double>(sample::fib_tasks(r.count));
    sample::require(value == sample::fib(r.count), "fib");
  } else if (r.workload == "metg") {
    stencil(sample::k_warm_up, 0);
    ns = sample::metg(r.workers, stencil);
  } else {
    sample::refuse(r);
  }
  sample::print("ns", ns);
}

} // namespace

int main(int argc, char **argv) {
  const sample::request r = sample::parse(argc, argv);
#pragma omp parallel num_threads(r.workers)
#pragma omp single
  measure(r);
}
