// SPDX-License-Identifier: Apache-2.0
#include "publish/metrics_server.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"
#include "observe/format.hpp"
#include "observe/store.hpp"
#include "os/peer.hpp"
#include "publish/publish.hpp"
#include "worker/runtime.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <netinet/in.h>
#include <new>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_longest_request = 8192;
constexpr unsigned k_breath_us = 10'000;
constexpr std::size_t k_most_connections = 64; // one more takes the place of the oldest

std::string respond(const char *status, const char *type, const std::string &body) {
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         body;
}

std::string current_metrics(open_metrics_writer &writer, metric_samples samples) {
  publish_counters(the_runtime());
  return writer.write(read_segment(store_base(), program_state::running), samples);
}

/// Refuses a connection, or answers its request.
std::string answer_to_peer(int socket, const std::string &request, open_metrics_writer &writer) {
  const auto user = user_of_peer(socket);
  if (user && may_read_metrics(*user, geteuid()))
    return answer_to(request, writer, &current_metrics);
  return respond("403 Forbidden", "text/plain",
                 "the counters are for user " + std::to_string(geteuid()) + " and root; " +
                     (user ? "this connection is of user " + std::to_string(*user)
                           : "/proc/net/tcp does not tell whose connection this is") +
                     "\n");
}

/// Returns the timeout of poll().
int milliseconds_until(std::uint64_t ns) noexcept {
  const std::uint64_t now = now_ns();
  return ns <= now ? 0 : static_cast<int>((ns - now) / 1'000'000 + 1);
}

} // namespace

bool may_read_metrics(uid_t reader, uid_t owner) noexcept { return reader == owner || reader == 0; }

std::string answer_to(std::string_view request, open_metrics_writer &writer,
                      std::string (*metrics)(open_metrics_writer &writer, metric_samples samples)) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  if (!line.starts_with("GET "))
    return respond("405 Method Not Allowed", "text/plain", "ask with GET\n");
  const std::string_view target = line.substr(4, line.find(' ', 4) - 4),
                         path = target.substr(0, target.find('?'));
  if (path != "/metrics" && path != "/")
    return respond("404 Not Found", "text/plain",
                   "the counters are at /metrics, per worker at /metrics?workers\n");
  return respond(
      "200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8",
      metrics(writer,
              target.ends_with("?workers") ? metric_samples::per_worker : metric_samples::total));
}

metrics_server *metrics_server::start(int port, std::uint64_t patience_ns) {
  auto *s = new metrics_server(patience_ns);
  if (!s->listen_at(port) || pipe2(s->m_stop, O_CLOEXEC) != 0) {
    warn("counters.port: %d cannot be listened at (%s); the counters are not served", port,
         std::strerror(errno));
    s->forget();
    delete s;
    return nullptr;
  }
  const int e = s->m_thread.start(
      "weft-metrics", [](void *p) { static_cast<metrics_server *>(p)->run(); }, s);
  if (e == 0)
    return s;
  warn("no thread to serve counters (%s)", std::strerror(e));
  s->forget();
  delete s;
  return nullptr;
}

bool metrics_server::listen_at(int port) noexcept {
  m_socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  setsockopt(m_socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return m_socket >= 0 && bind(m_socket, reinterpret_cast<sockaddr *>(&at), sizeof at) == 0 &&
         listen(m_socket, SOMAXCONN) == 0;
}

void metrics_server::run() {
  std::vector<pollfd> p;
  for (;;) {
    p = {{m_socket, POLLIN, 0}, {m_stop[0], POLLIN, 0}};
    for (const connection &c : m_connections)
      p.push_back({c.socket, static_cast<short>(c.answer.empty() ? POLLIN : POLLOUT), 0});
    if (poll(p.data(), p.size(),
             m_connections.empty() ? -1 : milliseconds_until(m_connections.front().until)) < 0)
      continue;
    if (p[1].revents)
      break;
    const std::uint64_t now = now_ns();
    for (std::size_t at = m_connections.size();
         at-- > 0;) // from the end: removing one leaves those before it
      if (p[at + 2].revents)
        serve(at);
      else if (m_connections[at].until <= now)
        end_connection(at);
    if (p[0].revents)
      accept_all();
  }
  while (!m_connections.empty())
    end_connection(m_connections.size() - 1);
}

void metrics_server::accept_all() {
  for (std::size_t i = 0; i < k_most_connections; ++i) { // then the accepted ones have their turn
    const int client = accept4(m_socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) {
      if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        usleep(k_breath_us); // no file descriptors: waiting clients stay in the queue
      return;
    }
    if (m_connections.size() == k_most_connections)
      end_connection(0);
    try {
      m_connections.push_back({client, now_ns() + m_patience_ns, {}, {}});
    } catch (const std::bad_alloc &) {
      close(client);
      return;
    }
    serve(m_connections.size() - 1); // most clients have sent their request by now
  }
}

/// Continues a connection. Returns false when it is over: answered, or broken.
bool metrics_server::step(connection &client) {
  for (char piece[1024]; client.answer.empty();) {
    const ssize_t n = read(client.socket, piece, sizeof piece);
    if (n < 0 && errno == EAGAIN)
      return true;
    if (n <= 0 || client.request.size() > k_longest_request)
      return false;
    client.request.append(piece, static_cast<std::size_t>(n));
    if (client.request.find("\r\n\r\n") != std::string::npos)
      client.answer = answer_to_peer(client.socket, client.request, m_writer);
  }
  while (client.sent < client.answer.size()) {
    const ssize_t n = send(client.socket, client.answer.data() + client.sent,
                           client.answer.size() - client.sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN)
      return true;
    if (n <= 0)
      return false;
    client.sent += static_cast<std::size_t>(n);
  }
  return false;
}

void metrics_server::serve(std::size_t at) {
  bool goes_on = false;
  try {
    goes_on = step(m_connections[at]);
  } catch (const std::exception &) { // no memory: that request is lost
  }
  if (!goes_on)
    end_connection(at);
}

void metrics_server::end_connection(std::size_t at) noexcept {
  shutdown(m_connections[at].socket, SHUT_WR); // a child of a fork may have it open, too
  close(m_connections[at].socket);
  m_connections.erase(m_connections.begin() + static_cast<std::ptrdiff_t>(at));
}

void metrics_server::stop() noexcept {
  while (write(m_stop[1], "x", 1) < 0 && errno == EINTR) {
  }
  if (m_thread.joinable())
    m_thread.join();
  forget();
}

void metrics_server::forget() noexcept {
  for (int *file : {&m_socket, &m_stop[0], &m_stop[1]}) {
    if (*file >= 0)
      close(*file);
    *file = -1;
  }
  m_thread.forget();
}

} // namespace rt
} // namespace weft::inline v0
