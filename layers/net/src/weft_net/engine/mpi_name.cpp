// SPDX-License-Identifier: Apache-2.0
#include "weft_net/engine/mpi_name.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>

#include <cstddef>
#include <string_view>

#include <link.h>
#include <unistd.h>

namespace weft_net {

namespace {

struct mpi_kind {
  const char *engine, *title, *launcher;
};
constexpr mpi_kind k_openmpi = {"mpi-openmpi", "Open MPI", "mpirun"};
constexpr mpi_kind k_mpich = {"mpi-mpich", "MPICH", "mpiexec"};

int look_at_file(dl_phdr_info *info, std::size_t, void *signs) {
  auto &found = *static_cast<mpi_signs *>(signs);
  const std::string path = info->dlpi_name ? info->dlpi_name : "";
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (name.starts_with("libmpi.so.40") || name.starts_with("libmpi.so.80"))
    found.openmpi_file = path;
  if (name.starts_with("libmpich.so.") || name.starts_with("libmpi.so.12"))
    found.mpich_file = path;
  return 0;
}

bool has_file(const std::string &path) noexcept { return access(path.c_str(), R_OK) == 0; }

} // namespace

mpi_signs signs_of_process(const std::string &folder) {
  mpi_signs made;
  dl_iterate_phdr(&look_at_file, &made);
  made.is_of_mpirun = weft::layer::environment("OMPI_COMM_WORLD_RANK") != nullptr;
  made.is_of_mpiexec = !made.is_of_mpirun && weft::layer::environment("PMI_RANK") &&
                       weft::layer::environment("MPI_LOCALNRANKS");
  made.has_openmpi_engine = has_file(folder + "libweft-net-mpi-openmpi.so");
  made.has_mpich_engine = has_file(folder + "libweft-net-mpi-mpich.so");
  return made;
}

std::string mpi_engine_name(const std::string &engine, const mpi_signs &signs) {
  const mpi_kind *wanted = engine == k_openmpi.engine ? &k_openmpi
                           : engine == k_mpich.engine ? &k_mpich
                                                      : nullptr;
  const mpi_kind *const loaded = !signs.openmpi_file.empty() ? &k_openmpi
                                 : !signs.mpich_file.empty() ? &k_mpich
                                                             : nullptr;
  const mpi_kind *const started = signs.is_of_mpirun    ? &k_openmpi
                                  : signs.is_of_mpiexec ? &k_mpich
                                                        : nullptr;
  if (!wanted)
    wanted = loaded                                                ? loaded
             : started                                             ? started
             : signs.has_mpich_engine && !signs.has_openmpi_engine ? &k_mpich
                                                                   : &k_openmpi;
  if (loaded && wanted != loaded)
    throw weft::error(weft::errc::not_supported,
                      std::string("the engine ") + wanted->engine + " is for " + wanted->title +
                          ", and this program uses " + loaded->title + " (" +
                          (loaded == &k_openmpi ? signs.openmpi_file : signs.mpich_file) +
                          "); use net.engine=" + loaded->engine);
  if (started && wanted != started)
    throw weft::error(weft::errc::not_supported,
                      std::string("the engine ") + wanted->engine + " is for " + wanted->title +
                          ", and " + started->launcher + " of " + started->title +
                          " has started this process; start it by `weft launch --engine " +
                          wanted->engine + "`, or by " + wanted->launcher + " of " + wanted->title);
  return wanted->engine;
}

} // namespace weft_net
