// SPDX-License-Identifier: Apache-2.0
// soak [SECONDS [PART]] repeats what a server does in a day:
// - tasks of Weft's with accesses, groups and errors, in the first thread and in threads that come
//   and go;
// - OpenMP regions in these threads and in tasks;
// - bursts of tasks that sleep in the kernel;
// - children of fork();
// - both libraries, opened and closed.
// It prints ten times how much memory and how many mappings, files and threads the process has.
// None of these may grow.
#include "footprint.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" int omp_get_thread_num();

namespace {

void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "soak: %s\n", what);
  std::_Exit(1);
}

void tasks_with_accesses() {
  constexpr int k_cells = 16, k_rounds = 20;
  static thread_local std::vector<int> cells;
  cells.assign(k_cells, 0);
  int *const at = cells.data();
  for (int r = 0; r < k_rounds; ++r)
    for (int i = 0; i < k_cells; ++i)
      weft::spawn([at, i] { at[i] += i; }, weft::inout(at[i]), weft::in(at[(i + 1) % k_cells]));
  weft::taskwait();
  for (int i = 0; i < k_cells; ++i)
    require(at[i] == k_rounds * i, "tasks in order");
}

void errors() {
  int caught = 0;
  try {
    weft::task_group g;
    for (int i = 0; i < 10; ++i)
      g.spawn([i] {
        if (i % 3 == 0)
          throw std::runtime_error("one of them");
      });
    g.wait();
  } catch (const std::exception &) {
    caught = 1;
  }
  require(caught == 1, "an error of a task");
}

void sleepers() {
  for (int i = 0; i < 6; ++i)
    weft::spawn([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  weft::taskwait();
}

long region(int threads) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(threads)
  for (int i = 0; i < 100; ++i)
    sum += i;
  int chain = 0;
#pragma omp parallel num_threads(threads) shared(chain)
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
    ++chain;
  }
  return sum + chain;
}
constexpr long k_region = 4950 + 10;

void regions_in_tasks() {
  std::atomic<long> sum{0};
  for (int i = 0; i < 4; ++i)
    weft::spawn([&sum] { sum += region(2); });
  weft::taskwait();
  require(sum == 4 * k_region, "regions in tasks");
}

void threads_that_end(std::mt19937 &random) {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i)
    all.emplace_back([what = random() % 3] {
      if (what != 0)
        tasks_with_accesses();
      if (what != 1)
        require(region(3) == k_region, "a region of a thread");
    });
  for (std::thread &t : all)
    t.join();
}

void children() {
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {
    tasks_with_accesses();
    _exit(region(2) == k_region ? 0 : 1);
  }
  int status = 0;
  require(waitpid(child, &status, 0) == child && status == 0, "a child");
}

void libraries() {
  for (const char *name : {WEFT_SONAME, "libgomp.so.1"})
    if (void *const library = dlopen(name, RTLD_NOW))
      dlclose(library);
}

int g_only = -1; // to find which one it is

void once(std::mt19937 &random) {
  switch (g_only >= 0 ? static_cast<unsigned>(g_only) : random() % 8) {
  case 0:
    return tasks_with_accesses();
  case 1:
    return errors();
  case 2:
    return sleepers();
  case 3:
    return require(region(1 + static_cast<int>(random() % 8)) == k_region, "a region");
  case 4:
    return regions_in_tasks();
  case 5:
    return threads_that_end(random);
  case 6:
    return random() % 8 == 0 ? children() : errors();
  default:
    return libraries();
  }
}

} // namespace

#if !defined(SECONDS)
#define SECONDS 4
#endif

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : SECONDS;
  g_only = argc > 2 ? std::atoi(argv[2]) : -1;
  std::mt19937 random(20240117);
  for (int i = 0; i < 400; ++i) // what is made once
    once(random);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  footprint least, last;
  long rounds = 0;
  for (int part = 0; part <= 10; ++part) {
    std::printf("soak: %6.1f s %8ld rounds\n", passed(), rounds);
    last = look("soak");
    if (part == 2)
      least = last;
    for (; passed() < seconds * (part + 1) / 10 && part < 10; ++rounds)
      once(random);
  }
  require(last.resident_kib - least.resident_kib < 8 * 1024, "resident memory grows");
  require(last.heap_kib - least.heap_kib < 4 * 1024, "the heap grows");
  require(last.maps - least.maps < 64 && last.threads - least.threads < 16,
          "mappings or threads grow");
  require(last.files == least.files, "files are left open");
  std::puts("soak: ok");
}
