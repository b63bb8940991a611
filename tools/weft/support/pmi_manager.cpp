// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/pmi_manager.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft_tool {

namespace {

constexpr std::size_t k_longest = 64 << 10; // line of a rank
constexpr char k_limits[] = "cmd=maxes kvsname_max=256 keylen_max=256 vallen_max=4096";

[[noreturn]] void fail(const char *what) {
  throw std::runtime_error(std::string("launch: cannot make ") + what + ": " + std::strerror(errno));
}

/// Returns the value of "name=" in a line, or nothing.
std::string value_of(const std::string &line, const std::string &name) {
  const std::string all = " " + line + " ", begin = " " + name + "=";
  const std::size_t at = all.find(begin);
  if (at == std::string::npos)
    return "";
  const std::size_t first = at + begin.size();
  return all.substr(first, all.find(' ', first) - first);
}

void close_one(int &descriptor) {
  if (descriptor >= 0)
    close(std::exchange(descriptor, -1));
}

} // namespace

pmi_manager::pmi_manager(int ranks)
    : m_lines(static_cast<std::size_t>(ranks)), m_space("weft_" + std::to_string(getpid())) {
  m_all = epoll_create1(EPOLL_CLOEXEC);
  if (m_all < 0)
    fail("the process manager of MPICH");
  for (line &one : m_lines) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      fail("a line to a rank");
    one.own = ends[0];
    one.other = ends[1];
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = static_cast<std::uint64_t>(&one - m_lines.data());
    if (epoll_ctl(m_all, EPOLL_CTL_ADD, one.own, &event) != 0)
      fail("a line to a rank");
  }
  // All are on this host: one block, of node 0, with all ranks.
  m_values["PMI_process_mapping"] = "(vector,(0,1," + std::to_string(ranks) + "))";
}

pmi_manager::~pmi_manager() {
  for (line &one : m_lines) {
    close_one(one.own);
    close_one(one.other);
  }
  close_one(m_all);
}

void pmi_manager::become(int rank) const {
  const int own = m_lines[static_cast<std::size_t>(rank)].other;
  fcntl(own, F_SETFD, 0);
  const std::string size = std::to_string(m_lines.size());
  setenv("PMI_FD", std::to_string(own).c_str(), 1);
  setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
  setenv("PMI_SIZE", size.c_str(), 1);
  setenv("MPI_LOCALRANKID", std::to_string(rank).c_str(), 1);
  setenv("MPI_LOCALNRANKS", size.c_str(), 1);
  for (const char *const name : {"PMI_PORT", "PMI_ID", "PMI_SPAWNED"}) // of a job around this one
    unsetenv(name);
}

void pmi_manager::started(int rank) { close_one(m_lines[static_cast<std::size_t>(rank)].other); }

void pmi_manager::ended(int rank) { end(m_lines[static_cast<std::size_t>(rank)]); }

void pmi_manager::watch_too(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = m_lines.size();
  if (epoll_ctl(m_all, EPOLL_CTL_ADD, descriptor, &event) != 0)
    fail("the process manager of MPICH");
}

void pmi_manager::step() {
  epoll_event events[64];
  const int n = epoll_wait(m_all, events, 64, 0);
  for (int i = 0; i < n; ++i)
    if (events[i].data.u64 < m_lines.size())
      read_from(m_lines[events[i].data.u64]);
}

/// Reads what has come from a rank, and answers the lines that are whole.
void pmi_manager::read_from(line &one) {
  char part[4096];
  const ssize_t n = recv(one.own, part, sizeof part, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n <= 0 || one.come.size() > k_longest)
    return end(one);
  one.come.append(part, static_cast<std::size_t>(n));
  for (std::size_t at; one.own >= 0 && (at = one.come.find('\n')) != std::string::npos;) {
    const std::string text = one.come.substr(0, at);
    one.come.erase(0, at + 1);
    answer(one, text);
  }
}

void pmi_manager::answer(line &one, const std::string &text) {
  const std::string what = value_of(text, "cmd"), key = value_of(text, "key");
  if (what == "init") {
    say(one, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  } else if (what == "get_maxes") {
    say(one, k_limits);
  } else if (what == "get_appnum") {
    say(one, "cmd=appnum appnum=0");
  } else if (what == "get_universe_size") {
    say(one, "cmd=universe_size size=" + std::to_string(m_lines.size()));
  } else if (what == "get_my_kvsname") {
    say(one, "cmd=my_kvsname kvsname=" + m_space);
  } else if (what == "put") {
    m_values[key] = value_of(text, "value");
    say(one, "cmd=put_result rc=0 msg=success");
  } else if (what == "get") {
    const auto found = m_values.find(key);
    say(one, found == m_values.end() ? "cmd=get_result rc=-1 msg=key_" + key + "_not_found value=unknown"
                                     : "cmd=get_result rc=0 msg=success value=" + found->second);
  } else if (what == "barrier_in") {
    one.waits = true;
    look_at_barrier();
  } else if (what == "finalize") {
    say(one, "cmd=finalize_ack");
  } else if (what == "abort") {
    end(one); // its process ends with the code
  } else { // MPI_Comm_spawn and names that are published
    const std::string name = text.starts_with("mcmd=") ? value_of(text, "mcmd") : what;
    if (!name.empty() && name != "endcmd")
      say(one, "cmd=" + name + "_result rc=-1 msg=weft_launch_does_not_serve_it");
  }
}

void pmi_manager::say(line &one, const std::string &text) {
  const std::string whole = text + "\n";
  if (send(one.own, whole.data(), whole.size(), MSG_DONTWAIT | MSG_NOSIGNAL) !=
      static_cast<ssize_t>(whole.size()))
    end(one);
}

/// Ends the line of a rank that has gone, or breaks the rules.
void pmi_manager::end(line &one) {
  if (one.own < 0)
    return;
  shutdown(one.own, SHUT_RDWR); // a process that is about to become a rank may have a copy
  close_one(one.own);
  one.waits = false;
  m_has_lost = true;
  look_at_barrier();
}

/// Lets the ranks out when all have come, or ends the lines of those that wait when one never will.
void pmi_manager::look_at_barrier() {
  if (m_has_lost) {
    for (line &one : m_lines)
      if (std::exchange(one.waits, false))
        end(one);
  } else if (std::ranges::all_of(m_lines, [](const line &one) { return one.waits; })) {
    for (line &one : m_lines) {
      one.waits = false;
      say(one, "cmd=barrier_out");
    }
  }
}

} // namespace weft_tool
