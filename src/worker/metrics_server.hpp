// SPDX-License-Identifier: Apache-2.0
// The endpoint of OpenMetrics: one thread that answers one request after the other, on the loopback interface only.
#pragma once

#include "os/thread.hpp"

#include <string>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

class metrics_server {
 public:
  /// Null, after a warning, where the port cannot be had.
  [[nodiscard]] static metrics_server *start(int port);
  /// Ends the thread.
  void stop() noexcept;
  /// In the child of a fork: its sockets are the parent's.
  void forget() noexcept;

 private:
  metrics_server() = default;
  bool listen_at(int port) noexcept;
  void run();
  void serve(int client);

  int m_socket = -1;
  int m_stop[2] = {-1, -1}; // a pipe: written to at the end
  thread m_thread;
};

/// The answer to the first line of a request.
[[nodiscard]] std::string answer_to(std::string_view request, std::string (*metrics)(bool per_worker));

} // namespace rt
} // namespace weft::inline v0
