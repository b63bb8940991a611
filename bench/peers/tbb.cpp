// SPDX-License-Identifier: Apache-2.0
// The workloads that oneTBB has without dependences between tasks.
#include "sample.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace {

void independent(long n, long body) {
  tbb::task_group group;
  for (long i = 0; i < n; ++i)
    group.run([body] { sample::work(body); });
  group.wait();
}

long fib_spawn(long n) {
  if (n < 2)
    return n;
  long x = 0;
  tbb::task_group group;
  group.run([&x, n] { x = fib_spawn(n - 1); });
  const long y = fib_spawn(n - 2);
  group.wait();
  return x + y;
}

long fib_join(long n) {
  if (n < 2)
    return n;
  long x = 0, y = 0;
  tbb::parallel_invoke([&x, n] { x = fib_join(n - 1); }, [&y, n] { y = fib_join(n - 2); });
  return x + y;
}

double fib_ns(long (*fib)(long), long n) {
  fib(sample::k_warm_up_fib);
  long value = 0;
  const double ns = sample::time_ns([&] { value = fib(n); });
  sample::require(value == sample::fib(n), "fib");
  return ns / static_cast<double>(sample::fib_tasks(n));
}

void measure(const sample::request &r) {
  independent(sample::k_warm_up, 0);
  if (r.workload == "independent")
    sample::print("ns", sample::time_ns([&] { independent(r.count, r.body_ns); }) /
                            static_cast<double>(r.count));
  else if (r.workload == "fib-spawn")
    sample::print("ns", fib_ns(fib_spawn, r.count));
  else if (r.workload == "fib-join")
    sample::print("ns", fib_ns(fib_join, r.count));
  else
    sample::refuse(r);
}

} // namespace

int main(int argc, char **argv) {
  const sample::request r = sample::parse(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<std::size_t>(r.workers));
  tbb::task_arena arena(r.workers);
  arena.execute([&] { measure(r); });
}
