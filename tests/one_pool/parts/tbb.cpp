// SPDX-License-Identifier: Apache-2.0
// links: TBB::tbb
// Loops, and task groups in an arena of their own.
#include "../part.hpp"

#include <memory>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <dlfcn.h>

namespace {

std::unique_ptr<tbb::global_control> g_limit;
int g_threads = 2;

/// Keeps TBB loaded when this library goes: its threads, and those of others that have called it,
/// may be inside of it. (tbb::finalize refuses to end TBB where others have called it.)
void keep_tbb() {
  Dl_info info{};
  const auto any = &tbb::detail::r1::max_concurrency;
  if (dladdr(reinterpret_cast<const void *>(any), &info) != 0)
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NODELETE);
}

void begin(int threads) {
  g_threads = threads;
  keep_tbb();
  g_limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  static_cast<std::size_t>(threads));
}

void end() { g_limit.reset(); }

void loop(int n, one_pool::body b) {
  tbb::parallel_for(0, n, [&](int i) { b(i); }, tbb::simple_partitioner());
}

void tasks(int n, one_pool::body b) {
  tbb::task_arena arena(g_threads);
  arena.execute([&] {
    tbb::task_group group;
    for (int i = 0; i < n; ++i)
      group.run([&b, i] { b(i); });
    group.wait();
  });
}

void until(int n, one_pool::body b) {
  tbb::task_group_context context;
  tbb::parallel_for(
      0, n,
      [&](int i) {
        if (b(i))
          context.cancel_group_execution();
      },
      tbb::simple_partitioner(), context);
}

} // namespace

ONE_POOL_PART one_pool_tbb{"TBB", one_pool::place::caller, &begin, &end, nullptr, &loop, &tasks,
                           &until};
