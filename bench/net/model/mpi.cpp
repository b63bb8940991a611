// SPDX-License-Identifier: Apache-2.0
// weft-net-loggp-MPI [WINDOWS [COUNT]]   the LogGP parameters of MPI's non-blocking messages (measure.hpp), which the
// versions over MPI use. Started by the MPI's launcher.
#include "measure.hpp"

#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

namespace loggp = net_bench::loggp;

class rank_link {
 public:
  explicit rank_link(int other) : m_other(other), m_source(loggp::k_long), m_landing(loggp::k_long) {
    post();
  }
  ~rank_link() {
    MPI_Cancel(&m_awaited);
    MPI_Wait(&m_awaited, MPI_STATUS_IGNORE);
  }
  rank_link(const rank_link &) = delete;
  rank_link &operator=(const rank_link &) = delete;

  void send(std::size_t bytes) {
    MPI_Request sent;
    MPI_Isend(m_source.data(), static_cast<int>(bytes), MPI_BYTE, m_other, 0, MPI_COMM_WORLD,
              &sent);
    for (int is_over = 0; !is_over;) {
      MPI_Test(&sent, &is_over, MPI_STATUS_IGNORE);
      if (!is_over)
        progress();
    }
  }
  void progress() {
    int has_come = 0;
    MPI_Test(&m_awaited, &has_come, MPI_STATUS_IGNORE);
    if (has_come) {
      ++m_come;
      post();
    }
  }
  [[nodiscard]] std::uint64_t come() const noexcept { return m_come; }

 private:
  void post() {
    MPI_Irecv(m_landing.data(), static_cast<int>(m_landing.size()), MPI_BYTE, m_other, 0,
              MPI_COMM_WORLD, &m_awaited);
  }
  int m_other;
  std::vector<char> m_source, m_landing;
  std::uint64_t m_come = 0;
  MPI_Request m_awaited = MPI_REQUEST_NULL;
};

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int own = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int windows = argc > 1 ? std::atoi(argv[1]) : 40;
  const int count = argc > 2 ? std::atoi(argv[2]) : 64;
  if (size != 2 || windows < 1 || count < 2) {
    std::fprintf(
        stderr, "weft-net-loggp: needs two ranks, and a window or more, of two messages or more\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  {
    rank_link between(1 - own);
    const loggp::readings r = loggp::measurement<rank_link>(between, own, windows, count).run();
    MPI_Barrier(MPI_COMM_WORLD);
    if (own == 0)
      loggp::print(std::strstr(version, "Open MPI") ? "openmpi" : "mpich", "-", r);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
