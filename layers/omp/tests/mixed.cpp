// SPDX-License-Identifier: Apache-2.0
// OpenMP and Weft in one program: regions that Weft's tasks begin, on any worker, and Weft's tasks and waits in OpenMP threads.
#include <weft/sync/semaphore.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <vector>

extern "C" { // Clang's header is in a package of its own
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_level();
void omp_set_num_threads(int);
struct lock { // room for those of both ABIs
  void *room[4] = {};
};
void omp_init_lock(lock *);
void omp_set_lock(lock *);
void omp_unset_lock(lock *);
}

namespace {

void require(bool holds, const char *what) {
  if (!holds) {
    std::fprintf(stderr, "wrong: %s\n", what);
    std::_Exit(1);
  }
}

thread_local int t_own = 0;

long sum_to(long n) { return n * (n - 1) / 2; }

/// Runs each kind of region for which a compiler makes one call.
void all_regions(int threads) {
  long sum = 0;
  std::vector<int> seen(static_cast<std::size_t>(threads), 0);
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    require(omp_get_num_threads() == threads && omp_get_level() == 1, "the size of a team");
    ++seen[static_cast<std::size_t>(me)];
    t_own = errno = 100 + me;
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 100; ++i)
      sum += i;
#pragma omp single
    for (int i = 0; i < 8; ++i) {
#pragma omp task
      weft::taskyield();
    }
#pragma omp barrier
    require(omp_get_thread_num() == me && t_own == 100 + me && errno == 100 + me,
            "a member and its variables over barriers");
  }
  require(sum == sum_to(100), "a reduction");
  for (const int n : seen)
    require(n == 1, "each member once");
  sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(guided)
  for (int i = 0; i < 100; ++i)
    sum += i;
  require(sum == sum_to(100), "a combined loop");
  int one = 0, two = 0;
#pragma omp parallel sections num_threads(threads)
  {
#pragma omp section
    one = 1;
#pragma omp section
    two = 2;
  }
  require(one == 1 && two == 2, "combined sections");
#pragma omp parallel num_threads(threads) reduction(task, + : sum)
  {
#pragma omp task in_reduction(+ : sum)
    sum += 1;
  }
  require(sum == sum_to(100) + threads, "a task reduction");
}

/// Outside regions: tasks wait for each other's locks while other tasks of the same worker wait,
/// too.
void outside(long &guarded, lock &l) {
  for (int i = 0; i < 5; ++i) {
#pragma omp critical(of_tasks)
    {
      const long before = guarded;
      weft::taskyield();
      guarded = before + 1;
    }
    omp_set_lock(&l);
    const long before = guarded;
    weft::taskyield();
    guarded = before + 1;
    omp_unset_lock(&l);
  }
  require(omp_get_level() == 0 && omp_get_num_threads() == 1 && omp_get_thread_num() == 0,
          "outside of regions");
}

void regions_in_tasks() {
  constexpr int k_tasks = 40, k_rounds = 5;
  std::atomic<int> done{0};
  for (int round = 0; round < k_rounds; ++round) {
    for (int i = 0; i < k_tasks; ++i)
      weft::spawn([&done, i] {
        int x = 0;
        weft::spawn([&x] { ++x; });
        weft::taskwait();
        all_regions(1 + i % 5);
        omp_set_num_threads(2 + i % 3);
        weft::taskyield();
        require(omp_get_max_threads() == 2 + i % 3, "the settings of a task");
        int size = 0;
#pragma omp parallel
#pragma omp single
        size = omp_get_num_threads();
        require(size == 2 + i % 3, "a region has the settings of the task that begins it");
        done += x;
      });
    weft::taskwait();
  }
  require(done == k_tasks * k_rounds, "tasks with regions");
}

void locks_in_tasks() {
  constexpr int k_tasks = 40;
  long by_critical = 0;
  lock l;
  omp_init_lock(&l);
  for (int i = 0; i < k_tasks; ++i)
    weft::spawn([&] {
#pragma omp critical(of_all)
      outside(by_critical, l);
    });
  weft::taskwait();
  require(by_critical == k_tasks * 10, "critical sections and locks in tasks");
}

/// Runs regions each of which can end only when all the others run.
void regions_that_wait_for_each_other() {
  std::atomic<int> there{0};
  for (int i = 0; i < 6; ++i)
    weft::spawn([&there] {
#pragma omp parallel num_threads(2)
      {
        there += 1;
        while (there != 12)
          weft::taskyield();
      }
    });
  weft::taskwait();
}

void tasks_in_threads() {
  constexpr int k_threads = 6;
#pragma omp parallel num_threads(k_threads)
  {
    t_own = omp_get_thread_num();
    long sum = 0;
    for (int i = 1; i <= 20; ++i) {
      for (int k = 0; k < 4; ++k)
        weft::spawn([&sum] { sum += 1; }, weft::inout(sum));
      weft::taskwait();
      require(sum == 4 * i && t_own == omp_get_thread_num(), "tasks of Weft in an OpenMP thread");
#pragma omp barrier
    }
    int a = 0, b = 0;
    weft::join([&a] { a = 1; }, [&b] { b = 2; });
    require(a == 1 && b == 2, "branches of a join in an OpenMP thread");
  }
}

/// Threads of a region wait in Weft for tasks that sleep in the kernel until these threads have gone
/// on.
void threads_that_tasks_wait_for() {
  struct exchange {
    weft::counting_semaphore<> turn{0};
    std::promise<void> has_waited;
  };
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() != 0) {
      const auto both = std::make_shared<exchange>();
      weft::spawn_function([both] {
        both->turn.release();
        both->has_waited.get_future().get();
      });
      both->turn.acquire();
      both->has_waited.set_value();
    }
  }
}

} // namespace

int main() {
  regions_in_tasks();
  threads_that_tasks_wait_for();
  locks_in_tasks();
  regions_that_wait_for_each_other();
  tasks_in_threads();
  all_regions(4);
  return 0;
}
