// SPDX-License-Identifier: Apache-2.0
// What a put costs that is known to have arrived: MPI's put and flush, a message and its answer, and the
// engine mpi, whose messages a thread takes. The target waits in MPI, or computes outside of it.
//   mpirun -n 2 put_flush [ROUNDS]
#include <weft/net.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>

namespace {

using clock = std::chrono::steady_clock;

constexpr int k_begin = 1, k_data = 2, k_answer = 3, k_end = 4; // tags
constexpr int k_puts = 50; // while the target waits
constexpr auto k_compute = std::chrono::milliseconds(5);
constexpr std::size_t k_most = 4096;
constexpr std::uint32_t k_over = 1; // a notification

double us_since(clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(clock::now() - begin).count();
}

/// Is one way to put: its time for each put in a round, in microseconds.
struct way {
  std::string name;
  bool target_computes;
  std::size_t bytes;
  std::vector<double> us;
};

void compute() {
  const auto end = clock::now() + k_compute;
  while (clock::now() < end) {
  }
}

/// Is the target: it computes, if it has to, and answers until the round is over.
void answer(bool computes, std::vector<char> &memory) {
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, k_begin, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (computes)
    compute();
  for (;;) {
    MPI_Status status;
    MPI_Recv(memory.data(), static_cast<int>(k_most), MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
             &status);
    if (status.MPI_TAG == k_end)
      return;
    MPI_Send(nullptr, 0, MPI_BYTE, 0, k_answer, MPI_COMM_WORLD);
  }
}

template <class Put>
double measure(bool target_computes, Put &&put) {
  const int puts = target_computes ? 1 : k_puts;
  MPI_Send(nullptr, 0, MPI_BYTE, 1, k_begin, MPI_COMM_WORLD);
  const auto settled = clock::now() + std::chrono::microseconds(500); // the target has begun
  while (clock::now() < settled) {
  }
  const auto begin = clock::now();
  for (int i = 0; i < puts; ++i)
    put();
  const double us = us_since(begin) / puts;
  MPI_Send(nullptr, 0, MPI_BYTE, 1, k_end, MPI_COMM_WORLD);
  return us;
}

void run(weft::net::team &team, int rounds) {
  const bool is_origin = team.rank() == 0;
  std::vector<char> memory(k_most), from(k_most, 'x');
  [[maybe_unused]] char *made = nullptr;
  MPI_Win allocated = MPI_WIN_NULL, created = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                          MPI_ERRORS_RETURN); // Open MPI makes not every kind everywhere
#if defined(MPICH)
  const bool has_allocated = false; // MPI_Win_allocate of MPICH 4.0.2 crashes now and then
#else
  const bool has_allocated =
      MPI_Win_allocate(k_most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made, &allocated) == MPI_SUCCESS;
#endif
  const bool has_created = MPI_Win_create(memory.data(), k_most, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                                          &created) == MPI_SUCCESS;
  if (has_allocated)
    MPI_Win_lock_all(0, allocated);
  if (has_created)
    MPI_Win_lock_all(0, created);
  auto shared = team.allocate<char>(k_most);
  std::vector<way> ways;
  for (const bool computes : {false, true})
    for (const std::size_t bytes : {std::size_t{8}, k_most})
      for (const char *const name :
           {"MPI_Put, flush; MPI_Win_allocate", "MPI_Put, flush; MPI_Win_create",
            "MPI_Send, answer by MPI_Recv", "engine mpi: put, flush"})
        if (const std::string_view of = name; (has_allocated || !of.ends_with("allocate")) &&
                                              (has_created || !of.ends_with("create")))
          ways.push_back({name, computes, bytes, {}});
  for (int round = -1; round < rounds; ++round) // the first is not counted
    for (way &w : ways) {
      const int bytes = static_cast<int>(w.bytes);
      const auto put_to = [&](MPI_Win window) {
        return [&, window] {
          MPI_Put(from.data(), bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
          MPI_Win_flush(1, window);
        };
      };
      const bool is_of_weft = w.name.starts_with("engine");
      double us = 0;
      if (is_of_weft && is_origin) {
        const auto put = [&] {
          team.async_put(shared.on(1).subspan(0, w.bytes), std::span(from).first(w.bytes)).get();
          team.async_flush(1).get();
        };
        us = measure(w.target_computes, put);
        team.async_notify(1, k_over).get();
      } else if (is_of_weft) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, k_begin, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (w.target_computes)
          compute();
        team.wait_notified(k_over);
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, k_end, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (!is_origin) {
        answer(w.target_computes, memory);
      } else if (w.name.starts_with("MPI_Send")) {
        us = measure(w.target_computes, [&] {
          MPI_Send(from.data(), bytes, MPI_BYTE, 1, k_data, MPI_COMM_WORLD);
          MPI_Recv(nullptr, 0, MPI_BYTE, 1, k_answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
      } else {
        us = measure(w.target_computes, put_to(w.name.ends_with("allocate") ? allocated : created));
      }
      if (round >= 0)
        w.us.push_back(us);
    }
  for (auto &[window, is_there] : {std::pair(&created, has_created), {&allocated, has_allocated}})
    if (is_there) {
      MPI_Win_unlock_all(*window);
      MPI_Win_free(window);
    }
  if (!is_origin)
    return;
  std::printf("%-36s %-9s %6s %10s %10s %10s\n", "put that has arrived, us", "target", "bytes",
              "quartile", "median", "quartile");
  for (way &w : ways) {
    std::ranges::sort(w.us);
    std::printf("%-36s %-9s %6zu %10.2f %10.2f %10.2f\n", w.name.c_str(),
                w.target_computes ? "computes" : "waits", w.bytes, w.us[w.us.size() / 4],
                w.us[w.us.size() / 2], w.us[w.us.size() * 3 / 4]);
  }
}

} // namespace

int main(int argc, char **argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int rounds = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 41;
  try {
    weft::net::run_ranks([&](weft::net::team &team) {
      if (team.size() != 2)
        throw std::runtime_error("put_flush needs two ranks, and WEFT_NET_ENGINE=mpi");
      run(team, rounds);
    });
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 5);
  }
  MPI_Finalize();
}
