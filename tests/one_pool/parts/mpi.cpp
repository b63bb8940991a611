// SPDX-License-Identifier: Apache-2.0
// links: one_pool_mpi
// Messages from this rank to itself: a task per index that waits in MPI_Recv, and a task per index
// behind one that has bound its receive.
#include "../part.hpp"

#include <weft/mpi.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

/// MPI knows nothing of a child of fork(): there bodies run without messages.
std::atomic<bool> g_has_mpi{false};

/// Calls on several stacks at once use other tags. The least that MPI promises are 32768 tags.
int some_tags(int n) {
  static std::atomic<unsigned> next{0};
  constexpr unsigned k_blocks = 64, k_tags = 512;
  static_assert(k_blocks * k_tags == 32768);
  if (n > static_cast<int>(k_tags))
    std::abort();
  return static_cast<int>(next.fetch_add(1) % k_blocks * k_tags);
}

int received(int tag) {
  int got = -1;
  MPI_Recv(&got, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return got;
}

/// Sends each index, in a task: MPI may let a send wait for its receive.
void send_all(weft::task_group &group, int n, int tag) {
  group.spawn([n, tag] {
    for (int i = 0; i < n; ++i)
      MPI_Send(&i, 1, MPI_INT, 0, tag + i, MPI_COMM_SELF);
  });
}

void begin(int) {
  int has_begun = 0, level = MPI_THREAD_MULTIPLE;
  MPI_Initialized(&has_begun); // as a plug-in that comes again
  if (!has_begun)
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) {
    std::fputs("one_pool: this MPI does not give MPI_THREAD_MULTIPLE\n", stderr);
    std::exit(1);
  }
  g_has_mpi = true;
}

/// A process cannot begin MPI twice, so a plug-in leaves it as it is.
void end() {
  weft::taskwait();
  if (!std::getenv("ONE_POOL_PLUGINS"))
    MPI_Finalize();
}

void begin_in_child(int) { g_has_mpi = false; }

template <class F>
void receive_in_tasks(int n, F f) {
  const bool has_mpi = g_has_mpi;
  const int tag = has_mpi ? some_tags(n) : 0;
  weft::task_group group;
  for (int i = 0; i < n; ++i)
    group.spawn([&f, i, tag, has_mpi] { f(has_mpi ? received(tag + i) : i); });
  if (has_mpi)
    send_all(group, n, tag);
  group.wait();
}

void loop(int n, one_pool::body b) {
  one_pool::kept_exception kept;
  receive_in_tasks(n, [&](int i) { kept.run([&] { b(i); }); });
  kept.rethrow();
}

void tasks(int n, one_pool::body b) {
  if (!g_has_mpi)
    return loop(n, b);
  const int tag = some_tags(n);
  one_pool::kept_exception kept;
  std::vector<int> values(static_cast<std::size_t>(n), -1);
  weft::task_group group;
  for (int i = 0; i < n; ++i) {
    int &value = values[static_cast<std::size_t>(i)];
    group.spawn(
        [&value, i, tag] {
          MPI_Request request;
          MPI_Irecv(&value, 1, MPI_INT, 0, tag + i, MPI_COMM_SELF, &request);
          weft::mpi::bind(request);
        },
        weft::out(value));
    group.spawn([&] { kept.run([&] { b(value); }); }, weft::in(value));
  }
  send_all(group, n, tag);
  group.wait();
  kept.rethrow();
}

void until(int n, one_pool::body b) {
  std::atomic<bool> over{false};
  receive_in_tasks(n, [&](int i) {
    if (!over.load() && b(i))
      over.store(true);
  });
}

} // namespace

ONE_POOL_PART one_pool_mpi{"MPI", one_pool::place::task, &begin, &end, &begin_in_child, &loop,
                           &tasks, &until};
