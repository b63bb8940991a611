// SPDX-License-Identifier: Apache-2.0
// What tests of meeting ranks do with a call: learn why it fails, and read what its process tells a process manager.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace net_test {

/// Returns the text of the exception with which a call ends.
inline std::string why_not(const std::function<void()> &call) {
  try {
    call();
    return "it works";
  } catch (const std::runtime_error &e) {
    return e.what();
  }
}

/// Runs `rank` in a process that has a line to the process manager, and returns what comes there. The
/// process manager answers unless it is silent.
inline std::string line_of_a_process(const std::function<void(int)> &rank, bool is_silent = false) {
  int pair[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pair[1]);
    rank(pair[0]);
    std::exit(0);
  }
  close(pair[0]);
  std::string all;
  char c;
  while (read(pair[1], &c, 1) == 1) {
    all += c;
    if (c == '\n' && !is_silent && send(pair[1], "cmd=finalize_ack\n", 17, MSG_NOSIGNAL) != 17)
      break;
  }
  close(pair[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  return all;
}

} // namespace net_test
