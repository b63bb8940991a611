// SPDX-License-Identifier: Apache-2.0
// Misuse, each with its message. The argument says which; the program plays an MPI that gives fewer
// threads than asked for by standing in for PMPI_Init_thread.
#include "support/listener.hpp"

#include <mpi.h>
#include <weft/mpi.hpp>
#include <weft/weft.hpp>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

int most_level = MPI_THREAD_MULTIPLE;

bool asked_for(const char *what, const char *argument) { return std::strcmp(what, argument) == 0; }

void *symbol(const char *name) {
  if (void *const found = dlsym(RTLD_NEXT, name))
    return found;
  std::fprintf(stderr, "there is no %s\n", name);
  _exit(2);
}

int class_of(int code) {
  int found = -1;
  MPI_Error_class(code, &found);
  return found;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int PMPI_Init_thread(int *argc, char ***argv,
                                                                       int level, int *provided) {
  using function = int(int *, char ***, int, int *);
  return reinterpret_cast<function *>(symbol("PMPI_Init_thread"))(
      argc, argv, level < most_level ? level : most_level, provided);
}

int main(int argc, char **argv) {
  const char *const what = argc > 1 ? argv[1] : "";
  if (asked_for(what, "serialized"))
    most_level = MPI_THREAD_SERIALIZED;
  if (asked_for(what, "funneled"))
    most_level = MPI_THREAD_FUNNELED;
  MPI_Init(&argc, &argv);
  int x = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  if (asked_for(what, "finalize")) { // a task still receives
    weft::spawn([&] { MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE); });
    weft::taskyield();
    weft::this_task::sleep_for_ns(50'000'000);
    MPI_Finalize();
    return 0;
  }
  if (asked_for(what, "terminated")) { // as a launcher ends the other ranks of a failed job
    weft::spawn([&] { MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE); });
    weft::spawn([&] {
      MPI_Request r;
      MPI_Irecv(&x, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r);
      weft::mpi::bind(r);
    });
    weft::taskyield();
    weft::this_task::sleep_for_ns(50'000'000);
    // In a child of fork() these tasks are the parent's.
    int line[2];
    if (pipe(line) != 0)
      return 1;
    const pid_t child = fork();
    if (child == 0) {
      dup2(line[1], STDERR_FILENO);
      raise(SIGTERM);
      _exit(0);
    }
    close(line[1]);
    char c;
    if (read(line[0], &c, 1) != 0) {
      std::fprintf(stderr, "a child of fork() says something\n");
      _exit(1); // the tasks wait for ever
    }
    waitpid(child, nullptr, 0);
    raise(SIGTERM);
    return 0;
  }
  if (asked_for(what, "stall")) { // no rank sends, until the report is out
    MPI_Comm turned;
    MPI_Comm_dup(MPI_COMM_WORLD, &turned);
    int y = 0, z = 0;
    weft::spawn([&] { MPI_Recv(&x, 1, MPI_INT, 0, 7, turned, MPI_STATUS_IGNORE); });
    weft::spawn([&] { MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 8, turned, MPI_STATUS_IGNORE); });
    weft::spawn([&] {
      MPI_Request r;
      MPI_Irecv(&z, 1, MPI_INT, 0, 9, turned, &r);
      weft::mpi::bind(r);
    });
    {
      const test::listener errors;
      while (!errors.has_heard("1 request by weft::mpi::bind"))
        weft::this_task::sleep_for_ns(10'000'000);
    }
    for (int tag = 7; tag != 10; ++tag)
      MPI_Send(&tag, 1, MPI_INT, 0, tag, turned);
    weft::taskwait();
    std::fprintf(stderr, "%d %d %d\n", x, y, z); // behind the report, whatever the launcher does
    MPI_Comm_free(&turned);
  }
  if (asked_for(what, "why")) { // until the test, which asks what they wait for, ends it
    MPI_Comm turned;
    MPI_Comm_dup(MPI_COMM_WORLD, &turned);
    if (rank != 0)
      for (;;)
        pause(); // no partner of the collective calls
    const auto begin = [&x](int tag) {
      MPI_Request r;
      MPI_Irecv(&x, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &r);
      return r;
    };
    // A receive that ends, so that MPI uses its handle again.
    const auto end_one = [&begin](auto wait) {
      MPI_Request r = begin(17);
      MPI_Send(nullptr, 0, MPI_INT, 0, 17, MPI_COMM_WORLD);
      wait(&r, MPI_STATUS_IGNORE);
    };
    const auto test_one = [](MPI_Request *r, MPI_Status *status) {
      for (int flag = 0; !flag;)
        MPI_Test(r, &flag, status);
    };
    bool waits = false;
    weft::spawn([&] { MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); },
                weft::label("receives"));
    weft::spawn(
        [&] {
          MPI_Request r[] = {begin(8), begin(18), MPI_REQUEST_NULL};
          waits = true;
          MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        },
        weft::label("waits"));
    weft::spawn([&] { // the first one of that wait ends while it waits
      while (!waits)
        weft::this_task::sleep_for_ns(1'000'000);
      MPI_Send(nullptr, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
    });
    // A wait, a test, bind() and another call that begins a request take away the note of an earlier one.
    const auto persistent = [&](auto init) {
      MPI_Request r;
      init(&x, 1, MPI_INT, 0, 19, MPI_COMM_WORLD, &r);
      MPI_Start(&r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    };
    weft::spawn([&] { end_one(&MPI_Wait), persistent(&PMPI_Recv_init); },
                weft::label("after_wait"));
    weft::spawn([&] { end_one(test_one), persistent(&PMPI_Recv_init); }, weft::label("after_test"));
    weft::spawn(
        [&] {
          end_one([](MPI_Request *r, MPI_Status *) {
            weft::spawn([r] { weft::mpi::bind(*r); });
            weft::taskwait();
          });
          persistent(&PMPI_Recv_init);
        },
        weft::label("after_bind"));
    weft::spawn([&] { end_one(&PMPI_Wait), persistent(&MPI_Recv_init); },
                weft::label("persistent"));
    weft::spawn(
        [&] {
          end_one(&PMPI_Wait);
          MPI_Request r;
          MPI_Ibarrier(MPI_COMM_WORLD, &r);
          MPI_Wait(&r, MPI_STATUS_IGNORE);
        },
        weft::label("barrier"));
    weft::spawn(
        [&] {
          end_one(&PMPI_Wait);
          MPI_Request r;
          MPI_Ibcast(&x, 1, MPI_INT, 1, turned, &r);
          weft::mpi::bind(r);
        },
        weft::label("bound_bcast"));
    MPI_Request of_thread;
    std::thread([&] { of_thread = begin(20); }).join();
    weft::spawn([&] { MPI_Wait(&of_thread, MPI_STATUS_IGNORE); }, weft::label("of_thread"));
    weft::spawn(
        [&] {
          MPI_Request r = begin(9);
          weft::mpi::bind(r);
        },
        weft::label("bound"));
    std::printf("pid %d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
    weft::taskwait();
  }
  if (asked_for(what, "serialized") || asked_for(what, "funneled")) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const bool aware = weft::mpi::is_task_aware();
    // The thread that initialised MPI goes on, outside of tasks.
    const int outside =
        MPI_Sendrecv_replace(&x, 1, MPI_INT, rank, 3, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int in_task = -1, on_thread = -1;
    weft::spawn([&] {
      in_task =
          MPI_Sendrecv_replace(&x, 1, MPI_INT, rank, 3, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Request r = MPI_REQUEST_NULL;
      try {
        weft::mpi::bind(r);
        std::printf("bound\n");
      } catch (const weft::error &e) {
        std::printf("bind: %s\n", to_string(e.code()));
      }
    });
    weft::taskwait();
    std::thread([&] {
      on_thread =
          MPI_Sendrecv_replace(&x, 1, MPI_INT, rank, 3, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }).join();
    std::printf("aware %d, outside %d, in a task %s, on a thread %s\n", aware, outside,
                class_of(in_task) == MPI_ERR_OTHER ? "refused" : "done",
                class_of(on_thread) == MPI_ERR_OTHER ? "refused" : "done");
  }
  MPI_Finalize();
  return 0;
}
