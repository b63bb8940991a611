// SPDX-License-Identifier: Apache-2.0
// Tests two ranks of MPI with a task-aware library:
// - Blocking: each rank has more tasks inside of a receive than workers, and the other rank answers
//   them in another order.
// - Bound to events: data-flow orders tasks by the ends of requests that outlive their bodies.
#include "load_probe.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

namespace {

const probe_library *library;
int rank, other;
std::atomic<int> failures{0};

void check(bool right, const char *what) {
  if (!right && ++failures < 10)
    std::printf("rank %d: %s\n", rank, what);
}

int test_some(int count, void **requests, int *done) {
  std::vector<MPI_Request> all;
  for (int i = 0; i < count; ++i)
    all.push_back(*static_cast<MPI_Request *>(requests[i]));
  int found = 0;
  MPI_Testsome(count, all.data(), &found, done, MPI_STATUSES_IGNORE);
  return found == MPI_UNDEFINED ? 0 : found;
}

void wait(MPI_Request r) { check(library->wait(&r) == ALPI_SUCCESS, "a blocking wait failed"); }

/// Binds a request to the calling task. The library polls the request until it is done, so the
/// request must not move.
void bind(MPI_Request *r) {
  check(library->bind(r) == ALPI_SUCCESS, "a request could not be bound");
}

constexpr int k_messages = 30, k_rounds = 8, k_cells = 6;

void blocking() {
  std::atomic<int> received{0};
  for (int tag = 0; tag < k_messages; ++tag)
    weft::spawn(
        [&, tag] {
          int value = -1;
          MPI_Request r;
          MPI_Irecv(&value, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &r);
          wait(r);
          check(value == 100 * other + tag, "a blocking receive got another value");
          // The same task sends the answer back.
          MPI_Issend(&value, 1, MPI_INT, other, k_messages + tag, MPI_COMM_WORLD, &r);
          wait(r);
          ++received;
        },
        weft::label("receive"));
  for (int tag = k_messages; tag-- > 0;)
    weft::spawn(
        [&, tag] {
          int value = 100 * rank + tag, answer = -1;
          MPI_Request r;
          MPI_Issend(&value, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &r);
          wait(r);
          MPI_Irecv(&answer, 1, MPI_INT, other, k_messages + tag, MPI_COMM_WORLD, &r);
          wait(r);
          check(answer == value, "an answer is another value");
        },
        weft::label("send"));
  weft::taskwait();
  check(received == k_messages, "not every message has come");
}

struct cell {
  int mine = 0, theirs = 0;
  MPI_Request sent = MPI_REQUEST_NULL, came = MPI_REQUEST_NULL;
};

void events() {
  std::vector<cell> cells(k_cells);
  for (int round = 0; round < k_rounds; ++round)
    for (int i = 0; i < k_cells; ++i) {
      cell &c = cells[static_cast<std::size_t>(i)];
      const int tag = 1000 + i;
      weft::spawn([&c, round, i] { c.mine = 1000 * rank + 10 * round + i; }, weft::out(c.mine),
                  weft::label("compute"));
      weft::spawn(
          [&c, tag] {
            MPI_Isend(&c.mine, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &c.sent);
            bind(&c.sent);
          },
          weft::in(c.mine), weft::label("send"));
      weft::spawn(
          [&c, tag] {
            MPI_Irecv(&c.theirs, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &c.came);
            bind(&c.came);
          },
          weft::out(c.theirs), weft::label("receive"));
      weft::spawn(
          [&c, round, i] {
            check(c.theirs == 1000 * other + 10 * round + i, "a successor saw another value");
          },
          weft::in(c.theirs), weft::label("use"));
    }
  weft::taskwait();
}

void run(bool suspends) {
  if (!library->start(&test_some, 50'000, suspends)) {
    check(false, "the polling task could not be spawned");
    return;
  }
  blocking();
  events();
  int mine = 7 + rank; // the first thread is a task, too
  int theirs = -1;
  MPI_Request sent, came;
  MPI_Isend(&mine, 1, MPI_INT, other, 5000, MPI_COMM_WORLD, &sent);
  MPI_Irecv(&theirs, 1, MPI_INT, other, 5000, MPI_COMM_WORLD, &came);
  wait(came);
  wait(sent);
  check(theirs == 7 + other, "a blocking receive in main got another value");
  check(library->stop(), "main cannot wait for the end of polling");
  check(library->clashes() == 0, "two tasks had the same CPU");
  int blocks = 0, bound = 0, rounds = 0;
  library->counts(&blocks, &bound, &rounds);
  check(blocks == 4 * k_messages + 2 && bound == 2 * k_rounds * k_cells && rounds > 0,
        "the library was not asked");
}

} // namespace

int main(int argc, char **argv) {
  int provided = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  library = load_probe();
  if (!library || size != 2 || provided != MPI_THREAD_MULTIPLE) {
    std::printf("needs the library, two ranks and MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  run(false);
  run(true);
  int mine = failures, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && all == 0)
    std::printf("ok\n");
  return all ? EXIT_FAILURE : EXIT_SUCCESS;
}
