// SPDX-License-Identifier: Apache-2.0
#include "os/peer.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace weft::rt;

const std::string k_table_head = "  sl  local_address rem_address   st tx_queue rx_queue tr "
                                 "tm->when retrnsmt   uid  timeout inode\n";

/// Returns a line of a table of IPv4.
std::string table_line(const char *ends, const char *user, const char *inode) {
  return std::string("   0: ") + ends + " 01 00000000:00000000 00:00000000 00000000  " + user +
         "        0 " + inode + " 1 0000000000000000 20 4 30 10 -1\n";
}

tcp_end end_at(std::uint16_t port) {
  return {htonl(INADDR_LOOPBACK), htons(port)};
}

/// Returns both ends as the kernel writes them.
std::string two_ends(std::uint16_t from, std::uint16_t to, const char *before = "") {
  char text[128];
  const unsigned address = htonl(INADDR_LOOPBACK);
  std::snprintf(text, sizeof text, "%s%08X:%04X %s%08X:%04X", before, address, from, before,
                address, to);
  return text;
}

} // namespace

TEST(peer, is_found_by_both_ends_of_its_socket) {
  const std::string table =
      k_table_head + table_line(two_ends(9464, 40000).c_str(), "1000", "71") +
      table_line(two_ends(40000, 9465).c_str(), "1001", "72") +
      table_line(two_ends(40000, 9464).c_str(), "1002", "73") +
      table_line(two_ends(40001, 9464).c_str(), "1003", "74");
  EXPECT_EQ(user_in_table(table, end_at(40000), end_at(9464)), 1002u);
  EXPECT_EQ(user_in_table(table, end_at(9464), end_at(40000)), 1000u);
  EXPECT_EQ(user_in_table(table, end_at(40002), end_at(9464)), std::nullopt);
  EXPECT_EQ(user_in_table("", end_at(40000), end_at(9464)), std::nullopt);
}

TEST(peer, of_an_address_of_the_sixth_version_is_found) {
  char before[32];
  std::snprintf(before, sizeof before, "%016X%08X", 0, htonl(0xffff));
  const std::string table =
      k_table_head + table_line(two_ends(40000, 9464, before).c_str(), "1002", "73");
  EXPECT_EQ(user_in_table(table, end_at(40000), end_at(9464)), 1002u);
}

TEST(peer, that_has_closed_its_socket_is_no_user) {
  EXPECT_EQ(user_in_table(table_line(two_ends(1, 2).c_str(), "0", "0"), end_at(1), end_at(2)),
            std::nullopt);
  EXPECT_EQ(user_in_table("   0: " + two_ends(1, 2) + " 06 00000000:00000000\n" +
                              table_line(two_ends(3, 4).c_str(), "1000", "71"),
                          end_at(1), end_at(2)),
            std::nullopt)
      << "a line that ends early";
}

TEST(peer, of_a_real_connection_is_this_user) {
  const int listens = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(bind(listens, reinterpret_cast<sockaddr *>(&at), sizeof at), 0);
  ASSERT_EQ(listen(listens, 4), 0);
  ASSERT_EQ(getsockname(listens, reinterpret_cast<sockaddr *>(&at), &size), 0);
  EXPECT_EQ(user_of_peer(listens), std::nullopt) << "it is connected with nothing";
  const int asks = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(asks, reinterpret_cast<sockaddr *>(&at), sizeof at), 0);
  const int accepted = accept(listens, nullptr, nullptr);
  EXPECT_EQ(user_of_peer(accepted), geteuid());
  if (geteuid() == 0) {
    ASSERT_EQ(fchown(asks, 65534, 65534), 0);
    EXPECT_EQ(user_of_peer(accepted), 65534u);
  }
  close(asks);
  EXPECT_EQ(user_of_peer(accepted), std::nullopt) << "the other end is closed";
  close(accepted);
  close(listens);
}

TEST(peer, of_a_socket_of_ipv6_is_this_user) {
  const int listens = socket(AF_INET, SOCK_STREAM, 0), asks = socket(AF_INET6, SOCK_STREAM, 0);
  if (asks < 0)
    GTEST_SKIP() << "this machine has no IPv6";
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(bind(listens, reinterpret_cast<sockaddr *>(&at), sizeof at), 0);
  ASSERT_EQ(listen(listens, 4), 0);
  ASSERT_EQ(getsockname(listens, reinterpret_cast<sockaddr *>(&at), &size), 0);
  sockaddr_in6 mapped{};
  mapped.sin6_family = AF_INET6;
  mapped.sin6_port = at.sin_port;
  ASSERT_EQ(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr), 1);
  ASSERT_EQ(connect(asks, reinterpret_cast<sockaddr *>(&mapped), sizeof mapped), 0);
  const int accepted = accept(listens, nullptr, nullptr);
  EXPECT_EQ(user_of_peer(accepted), geteuid());
  for (const int s : {accepted, asks, listens})
    close(s);
}
