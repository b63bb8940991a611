// SPDX-License-Identifier: Apache-2.0
// Tells which user is at the other end of a connection within this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace weft::inline v0 {
namespace rt {

/// Holds one end of a connection of IPv4, as the kernel has it: in network byte order.
struct tcp_end {
  std::uint32_t address;
  std::uint16_t port;
};

/// Returns the user of the socket at `own`, which is connected with `other`, by a table like
/// /proc/net/tcp and /proc/net/tcp6; nothing where the table has no such socket, or one that its
/// process has closed.
[[nodiscard]] std::optional<uid_t> user_in_table(std::string_view table, tcp_end own,
                                                 tcp_end other);

/// Returns the user of the process at the other end of a connection of IPv4 whose ends are both on
/// this machine; nothing where the kernel's tables do not tell.
///
/// Cost. Reads the tables of all connections.
[[nodiscard]] std::optional<uid_t> user_of_peer(int socket);

} // namespace rt
} // namespace weft::inline v0
