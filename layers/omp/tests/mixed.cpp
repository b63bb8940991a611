// SPDX-License-Identifier: Apache-2.0
// OpenMP and Weft in one program: regions that Weft's tasks begin, on any worker, and Weft's tasks and waits in OpenMP threads.
#include <weft/coro.hpp>
#include <weft/knob.hpp>
#include <weft/sync/semaphore.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

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
void omp_init_nest_lock(lock *);
void omp_set_nest_lock(lock *);
int omp_test_nest_lock(lock *);
void omp_unset_nest_lock(lock *);
void omp_destroy_nest_lock(lock *);
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

/// What a task sets is its own: neither tasks that come later on its stack, nor a task that runs on
/// its stack while it waits, have it.
void settings_of_one_task() {
  const int of_process = omp_get_max_threads();
  for (int i = 0; i < 20; ++i)
    weft::spawn([=] {
      require(omp_get_max_threads() == of_process, "a task begins with the settings of the process");
      omp_set_num_threads(of_process + 1);
      weft::spawn(
          [=] {
            require(omp_get_max_threads() == of_process, "a child does not have its parent's settings");
            omp_set_num_threads(of_process + 2);
            require(omp_get_max_threads() == of_process + 2, "the settings of a child");
          },
          weft::if_(i % 2 == 0));
      weft::taskwait();
      require(omp_get_max_threads() == of_process + 1, "a child's settings are not its parent's");
    });
  weft::taskwait();
}

/// A branch of a join is in its task, also where another worker runs it.
void settings_in_branches() {
  for (int i = 0; i < 5; ++i)
    weft::spawn([] {
      const int of_process = omp_get_max_threads();
      omp_set_num_threads(of_process + 3);
      std::atomic<int> there{0};
      const auto both = [&] {
        ++there;
        while (there != 2) // so that two workers run them
          weft::taskyield();
        require(omp_get_max_threads() == of_process + 3, "a branch has the settings of its task");
      };
      weft::join(both, both);
    });
  weft::taskwait();
  const int of_process = omp_get_max_threads();
  for (int i = 0; i < 20; ++i)
    weft::spawn([=] {
      require(omp_get_max_threads() == of_process, "settings end with the task that had branches");
    });
  weft::taskwait();
}

/// Runs both at the same time, so that two workers do: `a` here, `b` in a branch.
template <class A, class B>
void join_on_two_workers(A a, B b) {
  std::atomic<int> there{0};
  const auto meet = [&] {
    ++there;
    while (there != 2)
      weft::taskyield();
  };
  weft::join(
      [&] {
        meet();
        a();
      },
      [&] {
        meet();
        b();
      });
}

/// A branch has what was set around its join, and nothing of branches before it.
void settings_of_later_branches() {
  const int of_process = omp_get_max_threads();
  const auto nothing = [] {};
  for (int i = 0; i < 5; ++i)
    weft::spawn([=] {
      for (int more = 1; more <= 4; ++more) {
        omp_set_num_threads(of_process + more);
        join_on_two_workers(nothing, [=] {
          require(omp_get_max_threads() == of_process + more, "a branch has the settings around its join");
          omp_set_num_threads(of_process + 10 + more);
          require(omp_get_max_threads() == of_process + 10 + more, "what a branch sets");
          join_on_two_workers(nothing, [=] {
            require(omp_get_max_threads() == of_process + 10 + more, "a branch has the settings of the branch around it");
          });
        });
      }
    });
  weft::taskwait();
  for (int i = 0; i < 4; ++i) // branches of a thread
    join_on_two_workers(nothing, [=] {
      require(omp_get_max_threads() == of_process, "a branch without a task has no other branch's settings");
      omp_set_num_threads(of_process + 1);
    });
}

/// A task that runs in place has the settings around it.
void settings_in_place() {
  const char *const chosen = std::getenv("WEFT_TUNE_INLINE");
  const bool is_always = chosen && std::strcmp(chosen, "always") == 0;
  weft::spawn([is_always] {
    const int of_process = omp_get_max_threads();
    for (int more = 1; more <= 3; ++more) {
      omp_set_num_threads(of_process + more);
      const char here = 0;
      std::atomic<bool> spawns{true};
      bool ran_in_place = false;
      int seen = 0;
      weft::spawn(
          [&] {
            const char own = 0;
            ran_in_place = spawns && &own < &here && &here - &own < 16384;
            seen = omp_get_max_threads();
          },
          weft::cost(1), weft::may_inline);
      spawns = false;
      weft::taskwait();
      require(seen == (ran_in_place ? of_process + more : of_process), "the settings of a task in place");
      require(ran_in_place || !is_always, "all tasks run in place here");
    }
  });
  weft::taskwait();
}

