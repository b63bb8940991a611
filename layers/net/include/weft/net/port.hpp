// SPDX-License-Identifier: Apache-2.0
// Unstable: engines that are libraries of their own, found by name as the program runs.
#pragma once

#include <weft/config.hpp>
#include <weft/net/transport.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace net {

/// Says how an engine reaches other ranks. Empty: as the engine finds best.
struct port_options {
  std::string transports; ///< of the engine, with commas between them; ucx: those of UCX_TLS
  std::string interface;  ///< the network interface; ucx: one of UCX_NET_DEVICES
  std::size_t queue = 0;  ///< messages to a rank that it has not handled; 0: net.queue
};

/// Is a rank that does not know the others yet.
class port {
 public:
  virtual ~port() = default;
  /// Returns what the others need to reach this rank: bytes, which may be sent.
  [[nodiscard]] virtual std::string address() const = 0;
  /// Makes the engine, once. `addresses` has that of each rank, this one included.
  ///
  /// Errors. out_of_resources, if a rank cannot be reached; the text names it.
  [[nodiscard]] virtual std::unique_ptr<engine>
  connect(int rank, const std::vector<std::string> &addresses) = 0;
  /// Returns the text of rank 0 at all ranks, if the engine's network connects them before they have met.
  ///
  /// Blocks. The thread, until all ranks have called it.
  [[nodiscard]] virtual std::optional<std::string> share(const std::string &text) {
    static_cast<void>(text);
    return std::nullopt;
  }
  /// Learns that this rank ends with an error: the engine does not wait for the others as it ends.
  virtual void give_up() noexcept {}
};

/// Returns the name of the library that an engine's name stands for: `auto` and `shm` are `ucx`; `mpi` is
/// `mpi-openmpi` or `mpi-mpich`, by the MPI that the process has loaded, else by that whose launcher has
/// started it, else by the library that is there. Other names are returned as they are.
///
/// Errors. not_supported, if the engine is for another MPI than the process has, or than its launcher is
/// of; the text says what fits.
[[nodiscard]] WEFT_API std::string resolve_engine(const std::string &engine);

/// Opens the port of an engine, as resolve_engine() names it, whose library `libweft-net-NAME.so` is beside that of weft::net or
/// where the loader looks. `shm` uses shared memory alone, unless the options name transports.
///
/// Errors. not_supported, if the library is not there, or what it needs is missing; the text says which
/// it is. bad_setting; out_of_resources.
[[nodiscard]] WEFT_API std::unique_ptr<port> open_port(const std::string &engine,
                                                       const port_options &options = {});

/// Is the function `weft_net_open_port` that the library of an engine exports, with C's linkage.
using open_port_function = port *(const port_options &options);

} // namespace net
} // namespace weft::inline v0
