// SPDX-License-Identifier: Apache-2.0
// Every collective call in a task of rank 0, with the other ranks outside of tasks: the two match, the
// task is suspended, and results are MPI's.
#include "ranks.hpp"

#include <numeric>
#include <vector>

using namespace ranks;

namespace {

using list = std::vector<int>;

/// Calls `body()` on all ranks, on rank 0 in a task that it must suspend.
template <class Body>
void everywhere(Body &&body) {
  suspends(body, body);
}

list of(int n, int first, int step = 1) {
  list v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = first + step * i;
  return v;
}
std::size_t index(int i) { return static_cast<std::size_t>(i); }
constexpr MPI_Comm world() { return MPI_COMM_WORLD; }

void barrier() {
  everywhere([] { CHECK(MPI_Barrier(world()) == MPI_SUCCESS); });
}

void bcast() {
  everywhere([] {
    list x = rank == size - 1 ? of(100, 3) : list(100);
    CHECK(MPI_Bcast(x.data(), 100, MPI_INT, size - 1, world()) == MPI_SUCCESS);
    CHECK(x == of(100, 3));
  });
}

void gather() {
  everywhere([] {
    list all(index(size));
    CHECK(MPI_Gather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, 0, world()) == MPI_SUCCESS);
    CHECK(rank != 0 || all == of(size, 0));
  });
  everywhere([] {
    list all(index(size), -1);
    all[0] = 0;
    if (rank == 0)
      MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all.data(), 1, MPI_INT, 0, world());
    else
      MPI_Gather(&rank, 1, MPI_INT, nullptr, 0, MPI_INT, 0, world());
    CHECK(rank != 0 || all == of(size, 0));
  });
}

void gatherv() {
  everywhere([] { // rank r gives r + 1 numbers, with a hole behind each block
    const list mine = of(rank + 1, 10 * rank);
    const list counts = of(size, 1);
    list places(index(size));
    for (int r = 1; r < size; ++r)
      places[index(r)] = places[index(r - 1)] + r + 1;
    list all(index(places.back() + size + 1), -1);
    CHECK(MPI_Gatherv(mine.data(), rank + 1, MPI_INT, all.data(), counts.data(), places.data(),
                      MPI_INT, 0, world()) == MPI_SUCCESS);
    for (int r = 0; rank == 0 && r < size; ++r) {
      CHECK(all[index(places[index(r)] + r)] == 10 * r + r);
      CHECK(all[index(places[index(r)] + r + 1)] == -1);
    }
  });
}

void scatter() {
  everywhere([] {
    const list all = of(size, 7);
    int x = 0;
    CHECK(MPI_Scatter(all.data(), 1, MPI_INT, &x, 1, MPI_INT, 0, world()) == MPI_SUCCESS);
    CHECK(x == 7 + rank);
  });
  everywhere([] {
    const list all = of(2 * size, 7), counts(index(size), 1), places = of(size, 0, 2);
    int x = 0;
    CHECK(MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, &x, 1, MPI_INT, 0,
                       world()) == MPI_SUCCESS);
    CHECK(x == 7 + 2 * rank);
  });
}

void allgather() {
  everywhere([] {
    list all(index(size));
    CHECK(MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, world()) == MPI_SUCCESS);
    CHECK(all == of(size, 0));
  });
  everywhere([] {
    list all(index(size), -1);
    all[index(rank)] = rank;
    CHECK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all.data(), 1, MPI_INT, world()) == MPI_SUCCESS);
    CHECK(all == of(size, 0));
  });
  everywhere([] {
    const list counts(index(size), 1), places = of(size, 0, 2);
    list all(index(2 * size), -1);
    CHECK(MPI_Allgatherv(&rank, 1, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT,
                         world()) == MPI_SUCCESS);
    for (int r = 0; r < size; ++r)
      CHECK(all[index(2 * r)] == r && all[index(2 * r + 1)] == -1);
  });
}

