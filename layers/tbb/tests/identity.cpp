// SPDX-License-Identifier: Apache-2.0
// identity [ROUNDS]: tasks of Weft that call TBB, wait in Weft, and go on on another kernel thread.
// They are the same thread to TBB then: their arenas, their slots and what they have spawned are
// still theirs.
#include "door.hpp"

#include "../../threads/tests/moving.hpp"

#include <atomic>
#include <random>
#include <stdexcept>
#include <vector>

#include <tbb/combinable.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>
#include <weft/weft.hpp>

namespace {

using test::move_to_other_thread;
using test::run_by_workers;

/// Tasks in an arena that no worker of TBB enters: only the thread that has spawned them can run
/// them.
void waits_for_what_it_has_spawned() {
  run_by_workers(3, [](int) {
    tbb::task_arena alone(1);
    std::atomic<int> ran{0};
    alone.execute([&] {
      tbb::task_group g;
      for (int i = 0; i < 10; ++i)
        g.run([&] { ++ran; });
      move_to_other_thread();
      CHECK(ran == 0);
      for (int i = 0; i < 10; ++i)
        g.run([&] { ++ran; });
      CHECK(g.wait() == tbb::complete);
      CHECK(ran == 20);
    });
  });
}

void stays_in_its_arena_and_slot() {
  run_by_workers(6, [](int i) {
    tbb::task_arena outer(2 + i, 1), inner(20 + i, 1);
    outer.execute([&] {
      const int slot = tbb::this_task_arena::current_thread_index();
      move_to_other_thread();
      CHECK(tbb::this_task_arena::max_concurrency() == 2 + i);
      CHECK(tbb::this_task_arena::current_thread_index() == slot);
      inner.execute([&] {
        move_to_other_thread();
        CHECK(tbb::this_task_arena::max_concurrency() == 20 + i);
        CHECK(tbb::this_task_arena::current_thread_index() >= 0);
      });
      CHECK(tbb::this_task_arena::max_concurrency() == 2 + i);
      CHECK(tbb::this_task_arena::current_thread_index() == slot);
    });
  });
}

/// No worker of TBB comes, so all of a loop's bodies run on the stacks of Weft's tasks, and each of
/// them may wait.
void bodies_of_loops_wait() {
  const tbb::global_control alone(tbb::global_control::max_allowed_parallelism, 1);
  std::atomic<int> bodies{0};
  run_by_workers(6, [&](int i) {
    tbb::parallel_for(0, 10, [&](int n) {
      if (n % 3 == i % 3)
        move_to_other_thread();
      tbb::parallel_for(0, 5, [&](int) { ++bodies; });
    });
  });
  CHECK(bodies == 6 * 10 * 5);
}

/// A task that waits inside of an isolated region runs no other tasks of its arena afterwards.
void isolation_stays() {
  run_by_workers(3, [](int) {
    tbb::task_arena alone(1);
    alone.execute([] {
      std::atomic<int> outside{0}, inside{0};
      tbb::task_group g;
      g.run([&] { ++outside; });
      tbb::this_task_arena::isolate([&] {
        move_to_other_thread();
        tbb::parallel_for(0, 100, [&](int) { ++inside; });
        CHECK(inside == 100);
        CHECK(outside == 0);
      });
      g.wait();
      CHECK(outside == 1);
    });
  });
}

struct counting_observer : tbb::task_scheduler_observer {
  explicit counting_observer(tbb::task_arena &a) : tbb::task_scheduler_observer(a) {
    observe(true);
  }
  ~counting_observer() override { observe(false); }
  void on_scheduler_entry(bool) override { ++entered; }
  void on_scheduler_exit(bool) override { ++left; }
  std::atomic<int> entered{0}, left{0};
};

void observers_see_one_thread() {
  run_by_workers(3, [](int) {
    tbb::task_arena alone(1);
    alone.initialize();
    counting_observer seen(alone);
    for (int i = 1; i <= 5; ++i) {
      alone.execute([&] {
        move_to_other_thread();
        CHECK(seen.entered == i);
        CHECK(seen.left == i - 1);
      });
      CHECK(seen.left == i);
    }
  });
}

void exceptions_and_cancellation() {
  run_by_workers(6, [](int i) {
    tbb::task_arena arena(2);
    bool caught = false;
    try {
      arena.execute([&] {
        tbb::task_group g;
        g.run([] { throw std::runtime_error("thrown in a task"); });
        move_to_other_thread();
        g.wait();
      });
    } catch (const std::runtime_error &) {
      caught = true;
    }
    CHECK(caught);
    tbb::task_group g;
    if (i % 2 == 0)
      move_to_other_thread();
    g.run([] {});
    g.cancel();
    move_to_other_thread();
    CHECK(g.wait() == tbb::canceled);
    caught = false;
    try { // of a body that has moved
      tbb::parallel_for(0, 4, [&](int n) {
        if (n == 0)
          throw n;
      });
    } catch (int) {
      caught = true;
    }
    CHECK(caught);
  });
}

/// The thread-local storage of TBB that is kept by pthread keys of its own or by std::thread::id is
/// that of the kernel thread. Each call of local() is right, and all together hold the sum.
void thread_specific_storage() {
  constexpr int k_tasks = 20, k_rounds = 20;
  tbb::enumerable_thread_specific<long> sums(0L);
  tbb::combinable<long> others([] { return 0L; });
  run_by_workers(k_tasks, [&](int) {
    for (int i = 0; i < k_rounds; ++i) {
      sums.local() += 1;
      others.local() += 1;
      move_to_other_thread();
      tbb::parallel_for(0, 10, [&](int) { sums.local() += 1; });
    }
  });
  CHECK(sums.combine([](long a, long b) { return a + b; }) == k_tasks * k_rounds * 11L);
  CHECK(others.combine([](long a, long b) { return a + b; }) == k_tasks * k_rounds);
}

/// One random walk through arenas, groups, loops and waits per task.
class walk {
 public:
  explicit walk(unsigned seed) : m_random(seed) {}
  long run(int depth) {
    long ran = 0;
    for (int i = 0; i < 4; ++i)
      switch (depth > 0 ? draw(6) : 4 + draw(2)) {
      case 0: {
        const int width = 1 + draw(3);
        tbb::task_arena arena(width);
        ran += arena.execute([&] {
          const long inside = run(depth - 1);
          CHECK(tbb::this_task_arena::max_concurrency() == width);
          return inside;
        });
        break;
      }
      case 1: {
        std::atomic<long> in_tasks{0};
        tbb::task_group g;
        const int tasks = draw(8);
        for (int t = 0; t < tasks; ++t)
          g.run([&] { ++in_tasks; });
        ran += run(depth - 1);
        g.wait();
        CHECK(in_tasks == tasks);
        ran += tasks;
        break;
      }
      case 2:
        ran += tbb::this_task_arena::isolate([&] { return run(depth - 1); });
        break;
      case 3: { // a task of Weft's own that is waited for
        long value = 0;
        const unsigned seed = m_random();
        weft::spawn([&, seed] { value = walk(seed).run(depth - 1); }, weft::out(value));
        weft::taskwait();
        ran += value;
        break;
      }
      case 4:
        (void)weft::this_task::block_for(std::chrono::microseconds(draw(50)));
        break;
      default: {
        std::atomic<long> bodies{0};
        tbb::parallel_for(0, 20, [&](int) { ++bodies; });
        CHECK(bodies == 20);
        ran += 20;
      }
      }
    return ran;
  }

 private:
  int draw(int below) { return static_cast<int>(m_random() % static_cast<unsigned>(below)); }
  std::minstd_rand m_random;
};

void random_walks(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<long> first(12), second(12);
    for (std::vector<long> *const to : {&first, &second})
      run_by_workers(static_cast<int>(to->size()), [&](int i) {
        (*to)[static_cast<std::size_t>(i)] = walk(static_cast<unsigned>(100 * round + i)).run(3);
      });
    CHECK(first == second);
  }
}

} // namespace

int main(int argc, char **argv) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<std::size_t>(door::threads_asked()));
  tbb::parallel_for(0, 100, [](int) {});
  waits_for_what_it_has_spawned();
  stays_in_its_arena_and_slot();
  bodies_of_loops_wait();
  isolation_stays();
  observers_see_one_thread();
  exceptions_and_cancellation();
  thread_specific_storage();
  random_walks(argc > 1 ? std::atoi(argv[1]) : 5);
  door::check_threads();
  std::puts("identity: ok");
}