/// The settings go with a task whose body runs again, perhaps on another stack.
weft::task<> settings_of_coroutine(int more) {
  const int asked = omp_get_max_threads() + more;
  omp_set_num_threads(asked);
  for (int i = 0; i < 5; ++i) {
    co_await weft::this_task::async_sleep_for(std::chrono::microseconds(100));
    require(omp_get_max_threads() == asked, "the settings of a coroutine");
  }
}

/// A service has no task: its settings are not those of tasks that come to its stack.
void settings_of_service() {
  const int of_process = omp_get_max_threads();
  struct service_calls {
    std::atomic<int> calls{0};
    int asked;
  } calls;
  calls.asked = of_process + 5;
  {
    const weft::service polls(
        "sets", weft::poll_point::idle,
        [](void *p) {
          auto &c = *static_cast<service_calls *>(p);
          omp_set_num_threads(c.asked);
          require(omp_get_max_threads() == c.asked, "the settings of a service");
          ++c.calls;
          return false;
        },
        &calls);
    while (calls.calls == 0)
      weft::this_task::sleep_for(std::chrono::milliseconds(1));
    for (int i = 0; i < 20; ++i)
      weft::spawn([=] {
        require(omp_get_max_threads() == of_process, "a task has no service's settings");
      });
    weft::taskwait();
  }
}

/// The child of a fork() in a task has OpenMP with one thread, whether the task has used it or not.
void fork_in_task() {
  for (const bool uses_openmp : {false, true}) {
    weft::spawn([uses_openmp] {
      if (uses_openmp)
        omp_set_num_threads(4);
      const pid_t child = fork();
      if (child == 0) {
        int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
        ++threads;
        omp_set_num_threads(5);
        std::_Exit(threads == 1 && omp_get_max_threads() == 5 && omp_get_level() == 0 ? 0 : 1);
      }
      int status = -1;
      require(waitpid(child, &status, 0) == child && status == 0, "a child of fork() in a task");
      require(!uses_openmp || omp_get_max_threads() == 4, "the settings of a task that has forked");
    });
    weft::taskwait();
  }
}

void nest_locks_of_tasks() {
  lock l, kept;
  omp_init_nest_lock(&l);
  omp_init_nest_lock(&kept);
  weft::spawn([&] {
    omp_set_nest_lock(&l);
    require(omp_test_nest_lock(&l) == 2, "the owner takes a nest lock again");
    int of_child = -1;
    weft::spawn([&] { of_child = omp_test_nest_lock(&l); }, weft::if_(false));
    weft::taskwait();
    require(of_child == 0, "a nest lock is its task's, not the stack's");
    omp_unset_nest_lock(&l);
    omp_unset_nest_lock(&l);
    omp_set_nest_lock(&kept); // the task ends with it
  });
  weft::taskwait();
  for (int i = 0; i < 20; ++i)
    weft::spawn([&] { require(omp_test_nest_lock(&kept) == 0, "a nest lock of a task that is over"); });
  weft::taskwait();
  weft::spawn([&] {
    require(omp_test_nest_lock(&l) == 1, "a nest lock that was given back");
    omp_unset_nest_lock(&l);
  });
  weft::taskwait();
  omp_destroy_nest_lock(&l);
  omp_destroy_nest_lock(&kept);
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

/// With fewer workers that work, a region has the threads that it asks for, and all of them run at once.
void regions_with_fewer_workers() {
  const int by_default = omp_get_max_threads();
  weft::tune::set("sched.workers", "1");
  all_regions(4);
  std::atomic<int> inside{0}, sizes{0};
#pragma omp parallel num_threads(4)
  {
    sizes += omp_get_num_threads();
    ++inside;
    while (inside < 4) // ends when all threads of the region have begun
      weft::taskyield();
  }
  require(sizes == 16, "the size of a region with one worker that works");
  require(omp_get_max_threads() == by_default, "the number of threads that a region has by default");
  weft::tune::set("sched.workers", "all");
}

} // namespace

int main() {
  regions_in_tasks();
  settings_of_one_task();
  settings_in_branches();
  settings_of_later_branches();
  settings_in_place();
  for (int i = 0; i < 4; ++i)
    weft::spawn(settings_of_coroutine(i));
  weft::taskwait();
  settings_of_service();
  fork_in_task();
  nest_locks_of_tasks();
  threads_that_tasks_wait_for();
  locks_in_tasks();
  regions_that_wait_for_each_other();
  tasks_in_threads();
  all_regions(4);
  regions_with_fewer_workers();
  return 0;
}