void alltoall() {
  everywhere([] {
    const list mine = of(size, 100 * rank);
    list got(index(size));
    CHECK(MPI_Alltoall(mine.data(), 1, MPI_INT, got.data(), 1, MPI_INT, world()) == MPI_SUCCESS);
    CHECK(got == of(size, rank, 100));
  });
  everywhere([] {
    list both = of(size, 100 * rank);
    CHECK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, both.data(), 1, MPI_INT, world()) == MPI_SUCCESS);
    CHECK(both == of(size, rank, 100));
  });
  everywhere([] {
    const list mine = of(2 * size, 100 * rank), counts(index(size), 1), places = of(size, 0, 2);
    list got(index(2 * size), -1);
    CHECK(MPI_Alltoallv(mine.data(), counts.data(), places.data(), MPI_INT, got.data(),
                        counts.data(), places.data(), MPI_INT, world()) == MPI_SUCCESS);
    for (int r = 0; r < size; ++r)
      CHECK(got[index(2 * r)] == 100 * r + 2 * rank && got[index(2 * r + 1)] == -1);
  });
  everywhere([] {
    const list mine = of(size, 100 * rank), counts(index(size), 1);
    const list places = of(size, 0, static_cast<int>(sizeof(int)));
    const std::vector<MPI_Datatype> types(index(size), MPI_INT);
    list got(index(size));
    CHECK(MPI_Alltoallw(mine.data(), counts.data(), places.data(), types.data(), got.data(),
                        counts.data(), places.data(), types.data(), world()) == MPI_SUCCESS);
    CHECK(got == of(size, rank, 100));
  });
}

const int k_sum = -1; // marks what must stay as it is

void reduce() {
  const int sum = size * (size - 1) / 2;
  everywhere([&] {
    int all = k_sum;
    CHECK(MPI_Reduce(&rank, &all, 1, MPI_INT, MPI_SUM, 0, world()) == MPI_SUCCESS);
    CHECK(all == (rank == 0 ? sum : k_sum));
  });
  everywhere([&] {
    int x = rank;
    if (rank == 0)
      MPI_Reduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, 0, world());
    else
      MPI_Reduce(&x, nullptr, 1, MPI_INT, MPI_SUM, 0, world());
    CHECK(x == (rank == 0 ? sum : rank));
  });
  everywhere([&] {
    int all = 0, x = rank;
    CHECK(MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, world()) == MPI_SUCCESS);
    CHECK(all == sum);
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_MAX, world()) == MPI_SUCCESS);
    CHECK(x == size - 1);
  });
}

void reduce_scatter() {
  const int sum = size * (size - 1) / 2;
  everywhere([&] {
    const list mine(index(size), rank);
    int x = 0;
    CHECK(MPI_Reduce_scatter_block(mine.data(), &x, 1, MPI_INT, MPI_SUM, world()) == MPI_SUCCESS);
    CHECK(x == sum);
  });
  everywhere([&] {
    const list counts(index(size), 2), mine(index(2 * size), rank);
    list x(2);
    CHECK(MPI_Reduce_scatter(mine.data(), x.data(), counts.data(), MPI_INT, MPI_SUM, world()) ==
          MPI_SUCCESS);
    CHECK(x == list(2, sum));
  });
}

/// A scan of rank 0 needs no other rank, so the task need not wait.
void scan() {
  everywhere([] {
    int x = -1;
    CHECK(MPI_Scan(&rank, &x, 1, MPI_INT, MPI_SUM, world()) == MPI_SUCCESS);
    CHECK(x == rank * (rank + 1) / 2);
    CHECK(MPI_Exscan(&rank, &x, 1, MPI_INT, MPI_SUM, world()) == MPI_SUCCESS);
    CHECK(rank == 0 || x == rank * (rank - 1) / 2);
  });
}

