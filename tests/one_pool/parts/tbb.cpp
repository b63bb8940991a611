// SPDX-License-Identifier: Apache-2.0
// links: TBB::tbb
// Loops, and task groups in an arena of their own.
#include "../part.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>

#include <dlfcn.h>

namespace {

std::unique_ptr<tbb::global_control> g_limit;
int g_threads = 2;
const bool g_may_go = std::getenv("ONE_POOL_PLUGINS"); // the program unloads this library

/// Keeps TBB loaded when this library goes: its threads, and those of others that have called it,
/// may be inside of it. (tbb::finalize refuses to end TBB where others have called it.)
void keep_tbb() {
  Dl_info info{};
  const auto any = &tbb::detail::r1::max_concurrency;
  if (dladdr(reinterpret_cast<const void *>(any), &info) != 0)
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NODELETE);
}

/// Calls `f` in an arena of its own, and returns when all threads have left that.
///
/// A loop that returns does not tell that its last task is over: the task gives its memory back
/// behind the count for which the caller waits, in code of this library. So a library that goes may
/// not leave before the threads that helped have left the arena.
template <class F>
void in_own_arena(F &&f) {
  class inside final : public tbb::task_scheduler_observer {
   public:
    explicit inside(tbb::task_arena &arena) : tbb::task_scheduler_observer(arena) { observe(true); }
    ~inside() override { observe(false); } // waits for a thread that is in a function of this class
    void on_scheduler_entry(bool) override { m_threads.fetch_add(1); }
    void on_scheduler_exit(bool) override { m_threads.fetch_sub(1); }
    void wait() const {
      while (m_threads.load() != 0)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }

   private:
    std::atomic<int> m_threads{0};
  };
  tbb::task_arena arena(g_threads);
  inside all(arena);
  try {
    arena.execute(f);
  } catch (...) {
    all.wait();
    throw;
  }
  all.wait();
}

void begin(int threads) {
  g_threads = threads;
  keep_tbb();
  g_limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  static_cast<std::size_t>(threads));
}

void end() { g_limit.reset(); }

/// Calls `f` where the thread is, or in an arena of its own.
template <class F>
void run(F &&f) {
  if (g_may_go)
    in_own_arena(f);
  else
    f();
}

void loop(int n, one_pool::body b) {
  run([&] { tbb::parallel_for(0, n, [&](int i) { b(i); }, tbb::simple_partitioner()); });
}

void tasks(int n, one_pool::body b) {
  const auto all = [&] {
    tbb::task_group group;
    for (int i = 0; i < n; ++i)
      group.run([&b, i] { b(i); });
    group.wait();
  };
  if (g_may_go)
    in_own_arena(all);
  else
    tbb::task_arena(g_threads).execute(all);
}

void until(int n, one_pool::body b) {
  run([&] {
    tbb::task_group_context context;
    tbb::parallel_for(
        0, n,
        [&](int i) {
          if (b(i))
            context.cancel_group_execution();
        },
        tbb::simple_partitioner(), context);
  });
}

} // namespace

ONE_POOL_PART one_pool_tbb{"TBB", one_pool::place::caller, &begin, &end, nullptr, &loop, &tasks,
                           &until};
