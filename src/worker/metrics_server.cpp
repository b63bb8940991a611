// SPDX-License-Identifier: Apache-2.0
#include "worker/metrics_server.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"
#include "observe/format.hpp"
#include "observe/store.hpp"
#include "worker/runtime.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_patience_ns = 1'000'000'000; // for one request: the next one waits
constexpr std::size_t k_longest_request = 8192;

std::string respond(const char *status, const char *type, const std::string &body) {
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

std::string current_metrics(bool per_worker) {
  publish_counters(the_runtime());
  return write_open_metrics(read_segment(store_base(), true), per_worker);
}

bool wait_for(int file, short what, std::uint64_t until) noexcept {
  const std::uint64_t now = now_ns();
  pollfd p{file, what, 0};
  return now < until && poll(&p, 1, static_cast<int>((until - now) / 1'000'000 + 1)) == 1;
}

} // namespace

std::string answer_to(std::string_view request, std::string (*metrics)(bool per_worker)) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  if (!line.starts_with("GET "))
    return respond("405 Method Not Allowed", "text/plain", "ask with GET\n");
  const std::string_view target = line.substr(4, line.find(' ', 4) - 4), path = target.substr(0, target.find('?'));
  if (path != "/metrics" && path != "/")
    return respond("404 Not Found", "text/plain", "the counters are at /metrics, per worker at /metrics?workers\n");
  return respond("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", metrics(target.ends_with("?workers")));
}

metrics_server *metrics_server::start(int port) {
  auto *s = new metrics_server;
  if (!s->listen_at(port) || pipe2(s->m_stop, O_CLOEXEC) != 0) {
    warn("counters.port: %d cannot be listened at (%s); the counters are not served", port, std::strerror(errno));
    s->forget();
    delete s;
    return nullptr;
  }
  const int e = s->m_thread.start("weft-metrics", [](void *p) { static_cast<metrics_server *>(p)->run(); }, s);
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
  return m_socket >= 0 && bind(m_socket, reinterpret_cast<sockaddr *>(&at), sizeof at) == 0 && listen(m_socket, 16) == 0;
}

void metrics_server::run() {
  for (;;) {
    pollfd p[] = {{m_socket, POLLIN, 0}, {m_stop[0], POLLIN, 0}};
    if (poll(p, 2, -1) < 0)
      continue;
    if (p[1].revents)
      return;
    const int client = accept4(m_socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0)
      continue;
    try {
      serve(client);
    } catch (const std::exception &) { // no memory: that request is lost
    }
    close(client);
  }
}

void metrics_server::serve(int client) {
  const std::uint64_t until = now_ns() + k_patience_ns;
  std::string request;
  char piece[1024];
  while (request.find("\r\n\r\n") == std::string::npos) {
    if (!wait_for(client, POLLIN, until))
      return;
    const ssize_t n = read(client, piece, sizeof piece);
    if (n <= 0 || request.size() > k_longest_request)
      return;
    request.append(piece, static_cast<std::size_t>(n));
  }
  const std::string answer = answer_to(request, &current_metrics);
  for (std::size_t at = 0; at < answer.size();) {
    const ssize_t n = send(client, answer.data() + at, answer.size() - at, MSG_NOSIGNAL);
    if (n > 0)
      at += static_cast<std::size_t>(n);
    else if (!wait_for(client, POLLOUT, until))
      return;
  }
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
