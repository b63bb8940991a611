// SPDX-License-Identifier: Apache-2.0
// weft-net-task-MPI APP|all [OPTION...]    task-aware MPI: requests are bound to the tasks that make them
// weft-net-tampi-MPI APP|all [OPTION...]   the same by TAMPI, which knows tasks by ALPI
#include "mpi.hpp"
#include "tasks.hpp"

#ifdef WEFT_BENCH_TAMPI
#include <TAMPI.h>
#else
#include <weft/mpi.hpp>
#endif

namespace net_bench {

namespace {

#ifdef WEFT_BENCH_TAMPI
constexpr const char *k_version = "tampi", *k_program = "weft-net-tampi";

/// Sends what the running task holds, by release 3 of TAMPI, whose TAMPI_Isend returns the request.
inline void send_bound(int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *),
                       const void *from, int bytes, int to, int tag) {
  MPI_Request request;
  MPI_Isend(from, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
}
/// The same by release 4, which keeps the request.
inline void send_bound(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm),
                       const void *from, int bytes, int to, int tag) {
  send(from, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}
inline void receive_bound(int (*)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *,
                                  MPI_Status *),
                          void *to, int bytes, int from, int tag) {
  MPI_Request request;
  MPI_Irecv(to, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
  TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
}
inline void receive_bound(int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *),
                          void *to, int bytes, int from, int tag) {
  receive(to, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void send_in_task(const void *from, int bytes, int to, int tag) {
  send_bound(&TAMPI_Isend, from, bytes, to, tag);
}
void receive_in_task(void *to, int bytes, int from, int tag) {
  receive_bound(&TAMPI_Irecv, to, bytes, from, tag);
}
#else
constexpr const char *k_version = "task_mpi", *k_program = "weft-net-task";

void send_in_task(const void *from, int bytes, int to, int tag) {
  MPI_Request request;
  MPI_Isend(from, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  weft::mpi::bind(request);
}
void receive_in_task(void *to, int bytes, int from, int tag) {
  MPI_Request request;
  MPI_Irecv(to, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
  weft::mpi::bind(request);
}
#endif

class task_mpi_version : public task_version {
 public:
  task_mpi_version(const mpi_rank &own, meter &times) : task_version(times), m_own(own) {}
  [[nodiscard]] int rank() const { return m_own.rank; }
  [[nodiscard]] int ranks() const { return m_own.ranks; }
  [[nodiscard]] static const char *name() { return k_version; }

  void start(const layout &what, std::vector<double> &memory) {
    static_cast<void>(memory);
    m_bytes = static_cast<int>(what.bytes);
    m_turns.assign(static_cast<std::size_t>(4 * what.pieces), 0);
  }
  void begin() {
    clear();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void send(int piece, int to, int round, const double *from, const token &written) {
    count(1, static_cast<std::size_t>(m_bytes));
    const int tag = tag_of(piece, round);
    // MPI matches messages of one tag in their order.
    spawn(uses().in(written).inout(m_turns[static_cast<std::size_t>(2 * tag)]), "send", k_soon,
          [bytes = m_bytes, to, tag, from] { send_in_task(from, bytes, to, tag); });
  }
  void receive(int round, const std::vector<arrival> &coming) {
    for (const arrival &a : coming) {
      const int tag = tag_of(a.piece, round);
      spawn(uses().out(*a.written).inout(m_turns[static_cast<std::size_t>(2 * tag + 1)]), "receive",
            k_soon, [this, a, tag] {
              m_times.awaited(1);
              receive_in_task(a.to, m_bytes, a.from, tag);
            });
      note_arrival(*a.written);
    }
  }
  static void finish() { weft::taskwait(); }
  static void stop() { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  static constexpr int k_soon = 1 << 20; // before all kernels
  const mpi_rank &m_own;
  int m_bytes = 0;
  std::vector<token> m_turns; // by tag: of the sends, of the receives
};

} // namespace
} // namespace net_bench

int main(int argc, char **argv) {
  return net_bench::run_mpi<net_bench::task_mpi_version>(argc, argv, MPI_THREAD_MULTIPLE,
                                                         net_bench::k_program);
}
