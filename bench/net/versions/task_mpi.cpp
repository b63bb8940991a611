// SPDX-License-Identifier: Apache-2.0
// weft-net-task-MPI APP|all [OPTION...]   task-aware MPI: requests are bound to the tasks that make them
#include "mpi.hpp"
#include "tasks.hpp"

#include <weft/mpi.hpp>

namespace net_bench {

namespace {

class task_mpi_version : public task_version {
 public:
  task_mpi_version(const mpi_rank &own, meter &times) : task_version(times), m_own(own) {}
  [[nodiscard]] int rank() const { return m_own.rank; }
  [[nodiscard]] int ranks() const { return m_own.ranks; }
  [[nodiscard]] static const char *name() { return "task_mpi"; }

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
          [bytes = m_bytes, to, tag, from] {
            MPI_Request request;
            MPI_Isend(from, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
            weft::mpi::bind(request);
          });
  }
  void receive(int round, const std::vector<arrival> &coming) {
    for (const arrival &a : coming) {
      const int tag = tag_of(a.piece, round);
      spawn(uses().out(*a.written).inout(m_turns[static_cast<std::size_t>(2 * tag + 1)]), "receive",
            k_soon, [this, a, tag] {
              m_times.awaited(1);
              MPI_Request request;
              MPI_Irecv(a.to, m_bytes, MPI_BYTE, a.from, tag, MPI_COMM_WORLD, &request);
              weft::mpi::bind(request);
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
                                                         "weft-net-task");
}
