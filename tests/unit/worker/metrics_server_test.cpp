// SPDX-License-Identifier: Apache-2.0
// Connections that say nothing keep no other from being answered, and those of other users get no
// data.
#include "publish/metrics_server.hpp"
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::uint64_t k_hour_ns = 3'600'000'000'000u;

class server {
 public:
  explicit server(std::uint64_t patience_ns) : m_probe(socket(AF_INET, SOCK_STREAM, 0)) {
    const int yes = 1;
    socklen_t size = sizeof m_at;
    m_at.sin_family = AF_INET;
    m_at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(setsockopt(m_probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
    EXPECT_EQ(bind(m_probe, reinterpret_cast<sockaddr *>(&m_at), sizeof m_at), 0);
    EXPECT_EQ(getsockname(m_probe, reinterpret_cast<sockaddr *>(&m_at), &size), 0);
    m_server = weft::rt::metrics_server::start(ntohs(m_at.sin_port), patience_ns);
  }
  server(const server &) = delete;
  server &operator=(const server &) = delete;
  ~server() {
    if (m_server)
      m_server->stop();
    delete m_server;
    close(m_probe);
  }
  [[nodiscard]] int connection() const {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(s, reinterpret_cast<const sockaddr *>(&m_at), sizeof m_at), 0);
    return s;
  }
  [[nodiscard]] explicit operator bool() const { return m_server; }

 private:
  const int m_probe; // open, so that no other process gets the port
  sockaddr_in m_at{};
  weft::rt::metrics_server *m_server = nullptr;
};

std::string rest_of(int s) {
  std::string answer;
  char piece[4096];
  for (ssize_t n = 0; (n = read(s, piece, sizeof piece)) > 0;)
    answer.append(piece, static_cast<std::size_t>(n));
  close(s);
  return answer;
}

bool send_text(int s, const std::string &text) {
  return send(s, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

} // namespace

TEST(metrics_server, answers_while_sixty_connections_say_nothing) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    weft::spawn([] {});
    weft::taskwait();
    const server s(k_hour_ns);
    ASSERT_TRUE(s);
    std::vector<int> idle;
    for (int i = 0; i < 60; ++i)
      idle.push_back(s.connection());
    EXPECT_TRUE(send_text(idle[30], "GET /met")); // half a request
    const int asks = s.connection();
    EXPECT_TRUE(send_text(asks, "GET /metrics HTTP/1.1\r\n\r\n"));
    const std::string answer = rest_of(asks);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
    EXPECT_TRUE(answer.ends_with("# EOF\n"));
    EXPECT_TRUE(send_text(idle[30], "rics HTTP/1.1\r\n\r\n")) << "and the other half is waited for";
    EXPECT_TRUE(rest_of(idle[30]).ends_with("# EOF\n"));
    for (std::size_t i = 0; i < idle.size(); ++i)
      if (i != 30)
        close(idle[i]);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(metrics_server, gives_the_place_of_the_oldest_to_one_too_many) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    weft::spawn([] {});
    weft::taskwait();
    const server s(k_hour_ns);
    ASSERT_TRUE(s);
    const int oldest = s.connection();
    std::vector<int> idle;
    for (int i = 0; i < 64; ++i)
      idle.push_back(s.connection());
    EXPECT_EQ(rest_of(oldest), "") << "it was closed";
    EXPECT_TRUE(send_text(idle[0], "GET /metrics HTTP/1.1\r\n\r\n")) << "the second oldest was not";
    EXPECT_TRUE(rest_of(idle[0]).ends_with("# EOF\n"));
    for (std::size_t i = 1; i < idle.size(); ++i)
      close(idle[i]);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(metrics_server, closes_what_says_nothing_for_too_long_and_what_says_too_much) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    weft::spawn([] {});
    weft::taskwait();
    {
      const server s(1'000'000);
      ASSERT_TRUE(s);
      EXPECT_EQ(rest_of(s.connection()), "");
    }
    const server s(k_hour_ns);
    ASSERT_TRUE(s);
    const int talks = s.connection();
    while (send_text(talks, std::string(4096, 'x'))) {
    }
    close(talks);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(metrics_server, lets_its_user_and_root_read) {
  EXPECT_TRUE(weft::rt::may_read_metrics(1000, 1000));
  EXPECT_TRUE(weft::rt::may_read_metrics(0, 1000));
  EXPECT_FALSE(weft::rt::may_read_metrics(1001, 1000));
  EXPECT_FALSE(weft::rt::may_read_metrics(1000, 0));
}

TEST(metrics_server, gives_another_user_nothing) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can make a connection of another user";
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    weft::spawn([] {});
    weft::taskwait();
    const server s(k_hour_ns);
    ASSERT_TRUE(s);
    const int other = s.connection();
    ASSERT_EQ(fchown(other, 65534, 65534), 0);
    EXPECT_TRUE(send_text(other, "GET /metrics HTTP/1.1\r\n\r\n"));
    const std::string refused = rest_of(other);
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 403 Forbidden\r\n")) << refused;
    EXPECT_TRUE(refused.ends_with(
        "the counters are for user 0 and root; this connection is of user 65534\n"))
        << refused;
    const int own = s.connection();
    EXPECT_TRUE(send_text(own, "GET /metrics HTTP/1.1\r\n\r\n"));
    EXPECT_TRUE(rest_of(own).starts_with("HTTP/1.1 200 OK\r\n"));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}
