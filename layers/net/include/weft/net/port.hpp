// SPDX-License-Identifier: Apache-2.0
// Unstable: engines that are libraries of their own, found by name as the program runs.
#pragma once

#include <weft/config.hpp>
#include <weft/net/transport.hpp>

#include <cstddef>
#include <memory>
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
};

/// Opens the port of an engine, whose library `libweft-net-NAME.so` is beside that of weft::net or
/// where the loader looks.
///
/// Errors. not_supported, if the library is not there, or what it needs is missing; the text says which
/// it is. bad_setting; out_of_resources.
[[nodiscard]] WEFT_API std::unique_ptr<port> open_port(const std::string &engine,
                                                       const port_options &options = {});

/// Is the function `weft_net_open_port` that the library of an engine exports, with C's linkage.
using open_port_function = port *(const port_options &options);

} // namespace net
} // namespace weft::inline v0
