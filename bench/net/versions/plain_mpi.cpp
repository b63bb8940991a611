// SPDX-License-Identifier: Apache-2.0
// weft-net-plain-MPI, weft-net-openmp-MPI APP|all [OPTION...]   MPI without tasks
//
// plain: one thread, which runs kernels as they come and waits for what a round brings.
// openmp: the same, but kernels between two exchanges are a parallel loop, whose iterations are the groups.
#include "mpi.hpp"

#include <functional>
#include <map>

namespace net_bench {

namespace {

class plain_version {
 public:
  plain_version(const mpi_rank &own, meter &times) : m_times(times), m_own(own) {}
  [[nodiscard]] int rank() const { return m_own.rank; }
  [[nodiscard]] int ranks() const { return m_own.ranks; }
#ifdef _OPENMP
  [[nodiscard]] static const char *name() { return "openmp"; }
#else
  [[nodiscard]] static const char *name() { return "plain"; }
#endif

  void start(const layout &what, std::vector<double> &memory) {
    static_cast<void>(memory);
    m_bytes = static_cast<int>(what.bytes);
  }
  void begin() {
    m_sent = {};
    MPI_Barrier(MPI_COMM_WORLD);
  }
  template <class F>
  void run(std::size_t group, const uses &used, int priority, F f) {
    static_cast<void>(used);
    static_cast<void>(priority);
    const auto kernel = [this, f] {
      m_times.kernel(1);
      f();
      m_times.kernel(-1);
    };
#ifdef _OPENMP
    m_groups[group].push_back(kernel);
#else
    static_cast<void>(group);
    kernel();
#endif
  }
  void send(int piece, int to, int round, const double *from, const token &written) {
    static_cast<void>(written);
    ++m_sent.messages;
    m_sent.bytes += static_cast<std::size_t>(m_bytes);
    run_groups();
    m_requests.emplace_back();
    MPI_Isend(from, m_bytes, MPI_BYTE, to, tag_of(piece, round), MPI_COMM_WORLD,
              &m_requests.back());
  }
  void receive(int round, const std::vector<arrival> &coming) {
    run_groups();
    m_times.awaited(1);
    for (const arrival &a : coming) {
      m_requests.emplace_back();
      MPI_Irecv(a.to, m_bytes, MPI_BYTE, a.from, tag_of(a.piece, round), MPI_COMM_WORLD,
                &m_requests.back());
    }
    MPI_Waitall(static_cast<int>(m_requests.size()), m_requests.data(), MPI_STATUSES_IGNORE);
    m_requests.clear();
    m_times.awaited(-1);
  }
  void finish() { run_groups(); }
  static void stop() { MPI_Barrier(MPI_COMM_WORLD); }
  [[nodiscard]] traffic sent() const { return m_sent; }

 private:
  void run_groups() {
#ifdef _OPENMP
    if (m_groups.empty())
      return;
    std::vector<const std::vector<std::function<void()>> *> groups;
    for (const auto &[number, kernels] : m_groups)
      groups.push_back(&kernels);
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const std::function<void()> &kernel : *groups[i])
        kernel();
    m_groups.clear();
#endif
  }

  meter &m_times;
  const mpi_rank &m_own;
  int m_bytes = 0;
  traffic m_sent;
  std::vector<MPI_Request> m_requests;
#ifdef _OPENMP
  std::map<std::size_t, std::vector<std::function<void()>>> m_groups;
#endif
};

} // namespace
} // namespace net_bench

int main(int argc, char **argv) {
  return net_bench::run_mpi<net_bench::plain_version>(argc, argv, MPI_THREAD_FUNNELED,
                                                      "weft-net-plain");
}
