// SPDX-License-Identifier: Apache-2.0
// `weft launch` as the process manager of MPICH: what it answers to ranks, and what to those whose like has gone.
#include "tools/weft/support/pmi_manager.hpp"
#include "weft_net/boot/pmi.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using weft_net::share_by_pmi;
using weft_tool::pmi_manager;

/// Runs a process for each rank, and returns their exit codes. 100: the manager has not let a rank go on.
std::vector<int> codes_of(int ranks, const std::function<int(int rank, int line)> &body) {
  pmi_manager served(ranks);
  std::vector<pid_t> processes;
  for (int r = 0; r < ranks; ++r) {
    processes.push_back(fork());
    if (processes.back() == 0) {
      alarm(60);
      served.become(r);
      try {
        _exit(body(r, std::atoi(std::getenv("PMI_FD"))));
      } catch (const std::runtime_error &) {
        _exit(99);
      }
    }
    served.started(r);
  }
  std::vector<int> codes(processes.size(), -1);
  for (std::size_t left = processes.size(); left != 0;) {
    pollfd some{served.descriptor(), POLLIN, 0};
    poll(&some, 1, 10);
    served.step();
    for (std::size_t r = 0; r < processes.size(); ++r) {
      int status = 0;
      if (codes[r] != -1 || waitpid(processes[r], &status, WNOHANG) != processes[r])
        continue;
      served.ended(static_cast<int>(r));
      codes[r] = WIFEXITED(status) ? WEXITSTATUS(status) : 100;
      --left;
    }
  }
  return codes;
}

std::string asked(int line, const std::string &text) {
  std::string got;
  char c = 0;
  if (write(line, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return "no line";
  while (read(line, &c, 1) == 1 && c != '\n')
    got += c;
  return got;
}

TEST(pmi_manager, ranks_read_what_rank_0_has_put) {
  EXPECT_EQ(codes_of(3, [](int rank, int line) {
              return share_by_pmi(line, rank, "value" + std::to_string(rank)) == "value0" &&
                             std::getenv("PMI_RANK") == std::to_string(rank) &&
                             std::getenv("PMI_SIZE") == std::string("3")
                         ? 0
                         : 1;
            }),
            (std::vector<int>{0, 0, 0}));
}

TEST(pmi_manager, a_rank_that_has_gone_holds_no_other_in_a_barrier) {
  EXPECT_EQ(codes_of(3, [](int rank, int line) {
              if (rank == 1)
                return 7;
              static_cast<void>(share_by_pmi(line, rank, "value"));
              return 0;
            }),
            (std::vector<int>{99, 7, 99}));
}

TEST(pmi_manager, lines_of_mpich_are_answered) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"cmd=get_maxes\n", "cmd=maxes kvsname_max="},
      {"cmd=get_appnum\n", "cmd=appnum appnum=0"},
      {"cmd=get_universe_size\n", "cmd=universe_size size=1"},
      {"cmd=get kvsname=x key=PMI_process_mapping\n", "cmd=get_result rc=0 msg=success value=(vector,(0,1,1))"},
      {"cmd=get kvsname=x key=absent\n", "cmd=get_result rc=-1"},
      {"mcmd=spawn\nnprocs=1\nexecname=a\nendcmd\n", "cmd=spawn_result rc=-1"},
      {"cmd=lookup_name service=x\n", "cmd=lookup_name_result rc=-1"},
      {"cmd=finalize\n", "cmd=finalize_ack"},
  };
  EXPECT_EQ(codes_of(1, [&all](int, int line) {
              for (std::size_t i = 0; i < all.size(); ++i)
                if (!asked(line, all[i].first).starts_with(all[i].second))
                  return static_cast<int>(i) + 1;
              return 0;
            }),
            std::vector<int>{0});
}

} // namespace
