// SPDX-License-Identifier: Apache-2.0
// Addresses of TCP, as people write them. Each failure says which host, port or interface is wrong.
#pragma once

#include <stdexcept>
#include <string>

namespace weft_net {

/// Reports what cannot be reached or bound, and the remedy.
class address_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Is HOST:PORT.
struct endpoint {
  std::string host;
  std::string port;
};

/// Errors. address_error for a text that is none.
[[nodiscard]] endpoint endpoint_of(const std::string &text);

/// Listens on an address of this host, or on the name of an interface; port 0 takes a free one. Returns
/// the descriptor, and sets `port`. Errors. address_error.
[[nodiscard]] int listen_on(const std::string &host, int &port);

/// Connects within some seconds; asks again while the other side refuses, because it may not have
/// begun yet. Errors. address_error.
[[nodiscard]] int connect_to(const endpoint &there, int seconds);

/// Returns the first IPv4 address of an interface; "" if there is no such interface.
[[nodiscard]] std::string address_of_interface(const std::string &name);
/// Returns an address of this host that is not loopback; "" if it has none.
[[nodiscard]] std::string outer_address();
/// Returns whether the host stands for this one alone: localhost, 127.x.x.x.
[[nodiscard]] bool is_loopback(const std::string &host);
/// Returns the name of this host.
[[nodiscard]] std::string own_host();

} // namespace weft_net
