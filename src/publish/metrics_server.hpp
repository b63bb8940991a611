// SPDX-License-Identifier: Apache-2.0
// The endpoint of OpenMetrics, on the loopback interface only, for this user and root. One thread
// serves all connections at the same time, so a silent client keeps no other one waiting.
#pragma once

#include "observe/format.hpp"
#include "os/thread.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace weft::inline v0 {
namespace rt {

class metrics_server {
 public:
  /// Starts a server; returns null, after a warning, if the port cannot be had.
  /// `patience_ns`: how long a request and its answer may take.
  [[nodiscard]] static metrics_server *start(int port, std::uint64_t patience_ns = 1'000'000'000);
  /// Ends the thread.
  void stop() noexcept;
  /// Forgets the server in the child of a fork: the sockets are the parent's, and the child has no
  /// connections.
  void forget() noexcept;

 private:
  explicit metrics_server(std::uint64_t patience_ns) : m_patience_ns(patience_ns) {}
  struct connection {
    int socket;
    std::uint64_t until; // ns
    std::string request, answer;
    std::size_t sent = 0;
  };
  bool listen_at(int port) noexcept;
  void run();
  void accept_all();
  [[nodiscard]] bool step(connection &client);
  void serve(std::size_t at);
  void end_connection(std::size_t at) noexcept;

  const std::uint64_t m_patience_ns;
  int m_socket = -1;
  int m_stop[2] = {-1, -1}; // a pipe: written to at the end
  std::vector<connection> m_connections; // the oldest first
  open_metrics_writer m_writer;
  thread m_thread;
};

/// Returns whether a user may read the counters of a program of `owner`.
[[nodiscard]] bool may_read_metrics(uid_t reader, uid_t owner) noexcept;

/// Returns the answer to the first line of a request.
[[nodiscard]] std::string answer_to(std::string_view request, open_metrics_writer &writer,
                                    std::string (*metrics)(open_metrics_writer &writer,
                                                           metric_samples samples));

} // namespace rt
} // namespace weft::inline v0