/// Each rank talks to the one before and the one after it, in a ring that is made in a task.
void neighbours() {
  MPI_Comm ring = MPI_COMM_NULL;
  everywhere([&] {
    const int one = 1;
    CHECK(MPI_Cart_create(world(), 1, &size, &one, 0, &ring) == MPI_SUCCESS);
  });
  const int before = (rank + size - 1) % size, after = (rank + 1) % size;
  const list one = {1, 1}, places = {0, 1};
  const MPI_Aint bytes[] = {0, sizeof(int)};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  everywhere([&] {
    list got(2);
    CHECK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, got.data(), 1, MPI_INT, ring) == MPI_SUCCESS);
    CHECK((got == list{before, after}));
  });
  everywhere([&] {
    list got(2);
    CHECK(MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, got.data(), one.data(), places.data(), MPI_INT,
                                  ring) == MPI_SUCCESS);
    CHECK((got == list{before, after}));
  });
  // With two ranks both neighbours are the same rank, and MPIs differ in which message is which.
  const list mine(2, rank);
  everywhere([&] {
    list got(2);
    CHECK(MPI_Neighbor_alltoall(mine.data(), 1, MPI_INT, got.data(), 1, MPI_INT, ring) ==
          MPI_SUCCESS);
    CHECK((got == list{before, after}));
  });
  everywhere([&] {
    list got(2);
    CHECK(MPI_Neighbor_alltoallv(mine.data(), one.data(), places.data(), MPI_INT, got.data(),
                                 one.data(), places.data(), MPI_INT, ring) == MPI_SUCCESS);
    CHECK((got == list{before, after}));
  });
  everywhere([&] {
    list got(2);
    CHECK(MPI_Neighbor_alltoallw(mine.data(), one.data(), bytes, types, got.data(), one.data(),
                                 bytes, types, ring) == MPI_SUCCESS);
    CHECK((got == list{before, after}));
  });
  everywhere([&] { CHECK(MPI_Comm_free(&ring) == MPI_SUCCESS); });
}

void communicators() {
  MPI_Comm twin = MPI_COMM_NULL, part = MPI_COMM_NULL;
  everywhere([&] { CHECK(MPI_Comm_dup(world(), &twin) == MPI_SUCCESS); });
  everywhere([&] { CHECK(MPI_Comm_split(twin, rank % 2, -rank, &part) == MPI_SUCCESS); });
  int in_part = 0;
  MPI_Comm_size(part, &in_part);
  CHECK(in_part == (size + (rank + 1) % 2) / 2);
  everywhere([&] {
    CHECK(MPI_Comm_free(&part) == MPI_SUCCESS && part == MPI_COMM_NULL);
    CHECK(MPI_Comm_free(&twin) == MPI_SUCCESS && twin == MPI_COMM_NULL);
  });
}

/// Many tasks are each inside of a collective call on a communicator of its own.
void many_at_once() {
  constexpr int n = 12;
  std::vector<MPI_Comm> comms(n);
  for (MPI_Comm &c : comms)
    MPI_Comm_dup(world(), &c);
  list sums(n);
  for (int i = 0; i < n; ++i)
    weft::spawn([&, i] {
      const int x = i + rank;
      MPI_Allreduce(&x, &sums[index(i)], 1, MPI_INT, MPI_SUM, comms[index(i)]);
    });
  weft::taskwait();
  CHECK(sums == of(n, size * (size - 1) / 2, size));
  for (MPI_Comm &c : comms)
    MPI_Comm_free(&c);
}

#if MPI_VERSION >= 4
void large_counts() {
  everywhere([] {
    list x = rank == 0 ? of(10, 5) : list(10);
    CHECK(MPI_Bcast_c(x.data(), 10, MPI_INT, 0, world()) == MPI_SUCCESS && x == of(10, 5));
    list sum(10);
    CHECK(MPI_Allreduce_c(x.data(), sum.data(), 10, MPI_INT, MPI_SUM, world()) == MPI_SUCCESS);
    CHECK(sum == of(10, 5 * size, size));
    int got = -1;
    MPI_Sendrecv_c(&rank, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT,
                   (rank + size - 1) % size, 1, world(), MPI_STATUS_IGNORE);
    CHECK(got == (rank + size - 1) % size);
  });
}
#endif

constexpr test k_tests[] = {
    {"barrier", 2, &barrier},
    {"bcast", 2, &bcast},
    {"gather", 2, &gather},
    {"gatherv", 2, &gatherv},
    {"scatter", 2, &scatter},
    {"allgather", 2, &allgather},
    {"alltoall", 2, &alltoall},
    {"reduce", 2, &reduce},
    {"reduce_scatter", 2, &reduce_scatter},
    {"scan", 2, &scan},
    {"neighbours", 2, &neighbours},
    {"communicators", 2, &communicators},
    {"many_at_once", 2, &many_at_once},
#if MPI_VERSION >= 4
    {"large_counts", 2, &large_counts},
#endif
};

} // namespace

int main(int argc, char **argv) { return run(k_tests, argc, argv); }
