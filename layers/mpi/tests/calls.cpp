// SPDX-License-Identifier: Apache-2.0
// Every blocking call between two ranks, in a task: it suspends the task, and its result is MPI's.
#include "ranks.hpp"

#include <thread>
#include <vector>

using namespace ranks;

namespace {

constexpr int k_long = 1 << 19; // ints: no MPI sends so many before the receiver asks

std::vector<int> numbers(int n, int first) {
  std::vector<int> v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = first + i;
  return v;
}

void receive_long(int tag) {
  std::vector<int> got(k_long);
  MPI_Status status;
  PMPI_Recv(got.data(), k_long, MPI_INT, 0, tag, MPI_COMM_WORLD, &status);
  CHECK(got == numbers(k_long, tag));
}

template <class Send>
void sends(int tag, Send send) {
  const std::vector<int> sent = numbers(k_long, tag);
  suspends([&] { CHECK(send(sent.data(), tag) == MPI_SUCCESS); },
           [&] {
             if (rank == 1)
               receive_long(tag);
           });
}

void send() {
  sends(1, [](const int *data, int tag) {
    return MPI_Send(data, k_long, MPI_INT, 1, tag, MPI_COMM_WORLD);
  });
}
void ssend() {
  sends(2, [](const int *data, int tag) {
    return MPI_Ssend(data, k_long, MPI_INT, 1, tag, MPI_COMM_WORLD);
  });
}

void bsend() {
  std::vector<char> room(1 << 16);
  MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
  suspends(
      [] {
        const int x = 17;
        CHECK(MPI_Bsend(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD) == MPI_SUCCESS);
      },
      [] {
        int x = 0;
        if (rank == 1)
          PMPI_Recv(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(rank != 1 || x == 17);
      });
  void *given = nullptr;
  int bytes = 0;
  weft::spawn([&] { CHECK(MPI_Buffer_detach(&given, &bytes) == MPI_SUCCESS); });
  weft::taskwait();
  CHECK(given == room.data() && bytes == static_cast<int>(room.size()));
}

void rsend() {
  int got = 0;
  MPI_Request posted = MPI_REQUEST_NULL;
  if (rank == 1)
    PMPI_Irecv(&got, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &posted);
  PMPI_Barrier(MPI_COMM_WORLD);
  suspends(
      [] {
        const int x = 18;
        CHECK(MPI_Rsend(&x, 1, MPI_INT, 1, 4, MPI_COMM_WORLD) == MPI_SUCCESS);
      },
      [&] {
        if (rank == 1)
          PMPI_Wait(&posted, MPI_STATUS_IGNORE);
        CHECK(rank != 1 || got == 18);
      });
}

/// Sends `x` from rank 1.
void answer(int tag, int x) {
  if (rank == 1)
    PMPI_Send(&x, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

bool is_from(const MPI_Status &status, int source, int tag, int count) {
  int n = -1;
  MPI_Get_count(&status, MPI_INT, &n);
  return status.MPI_SOURCE == source && status.MPI_TAG == tag && n == count;
}

void recv() {
  suspends(
      [] {
        int x[3] = {};
        MPI_Status status;
        CHECK(MPI_Recv(x, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status) ==
              MPI_SUCCESS);
        CHECK(x[0] == 55 && x[1] == 0 && is_from(status, 1, 5, 1));
      },
      [] { answer(5, 55); });
  weft::spawn([] { // nothing to wait for
    MPI_Status status;
    const MPI_Comm world = MPI_COMM_WORLD;
    int x = 1, y = 2;
    CHECK(MPI_Recv(nullptr, 0, MPI_INT, MPI_PROC_NULL, 5, world, &status) == MPI_SUCCESS);
    CHECK(is_from(status, MPI_PROC_NULL, MPI_ANY_TAG, 0));
    CHECK(MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 5, &y, 1, MPI_INT, MPI_PROC_NULL, 5, world,
                       &status) == MPI_SUCCESS);
    CHECK(is_from(status, MPI_PROC_NULL, MPI_ANY_TAG, 0) && y == 2);
    CHECK(MPI_Sendrecv_replace(&x, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_PROC_NULL, 5, world,
                               &status) == MPI_SUCCESS);
    CHECK(is_from(status, MPI_PROC_NULL, MPI_ANY_TAG, 0) && x == 1);
  });
  weft::taskwait();
}

void sendrecv() {
  suspends(
      [] {
        int got = 0, mine = 6;
        MPI_Status status;
        CHECK(MPI_Sendrecv(&mine, 1, MPI_INT, 1, 6, &got, 1, MPI_INT, 1, 7, MPI_COMM_WORLD,
                           &status) == MPI_SUCCESS);
        CHECK(got == 12 && is_from(status, 1, 7, 1));
      },
      [] {
        int got = 0;
        if (rank == 1) {
          PMPI_Recv(&got, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          answer(7, 2 * got);
        }
      });
}

void sendrecv_replace() {
  suspends(
      [] {
        MPI_Datatype strided; // every other element
        MPI_Type_vector(3, 1, 2, MPI_INT, &strided);
        MPI_Type_commit(&strided);
        int x[5] = {1, -1, 2, -1, 3};
        MPI_Status status;
        CHECK(MPI_Sendrecv_replace(x, 1, strided, 1, 8, 1, 9, MPI_COMM_WORLD, &status) ==
              MPI_SUCCESS);
        CHECK(x[0] == 10 && x[1] == -1 && x[2] == 20 && x[3] == -1 && x[4] == 30);
        CHECK(is_from(status, 1, 9, 3));
        MPI_Type_free(&strided);
      },
      [] {
        if (rank != 1)
          return;
        int got[3];
        PMPI_Recv(got, 3, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int &x : got)
          x *= 10;
        PMPI_Send(got, 3, MPI_INT, 0, 9, MPI_COMM_WORLD);
      });
}

void probe() {
  suspends(
      [] {
        MPI_Status status;
        CHECK(MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
        CHECK(is_from(status, 1, 10, 1));
        int x = 0;
        MPI_Recv(&x, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(x == 101);
      },
      [] { answer(10, 101); });
}

void mprobe() {
  suspends(
      [] {
        MPI_Message message;
        MPI_Status status;
        CHECK(MPI_Mprobe(1, 11, MPI_COMM_WORLD, &message, &status) == MPI_SUCCESS);
        CHECK(is_from(status, 1, 11, k_long));
        std::vector<int> x(k_long);
        CHECK(MPI_Mrecv(x.data(), k_long, MPI_INT, &message, &status) == MPI_SUCCESS);
        CHECK(x == numbers(k_long, 11) && message == MPI_MESSAGE_NULL);
        CHECK(is_from(status, 1, 11, k_long));
      },
      [] {
        if (rank == 1)
          PMPI_Send(numbers(k_long, 11).data(), k_long, MPI_INT, 0, 11, MPI_COMM_WORLD);
      });
}

void wait() {
  suspends(
      [] {
        int x = 0;
        MPI_Request r;
        MPI_Status status;
        MPI_Irecv(&x, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, &r);
        CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS);
        CHECK(r == MPI_REQUEST_NULL && x == 121 && is_from(status, 1, 12, 1));
        CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS &&
              is_from(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
      },
      [] { answer(12, 121); });
}

void waitall() {
  suspends(
      [] {
        int x[3] = {};
        MPI_Request r[4];
        MPI_Status status[4];
        for (int i = 0; i < 3; ++i)
          MPI_Irecv(x + i, 1, MPI_INT, 1, 13 + i, MPI_COMM_WORLD, r + i);
        r[3] = MPI_REQUEST_NULL;
        CHECK(MPI_Waitall(4, r, status) == MPI_SUCCESS);
        for (int i = 0; i < 3; ++i)
          CHECK(r[i] == MPI_REQUEST_NULL && x[i] == i && is_from(status[i], 1, 13 + i, 1));
      },
      [] {
        for (int i = 3; i-- > 0;)
          answer(13 + i, i);
      });
}

/// Makes two receives, of which one never ends by itself, and an inactive persistent one, which MPI's
/// waits pass over.
struct three {
  int x[3] = {};
  MPI_Request r[3];
  explicit three(int tag) {
    MPI_Irecv(x, 1, MPI_INT, 1, tag + 1000, MPI_COMM_WORLD, r);
    MPI_Recv_init(x + 1, 1, MPI_INT, 1, tag + 1000, MPI_COMM_WORLD, r + 1);
    MPI_Irecv(x + 2, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, r + 2);
  }
  ~three() {
    MPI_Cancel(r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Request_free(r + 1);
  }
};

void waitany() {
  suspends(
      [] {
        three t(16);
        int index = -1;
        MPI_Status status;
        CHECK(MPI_Waitany(3, t.r, &index, &status) == MPI_SUCCESS);
        CHECK(index == 2 && t.x[2] == 161 && t.r[2] == MPI_REQUEST_NULL &&
              is_from(status, 1, 16, 1));
        CHECK(MPI_Waitany(2, t.r + 1, &index, &status) == MPI_SUCCESS && index == MPI_UNDEFINED);
      },
      [] { answer(16, 161); });
}

void waitsome() {
  suspends(
      [] {
        three t(17);
        int found = 0, index[3];
        MPI_Status status[3];
        CHECK(MPI_Waitsome(3, t.r, &found, index, status) == MPI_SUCCESS);
        CHECK(found == 1 && index[0] == 2 && t.x[2] == 171 && is_from(status[0], 1, 17, 1));
      },
      [] { answer(17, 171); });
}

/// Lets the message come at any moment of the wait: while the wait looks for what is active, too.
void messages_at_any_moment() {
  constexpr int k_rounds = 300, k_any = 20, k_some = 21;
  if (rank == 1)
    for (int i = 0; i < 2 * k_rounds; ++i) {
      PMPI_Recv(nullptr, 0, MPI_INT, 0, k_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      answer(i % 2 == 0 ? k_any : k_some, i);
    }
  if (rank != 0)
    return;
  weft::spawn([] {
    for (int i = 0; i < 2 * k_rounds; ++i) {
      three t(i % 2 == 0 ? k_any : k_some);
      PMPI_Send(nullptr, 0, MPI_INT, 1, k_go, MPI_COMM_WORLD);
      int index[3] = {-1, -1, -1}, found = 1;
      if (i % 2 == 0)
        MPI_Waitany(3, t.r, index, MPI_STATUS_IGNORE);
      else
        MPI_Waitsome(3, t.r, &found, index, MPI_STATUSES_IGNORE);
      CHECK(found == 1 && index[0] == 2 && t.x[2] == i);
    }
  });
  weft::taskwait();
}

/// Tests in a loop: each test that finds nothing lets other work run.
void tests() {
  suspends(
      [] {
        int x = 0, flag = 0;
        MPI_Request r;
        MPI_Irecv(&x, 1, MPI_INT, 1, 18, MPI_COMM_WORLD, &r);
        while (!flag)
          MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        CHECK(x == 181);
      },
      [] { answer(18, 181); });
  suspends(
      [] {
        MPI_Status status;
        for (int flag = 0; !flag;)
          MPI_Iprobe(1, 19, MPI_COMM_WORLD, &flag, &status);
        int x = 0, found = 0, flag = 0, index = -1;
        MPI_Recv(&x, 1, MPI_INT, 1, 19, MPI_COMM_WORLD, &status);
        CHECK(x == 191);
        MPI_Request r = MPI_REQUEST_NULL;
        MPI_Testsome(1, &r, &found, &index, MPI_STATUSES_IGNORE);
        CHECK(found == MPI_UNDEFINED);
        MPI_Testall(1, &r, &flag, MPI_STATUSES_IGNORE);
        CHECK(flag);
        MPI_Testany(1, &r, &index, &flag, &status);
        CHECK(flag && index == MPI_UNDEFINED);
      },
      [] { answer(19, 191); });
}

void persistent() {
  int sent = 0, got = 0;
  MPI_Request r[2];
  const int other = rank < 2 ? 1 - rank : MPI_PROC_NULL;
  MPI_Send_init(&sent, 1, MPI_INT, other, 20, MPI_COMM_WORLD, r);
  MPI_Recv_init(&got, 1, MPI_INT, other, 20, MPI_COMM_WORLD, r + 1);
  for (int round = 0; round < 5; ++round) {
    weft::spawn([&] {
      sent = 100 * rank + round;
      MPI_Startall(2, r);
      CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
      CHECK(rank > 1 || got == 100 * other + round);
      CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL);
    });
    weft::taskwait();
  }
  MPI_Request_free(r);
  MPI_Request_free(r + 1);
}

/// Has many more tasks inside of a receive than workers, which the other rank serves from the last to
/// the first.
void more_tasks_than_workers() {
  constexpr int n = 300;
  std::atomic<int> received{0};
  if (rank == 0)
    for (int i = 0; i < n; ++i)
      weft::spawn([i, &received] {
        int x = -1;
        MPI_Recv(&x, 1, MPI_INT, 1, 2000 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(x == i);
        CHECK(MPI_Ssend(&x, 1, MPI_INT, 1, 3000 + i, MPI_COMM_WORLD) == MPI_SUCCESS);
        ++received;
      });
  else if (rank == 1)
    for (int i = n; i-- > 0;)
      weft::spawn([i, &received] {
        int x = -1;
        MPI_Ssend(&i, 1, MPI_INT, 0, 2000 + i, MPI_COMM_WORLD);
        MPI_Recv(&x, 1, MPI_INT, 0, 3000 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(x == i);
        ++received;
      });
  weft::taskwait();
  CHECK(received == (rank < 2 ? n : 0));
}

/// A thread of the program calls MPI beside the tasks, and its calls are MPI's own.
void threads_of_the_program() {
  std::thread beside([] {
    for (int i = 0; i < 50; ++i) {
      int x = -1;
      if (rank == 0)
        MPI_Send(&i, 1, MPI_INT, 1, 4000, MPI_COMM_WORLD);
      else if (rank == 1) {
        MPI_Recv(&x, 1, MPI_INT, 0, 4000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(x == i);
      }
    }
  });
  more_tasks_than_workers();
  beside.join();
}

/// Takes back what the user's own block() must not lose: an unblock that comes while the task is
/// suspended in MPI is for the next block.
void tokens_of_the_user() {
  suspends(
      [] {
        const weft::task_ref self = weft::this_task::self();
        weft::spawn([self] { weft::unblock(self); });
        int x = 0;
        MPI_Recv(&x, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(x == 211);
        weft::this_task::block();
      },
      [] { answer(21, 211); });
}

constexpr test k_tests[] = {
    {"send", 2, &send},
    {"ssend", 2, &ssend},
    {"bsend", 2, &bsend},
    {"rsend", 2, &rsend},
    {"recv", 2, &recv},
    {"sendrecv", 2, &sendrecv},
    {"sendrecv_replace", 2, &sendrecv_replace},
    {"probe", 2, &probe},
    {"mprobe", 2, &mprobe},
    {"wait", 2, &wait},
    {"waitall", 2, &waitall},
    {"waitany", 2, &waitany},
    {"waitsome", 2, &waitsome},
    {"messages_at_any_moment", 2, &messages_at_any_moment},
    {"tests", 2, &tests},
    {"persistent", 2, &persistent},
    {"more_tasks_than_workers", 2, &more_tasks_than_workers},
    {"threads_of_the_program", 2, &threads_of_the_program},
    {"tokens_of_the_user", 2, &tokens_of_the_user},
};

} // namespace

int main(int argc, char **argv) { return run(k_tests, argc, argv); }
