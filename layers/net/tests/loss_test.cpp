// SPDX-License-Identifier: Apache-2.0
// What the engine ucx notices by itself when a process is killed: no launcher tells it.
#include "ranks.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <deque>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace net_test;
using net::action;
using net::outcome;

void send_text(int to, const std::string &text) {
  const std::uint64_t size = text.size();
  ASSERT_EQ(write(to, &size, sizeof size), static_cast<ssize_t>(sizeof size));
  ASSERT_EQ(write(to, text.data(), size), static_cast<ssize_t>(size));
}

std::string receive_text(int from) {
  std::uint64_t size = 0;
  if (recv(from, &size, sizeof size, MSG_WAITALL) != static_cast<ssize_t>(sizeof size))
    return "";
  std::string text(size, '\0');
  if (recv(from, text.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size))
    return "";
  return text;
}

/// Is rank 1: a process that polls until it is killed.
[[noreturn]] void be_victim(int line, const net::port_options &options) {
  auto port = net::open_port("ucx", options);
  send_text(line, port->address());
  const std::string other = receive_text(line);
  test_rank self(port->connect(1, {other, port->address()}));
  net::memory_key key;
  void *const memory = self.transport().add_fresh_memory(4096, key);
  send_text(line, std::string(reinterpret_cast<const char *>(&key), sizeof key));
  if (!memory)
    _exit(1);
  for (;;)
    self.transport().progress(16);
}

class ucx_loss : public testing::TestWithParam<const char *> {};

TEST_P(ucx_loss, a_killed_process_is_reported_and_operations_end) {
  if (!has_engine("ucx"))
    GTEST_SKIP() << "the engine ucx is not in this build (libucx-dev)";
  const net::port_options options{GetParam(), "", 16};
  int lines[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, lines), 0);
  const pid_t victim = fork(); // before UCX has threads here
  if (victim == 0) {
    close(lines[0]);
    be_victim(lines[1], options);
  }
  close(lines[1]);
  auto port = net::open_port("ucx", options);
  const std::string address = receive_text(lines[0]);
  send_text(lines[0], port->address());
  test_rank self(port->connect(0, {port->address(), address}));
  const std::string bytes = receive_text(lines[0]);
  net::memory_key key;
  ASSERT_EQ(bytes.size(), sizeof key);
  std::memcpy(&key, bytes.data(), sizeof key);

  const auto begin = std::chrono::steady_clock::now();
  const auto until = [&](auto &&holds) {
    while (!holds() && std::chrono::steady_clock::now() - begin < std::chrono::minutes(1))
      self.transport().progress(16);
  };
  const std::uint64_t from = 1;
  const auto one_put = [&] {
    test_operation write, border;
    put(write, 1, key, 0, &from, sizeof from);
    only(border, action::flush, 1);
    self.transport().submit(write);
    self.transport().submit(border);
    until([&] { return write.is_over() && border.is_over(); });
    return std::pair(write.result, border.result);
  };
  EXPECT_EQ(one_put(), std::pair(outcome::done, outcome::done));
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  ASSERT_EQ(waitpid(victim, nullptr, 0), victim);
  std::deque<test_operation> messages(100); // more than it may have in flight
  const std::string text = "late";
  for (auto &m : messages) {
    message(m, 1, 1, text);
    self.transport().submit(m);
  }
  while (one_put() == std::pair(outcome::done, outcome::done) &&
         std::chrono::steady_clock::now() - begin < std::chrono::minutes(1)) {
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  std::printf("reported after %lld ms\n", static_cast<long long>(took.count()));
  until([&] { return !self.lost_ranks().empty(); });
  EXPECT_EQ(self.lost_ranks(), std::vector<int>{1});
  EXPECT_TRUE(self.transport().is_lost(1));
  for (const auto &m : messages)
    ASSERT_EQ(m.times, 1);
  EXPECT_EQ(messages.back().result, outcome::rank_lost);
  EXPECT_EQ(one_put(), std::pair(outcome::rank_lost, outcome::rank_lost));
  until([&] { return self.transport().in_flight() == 0; }); // counted down behind the end of the last operation
  EXPECT_EQ(self.transport().in_flight(), 0U);
  close(lines[0]);
}

INSTANTIATE_TEST_SUITE_P(all, ucx_loss, testing::Values("shm,self", "tcp,self"),
                         [](const auto &info) { return std::string(info.param).substr(0, 3); });

} // namespace
