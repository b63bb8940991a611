// SPDX-License-Identifier: Apache-2.0
// lpf/mpi.h: processes that exist become those of LPF.
#include "weft_lpf/api.hpp"
#include "weft_lpf/machine.hpp"
#include "weft_lpf/processes.hpp"

#include <weft/config.hpp>
#include <weft/net/joined_job.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace {

using weft::net::joined_job;
using weft_lpf::context;
using weft_lpf::place;

/// Is this process among those that were joined.
class joined_process final : public weft_lpf::joined {
 public:
  explicit joined_process(std::unique_ptr<joined_job> joined)
      : m_job(std::move(joined)),
        m_root(nullptr, 0, place{m_job.pid(), m_job.processes(), m_job.processes(), 1, true}) {}
  bool run(lpf_spmd_t spmd, const lpf_args_t &args) override {
    if (!m_is_measured) {
      context first(&m_job.below(), m_root.next_name(), m_root.where());
      m_root.use_name();
      m_is_measured = true;
      weft_lpf::measure_hooked(first);
    }
    context self(&m_job.below(), m_root.next_name(), m_root.where());
    m_root.use_name();
    return run_spmd(self, spmd, args);
  }
  void enter_failure_state() noexcept override { m_program.enter_failure_state(); }
  void leave() {
    {
      context last(&m_job.below(), m_root.next_name(), m_root.where());
      static_cast<void>(last.sync(context::ending::function));
    }
    m_job.leave();
  }

 private:
  weft_lpf::process_job m_job;
  context m_root; // which names the others, and outlives the link
  context &m_program = weft_lpf::root_context(); // of the same process
  bool m_is_measured = false; // the same at all: each lpf_hook() is a call of all
};

/// Calls functions of the MPI that the program has. A communicator is a number in MPICH, and a pointer in
/// Open MPI; both are passed in one register.
class mpi_of_program {
 public:
  using handle = void *;
  explicit mpi_of_program(handle communicator) : m_communicator(communicator) {
    m_bytes = dlsym(RTLD_DEFAULT, "ompi_mpi_byte"); // of Open MPI
    if (!m_bytes)
      m_bytes = reinterpret_cast<handle>(std::uintptr_t{0x4c00010d}); // MPI_BYTE of MPICH's ABI
  }
  [[nodiscard]] int rank() const { return number("MPI_Comm_rank"); }
  [[nodiscard]] int size() const { return number("MPI_Comm_size"); }
  /// Returns the text of rank 0 at all ranks.
  [[nodiscard]] std::string share(const std::string &text) const {
    char all[256] = {};
    if (text.size() >= sizeof all)
      throw std::runtime_error("the address of process 0 is too long");
    std::memcpy(all, text.data(), text.size());
    using broadcast = int(void *, int, handle, int, handle);
    if (find<broadcast>("MPI_Bcast")(all, sizeof all, m_bytes, 0, m_communicator) != 0)
      throw std::runtime_error("MPI_Bcast has failed");
    return all;
  }

 private:
  template <class F>
  static F *find(const char *name) {
    void *const found = dlsym(RTLD_DEFAULT, name);
    if (!found)
      throw std::runtime_error(std::string(name) +
                               " is not in the program; link it with an MPI library");
    return reinterpret_cast<F *>(found);
  }
  [[nodiscard]] int number(const char *name) const {
    int value = 0;
    if (find<int(handle, int *)>(name)(m_communicator, &value) != 0)
      throw std::runtime_error(std::string(name) + " has failed");
    return value;
  }
  handle m_communicator;
  handle m_bytes;
};

} // namespace

extern "C" {

WEFT_API __attribute__((weak)) extern const int LPF_MPI_AUTO_INITIALIZE = 1;

WEFT_API lpf_err_t lpf_mpi_initialize_with_mpicomm(mpi_of_program::handle comm, lpf_init_t *init) {
  return weft_lpf::answer("lpf_mpi_initialize_with_mpicomm", [&] {
    const mpi_of_program mpi(comm);
    *init = new joined_process(joined_job::by(
        [&](const std::string &text) { return mpi.share(text); }, mpi.rank(), mpi.size()));
    return true;
  });
}

WEFT_API lpf_err_t lpf_mpi_initialize_over_tcp(const char *server, const char *port, int timeout,
                                               lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t *init) {
  return weft_lpf::answer("lpf_mpi_initialize_over_tcp", [&] {
    if (pid >= nprocs)
      throw std::runtime_error("there is no process " + std::to_string(pid) + " of " +
                               std::to_string(nprocs));
    const int seconds = std::max((timeout + 999) / 1000, 1);
    *init =
        new joined_process(joined_job::at(std::string(server) + ":" + port, static_cast<int>(pid),
                                          static_cast<int>(nprocs), seconds));
    return true;
  });
}

WEFT_API lpf_err_t lpf_mpi_finalize(lpf_init_t init) {
  return weft_lpf::answer("lpf_mpi_finalize", [&] {
    const std::unique_ptr<weft_lpf::joined> joined(static_cast<weft_lpf::joined *>(init));
    static_cast<joined_process &>(*joined).leave();
    return true;
  });
}

} // extern "C"
