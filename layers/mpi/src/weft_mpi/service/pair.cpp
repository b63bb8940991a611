// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/pair.hpp"

#include "weft_mpi/service/message.hpp"
#include "weft_mpi/service/mpi.hpp"

#include <weft/layer/environment.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <link.h>

namespace weft_mpi {
namespace {

#if defined(OPEN_MPI)
constexpr std::string_view k_files_of_other[] = {"libmpich.so.", "libmpi.so.12"};
constexpr const char k_size_of_other[] = "PMI_SIZE";
constexpr const char k_launcher[] = "mpirun.openmpi";
#else
constexpr std::string_view k_files_of_other[] = {"libmpi.so.40", "libmpi.so.80", "libopen-rte.so."};
constexpr const char k_size_of_other[] = "OMPI_COMM_WORLD_SIZE";
constexpr const char k_launcher[] = "mpiexec.mpich";
#endif

/// Stops at the first file that belongs to the other MPI.
int is_of_other(dl_phdr_info *info, std::size_t, void *found) {
  std::string_view name = info->dlpi_name ? info->dlpi_name : "";
  name.remove_prefix(name.rfind('/') + 1); // npos + 1 is 0
  for (const std::string_view file : k_files_of_other)
    if (name.starts_with(file)) {
      *static_cast<const char **>(found) = info->dlpi_name;
      return 1;
    }
  return 0;
}

[[gnu::constructor]] void when_loaded() { refuse_other_mpi(); }

} // namespace

void refuse_other_mpi() noexcept {
  const char *file = nullptr;
  if (dl_iterate_phdr(&is_of_other, &file) != 0)
    fatal(
        "this program uses %s (%s), and %s is the library for %s: use %s instead, or build the program with "
        "the mpicc of %s",
        k_other_mpi, file, k_this_library, k_this_mpi, k_other_library, k_this_mpi);
}

void warn_of_other_launcher() noexcept {
  int size = 0;
  const char *const theirs = weft::layer::environment(k_size_of_other);
  if (!theirs || std::atoi(theirs) <= 1 || PMPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS ||
      size != 1)
    return;
  warn(
      "this rank is alone: the launcher of %s started %s ranks, and the program uses %s; start it with %s",
      k_other_mpi, theirs, k_this_mpi, k_launcher);
}

} // namespace weft_mpi
