// SPDX-License-Identifier: Apache-2.0
#include "os/peer.hpp"

#include "os/file.hpp"

#include <array>
#include <cstdio>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr int k_readings = 3; // the kernel may leave out a line of a table that changes meanwhile

/// Returns an end as the tables write it. `before`: what an address of IPv6 has in front.
std::string text_of(tcp_end end, const char *before) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), " %s%08X:%04X", before, end.address, ntohs(end.port));
  return text.data();
}

/// Reads what follows the two ends in a line: state, queues, timer, retransmissions, user, timeout,
/// inode. A socket that is closed has no inode, and the kernel says that root has it.
std::optional<uid_t> user_behind(std::string_view rest) {
  unsigned user = 0;
  unsigned long inode = 0;
  const std::string line(rest.substr(0, rest.find('\n')));
  if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %u %*s %lu", &user, &inode) != 2 || inode == 0)
    return std::nullopt;
  return user;
}

template <class Name>
std::optional<tcp_end> end_by(Name name, int socket) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  if (name(socket, reinterpret_cast<sockaddr *>(&at), &size) != 0 || at.sin_family != AF_INET)
    return std::nullopt;
  return tcp_end{at.sin_addr.s_addr, at.sin_port};
}

} // namespace

std::optional<uid_t> user_in_table(std::string_view table, tcp_end own, tcp_end other) {
  std::array<char, 32> mapped; // ::ffff:0:0/96, the addresses of IPv4 among those of IPv6
  std::snprintf(mapped.data(), mapped.size(), "%016X%08X", 0, htonl(0xffff));
  for (const char *before : {"", static_cast<const char *>(mapped.data())}) {
    const std::string ends = text_of(own, before) + text_of(other, before) + " ";
    if (const auto at = table.find(ends); at != std::string_view::npos)
      return user_behind(table.substr(at + ends.size()));
  }
  return std::nullopt;
}

std::optional<uid_t> user_of_peer(int socket) {
  const auto here = end_by(&getsockname, socket), there = end_by(&getpeername, socket);
  if (!here || !there)
    return std::nullopt;
  for (int i = 0; i != k_readings; ++i)
    for (const char *file : {"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"})
      if (const auto table = read_file(file))
        if (const auto user = user_in_table(*table, *there, *here))
          return user;
  return std::nullopt;
}

} // namespace rt
} // namespace weft::inline v0
