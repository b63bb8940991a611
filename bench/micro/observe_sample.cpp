// SPDX-License-Identifier: Apache-2.0
// Measures the cost of observation: runs the same tasks, whose bodies are a fixed number of
// instructions, and prints the processor time that they took. Settings come from the environment.
//
//     weft-observe-sample WORKLOAD WORKERS TASKS STEPS
//
// WORKLOAD independent, chain: STEPS iterations of a body of four instructions each. site: TASKS
// passes of a loop, with and without a test of a flag that is never set.
#include "../peers/sample.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <ctime>
#include <string>

namespace {

double clock_of(clockid_t which) {
  timespec t;
  clock_gettime(which, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Runs a body without reading a clock: its processor time is that of its instructions.
void body(long steps) {
  for (long i = 0; i < steps; ++i)
    asm volatile("" ::: "memory");
}

void independent(long n, long steps) {
  for (long i = 0; i < n; ++i)
    weft::spawn([steps] { body(steps); });
  weft::taskwait();
}

void chain(long n, long steps) {
  static char x;
  for (long i = 0; i < n; ++i)
    weft::spawn([steps] { body(steps); }, weft::inout(x));
  weft::taskwait();
}

std::atomic<unsigned char> g_flag{0};
volatile long g_hits = 0;

template <bool Tested>
[[gnu::noinline]] double loop_ns(long n) {
  const double before = clock_of(CLOCK_THREAD_CPUTIME_ID);
  for (long i = 0; i < n; ++i) {
    asm volatile("" ::: "memory");
    if constexpr (Tested)
      if (g_flag.load(std::memory_order_relaxed)) [[unlikely]]
        g_hits = g_hits + 1;
  }
  return (clock_of(CLOCK_THREAD_CPUTIME_ID) - before) / static_cast<double>(n);
}

/// Runs the loop with a site as all observation sites are written: a load of a byte that no thread
/// writes, and a branch.
void measure_site(long n) {
  double with = 1e9, without = 1e9;
  for (int i = 0; i < 9; ++i) {
    without = std::min(without, loop_ns<false>(n));
    with = std::min(with, loop_ns<true>(n));
  }
  sample::print("site_ns", with - without);
}

} // namespace

int main(int argc, char **argv) {
  const sample::request r = sample::parse(argc, argv);
  if (r.workload == "site")
    return measure_site(r.count), 0;
  if (r.workload != "independent" && r.workload != "chain")
    sample::refuse(r);
  const auto run = r.workload == "chain" ? &chain : &independent;
  weft::configure("workers", std::to_string(r.workers).c_str());
  weft::start();
  run(sample::k_warm_up, 0);
  const double process = clock_of(CLOCK_PROCESS_CPUTIME_ID),
               thread = clock_of(CLOCK_THREAD_CPUTIME_ID);
  run(r.count, r.body_ns);
  const double n = static_cast<double>(r.count);
  sample::print("thread_ns", (clock_of(CLOCK_THREAD_CPUTIME_ID) - thread) / n);
  sample::print("process_ns", (clock_of(CLOCK_PROCESS_CPUTIME_ID) - process) / n);
}
