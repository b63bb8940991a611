// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/address.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft_net {

namespace {

using addresses = std::unique_ptr<addrinfo, void (*)(addrinfo *)>;

addresses look_up(const std::string &host, const std::string &port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0)
    throw address_error("the host '" + host + "' is not known (" + gai_strerror(error) +
                        "); look at its spelling, and at /etc/hosts or the name server of this "
                        "host");
  return {found, freeaddrinfo};
}

std::string why() { return std::strerror(errno); }

template <class Each>
void each_interface(Each &&each) {
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return;
  for (const ifaddrs *i = all; i; i = i->ifa_next)
    if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET) {
      char text[INET_ADDRSTRLEN] = "";
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in *>(i->ifa_addr)->sin_addr, text,
                sizeof text);
      each(*i, std::string(text));
    }
  freeifaddrs(all);
}

void be_prompt(int descriptor) {
  const int one = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/// Returns 0, or the errno of a connection that cannot be made in time.
int connect_once(int descriptor, const addrinfo &there, int milliseconds) {
  const int flags = fcntl(descriptor, F_GETFL);
  fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
  int error = connect(descriptor, there.ai_addr, there.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waits{descriptor, POLLOUT, 0};
    socklen_t size = sizeof error;
    if (poll(&waits, 1, milliseconds) == 0)
      error = ETIMEDOUT;
    else
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  fcntl(descriptor, F_SETFL, flags);
  return error;
}

} // namespace

endpoint endpoint_of(const std::string &text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw address_error("'" + text + "' is no HOST:PORT (net.root); write node1:7000, say");
  endpoint made{text.substr(0, colon), text.substr(colon + 1)};
  int port = 0;
  const char *const last = made.port.data() + made.port.size();
  const auto [end, error] = std::from_chars(made.port.data(), last, port);
  if (error != std::errc() || end != last || port < 1 || port > 65535)
    throw address_error("'" + made.port + "' in '" + text +
                        "' is no port (net.root); it is a number from 1 to 65535");
  return made;
}

int listen_on(const std::string &host, int &port) {
  const std::string by_interface = address_of_interface(host);
  const std::string name = by_interface.empty() ? host : by_interface;
  const auto found = look_up(name, std::to_string(port));
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in own{};
  socklen_t size = sizeof own;
  if (made < 0 || bind(made, found->ai_addr, found->ai_addrlen) != 0 || listen(made, 1024) != 0 ||
      getsockname(made, reinterpret_cast<sockaddr *>(&own), &size) != 0) {
    const int error = errno;
    close(made);
    const std::string where = name + ":" + std::to_string(port);
    if (error == EADDRINUSE)
      throw address_error("the port of " + where +
                          " is in use; take another one, or 0 for any that is free");
    if (error == EADDRNOTAVAIL)
      throw address_error("'" + host +
                          "' is no address of this host; `ip address` lists its addresses and "
                          "interfaces");
    throw address_error("cannot listen on " + where + ": " + std::strerror(error));
  }
  port = ntohs(own.sin_port);
  return made;
}

int connect_to(const endpoint &there, int seconds) {
  const auto found = look_up(there.host, there.port);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const std::string where = there.host + ":" + there.port;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0)
      throw address_error("cannot make a socket: " + why());
    const int error = connect_once(made, *found, static_cast<int>(std::max<long>(left.count(), 1)));
    if (error == 0) {
      be_prompt(made);
      return made;
    }
    close(made);
    if (left.count() > 100 && error == ECONNREFUSED) {
      poll(nullptr, 0, 50);
      continue;
    }
    if (error == ECONNREFUSED)
      throw address_error("no process listens at " + where +
                          " (net.root); look whether the port is right, and whether the process "
                          "that the ranks meet at has ended");
    if (error == ETIMEDOUT)
      throw address_error(where + " does not answer within " + std::to_string(seconds) +
                          " s (net.root); a firewall between the hosts may drop the packets: give "
                          "`weft launch --interface` one that both have");
    throw address_error("cannot reach " + where + " (net.root): " + std::strerror(error) +
                        (is_loopback(there.host) ? ""
                                                 : "; look whether the hosts have a network in "
                                                   "common (`ip route get` with the address)"));
  }
}

std::string address_of_interface(const std::string &name) {
  std::string found;
  each_interface([&](const ifaddrs &interface, const std::string &address) {
    if (found.empty() && name == interface.ifa_name)
      found = address;
  });
  return found;
}

std::string outer_address() {
  std::string found;
  each_interface([&](const ifaddrs &interface, const std::string &address) {
    if (found.empty() && (interface.ifa_flags & IFF_LOOPBACK) == 0 &&
        (interface.ifa_flags & IFF_UP) != 0)
      found = address;
  });
  return found;
}

bool is_loopback(const std::string &host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1";
}

std::string own_host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name[0] ? name : "localhost";
}

} // namespace weft_net
