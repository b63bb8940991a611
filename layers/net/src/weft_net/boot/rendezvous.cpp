// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/rendezvous.hpp"

#include "weft_net/boot/address.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft_net {

namespace {

constexpr auto k_beat = std::chrono::seconds(1);
constexpr auto k_most_silence =
    std::chrono::seconds(20); // of a host; a dead process is seen at once
constexpr auto k_most_time_to_join =
    std::chrono::seconds(10); // of a connection that has not joined
constexpr auto k_most_report = std::chrono::milliseconds(1500);
constexpr std::size_t k_most_unjoined = 64;

std::string text_of(const sockaddr_in &from) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &from.sin_addr, text, sizeof text);
  return text;
}

} // namespace

std::uint64_t realtime_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::string own_system() {
  std::string made;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), made);
  struct stat network{};
  if (stat("/proc/self/ns/net", &network) == 0)
    made += "." + std::to_string(network.st_ino);
  return made;
}

void write_info(writer &to, const member_info &info) {
  to.text(info.host);
  to.text(info.system);
  to.number(info.pid);
  to.text(info.engine);
  to.text(info.address);
}

member_info read_info(reader &from) {
  member_info made;
  made.host = from.text();
  made.system = from.text();
  made.pid = from.number();
  made.engine = from.text();
  made.address = from.text();
  return made;
}

rendezvous::rendezvous(const std::string &host, int port, int size, const job_key &key,
                       listener &to)
    : m_to(to), m_key(key), m_port(port), m_listens(listen_on(host, m_port)),
      m_members(static_cast<std::size_t>(size)), m_last_beat(clock::now()),
      m_reports(m_members.size()), m_has_reported(m_members.size()) {}

rendezvous::~rendezvous() { close(m_listens); }

bool rendezvous::has_joined(int rank) const noexcept {
  return m_members[static_cast<std::size_t>(rank)].info.has_value();
}
bool rendezvous::has_left(int rank) const noexcept {
  return m_members[static_cast<std::size_t>(rank)].has_left;
}

void rendezvous::step(int milliseconds, int also) {
  std::vector<pollfd> waits = {{m_listens, POLLIN, 0}, {also, POLLIN, 0}};
  std::vector<connection *> readers;
  for (connection &c : m_connections) {
    waits.push_back({c.wire.descriptor(), POLLIN, 0});
    readers.push_back(&c);
  }
  if (poll(waits.data(), waits.size(), milliseconds) > 0) {
    if (waits[0].revents != 0)
      accept_one();
    for (std::size_t i = 0; i < readers.size(); ++i)
      if (waits[i + 2].revents != 0 && !readers[i]->is_over)
        read(*readers[i]);
  }
  look_at_time();
  m_connections.remove_if([](const connection &c) { return c.is_over; });
}

void rendezvous::accept_one() {
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const int made = accept4(m_listens, reinterpret_cast<sockaddr *>(&from), &size, SOCK_CLOEXEC);
  if (made < 0)
    return;
  const auto unjoined = static_cast<std::size_t>(
      std::ranges::count_if(m_connections, [](const connection &c) { return c.rank < 0; }));
  if (unjoined >= k_most_unjoined + m_members.size()) {
    close(made);
    m_to.refused("a connection from " + text_of(from) + ": too many that have not joined");
    return;
  }
  const int one = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  connection &c = m_connections.emplace_back(made, m_key);
  c.number = random_key();
  writer hello;
  hello.number(c.number.words[0]);
  hello.number(c.number.words[1]);
  hello.number(k_boot_version);
  tell(c, packet_kind::hello, hello.bytes());
}

void rendezvous::tell(connection &joining, packet_kind kind, std::string_view payload) noexcept {
  try {
    joining.wire.send(kind, payload);
  } catch (const std::exception &) { // the next read of it finds the end
  }
}

void rendezvous::turn_away(connection &joining, const std::string &why) noexcept {
  tell(joining, packet_kind::refused, why);
  joining.is_over = true;
}

void rendezvous::refuse(connection &joining, const std::string &why) {
  turn_away(joining, why);
  m_to.refused(why);
}

void rendezvous::read(connection &joining) {
  try {
    std::exception_ptr ended;
    try {
      joining.wire.read_some();
    } catch (const channel_error &) {
      ended = std::current_exception(); // what came before counts
    }
    while (!joining.is_over) {
      if (joining.rank < 0) {
        const auto first = joining.wire.peek();
        if (!first)
          break;
        take_join(joining, *first);
      } else if (const auto p = joining.wire.next()) {
        take(joining, *p);
      } else {
        break;
      }
    }
    if (ended && !joining.is_over)
      std::rethrow_exception(ended);
  } catch (const channel_error &e) {
    if (joining.rank < 0)
      return refuse(joining, e.what());
    const int rank = std::exchange(joining.rank, -1);
    joining.is_over = true;
    m_members[static_cast<std::size_t>(rank)].wire = nullptr;
    lose(rank, e.what());
  }
}

/// Takes the first packet of a connection, which says whose it is.
void rendezvous::take_join(connection &joining, const packet &received) {
  if (received.kind != packet_kind::join)
    throw channel_error("a connection begins with another packet than join");
  reader unproven(received.payload);
  job_key number;
  number.words[0] = unproven.number();
  number.words[1] = unproven.number();
  joining.wire.set_numbers(joining.number, number);
  static_cast<void>(joining.wire.next()); // looks at the proof
  if (!m_why_none.empty())
    return turn_away(joining, m_why_none);
  reader from(received.payload);
  static_cast<void>(from.number() + from.number());
  const auto rank = static_cast<std::int64_t>(from.number());
  const std::uint64_t size = from.number();
  member_info info = read_info(from);
  const std::string who = "rank " + std::to_string(rank) + " (pid " + std::to_string(info.pid) +
                          " on " + info.host + ")";
  if (size != m_members.size())
    return refuse(joining, who + " says that the job has " + std::to_string(size) +
                               " ranks, and this one has " + std::to_string(m_members.size()) +
                               "; give all the same net.size");
  if (rank < 0 || static_cast<std::size_t>(rank) >= m_members.size())
    return refuse(joining, who + " does not exist: ranks are 0 to " +
                               std::to_string(m_members.size() - 1) + " (net.rank)");
  member &m = m_members[static_cast<std::size_t>(rank)];
  if (m.info)
    return refuse(joining, who + " has joined already, as pid " + std::to_string(m.info->pid) +
                               " on " + m.info->host + "; give each process another net.rank");
  for (const member &other : m_members)
    if (other.info && other.info->engine != info.engine)
      return refuse(joining, who + " has the engine " + info.engine + ", and another rank " +
                                 other.info->engine + "; give all the same net.engine");
  joining.rank = static_cast<int>(rank);
  m.info = std::move(info);
  m.wire = &joining;
  if (++m_joined == static_cast<int>(m_members.size()))
    send_table();
}

/// Returns the packets that are the table: a rank's address may take a kilobyte, and a packet has a bound,
/// within which each description has come.
std::vector<std::string> rendezvous::table_packets() const {
  std::vector<std::string> made(1);
  for (const member &m : m_members) {
    writer row;
    write_info(row, *m.info);
    if (made.back().size() + row.bytes().size() > channel::k_most_bytes)
      made.emplace_back();
    made.back() += row.bytes();
  }
  return made;
}

void rendezvous::send_table() {
  std::vector<member_info> all;
  for (const member &m : m_members)
    all.push_back(*m.info);
  const std::vector<std::string> packets = table_packets();
  for (member &m : m_members)
    for (const std::string &rows : packets)
      if (m.wire)
        tell(*m.wire, packet_kind::table, rows);
  for (std::size_t r = 0; r < m_members.size(); ++r) // lost before
    if (m_members[r].is_lost)
      announce_loss(static_cast<int>(r));
  m_to.all_joined(all);
}

void rendezvous::take(connection &joining, const packet &received) {
  joining.heard = clock::now();
  const int rank = joining.rank;
  switch (received.kind) {
  case packet_kind::leave:
    m_members[static_cast<std::size_t>(rank)].has_left = true;
    m_members[static_cast<std::size_t>(rank)].wire = nullptr;
    joining.is_over = true;
    return m_to.left(rank);
  case packet_kind::stalled:
    return ask_all(rank, received.payload);
  case packet_kind::report:
    return take_report(rank, received.payload);
  case packet_kind::beat:
    return;
  case packet_kind::clock: {
    writer now;
    now.number(realtime_ns());
    now.text(own_system());
    return tell(joining, packet_kind::clock, now.bytes());
  }
  default:
    throw channel_error("a rank sends a packet that it may not send");
  }
}

void rendezvous::lose(int rank, const std::string &why) {
  member &lost = m_members[static_cast<std::size_t>(rank)];
  if (lost.is_lost || lost.has_left)
    return;
  lost.is_lost = true;
  lost.why_lost = why;
  if (m_joined == static_cast<int>(m_members.size()))
    announce_loss(rank);
  else if (!lost.info)
    end_meeting("rank " + std::to_string(rank) + " is lost, and has not joined: " + why);
  m_to.lost(rank, why); // else the others learn of it when all have joined
}

void rendezvous::announce_loss(int rank) {
  const member &lost = m_members[static_cast<std::size_t>(rank)];
  writer text;
  text.number(static_cast<std::uint64_t>(rank));
  text.text(lost.why_lost);
  for (member &m : m_members)
    if (m.wire && &m != &lost)
      tell(*m.wire, packet_kind::lost, text.bytes());
}

/// Turns away those that wait and those that come later: the table can never be whole.
void rendezvous::end_meeting(const std::string &why) {
  m_why_none = why;
  for (member &m : m_members)
    if (connection *const waits = std::exchange(m.wire, nullptr)) {
      waits->rank = -1;
      turn_away(*waits, why);
    }
}

/// Makes all other ranks report. A rank that finds out meanwhile is asked already, and answers.
void rendezvous::ask_all(int first, const std::string &report) {
  if (m_stalled >= 0)
    return;
  m_stalled = first;
  m_asked = clock::now();
  m_reports.assign(m_members.size(), "");
  m_has_reported.assign(m_members.size(), false);
  for (member &m : m_members)
    if (m.wire && m.wire->rank != first)
      tell(*m.wire, packet_kind::ask, "");
  take_report(first, report);
}

/// Takes what a rank waits for; an answer that comes too late is none.
void rendezvous::take_report(int rank, const std::string &report) {
  if (m_stalled < 0)
    return;
  m_reports[static_cast<std::size_t>(rank)] = report;
  m_has_reported[static_cast<std::size_t>(rank)] = true;
}

void rendezvous::look_at_time() {
  const auto now = clock::now();
  if (m_stalled >= 0) {
    bool all_have = true;
    for (std::size_t r = 0; r < m_members.size(); ++r)
      all_have = all_have && (m_has_reported[r] || !m_members[r].wire);
    if (all_have || now - m_asked > k_most_report)
      m_to.stalled(std::exchange(m_stalled, -1), m_reports);
  }
  if (now - m_last_beat < k_beat)
    return;
  m_last_beat = now;
  for (connection &c : m_connections) {
    if (c.is_over)
      continue;
    if (c.rank < 0) {
      if (now - c.begun > k_most_time_to_join)
        refuse(c, "a connection that has not joined within 10 s");
      continue;
    }
    tell(c, packet_kind::beat, "");
    if (now - c.heard <= k_most_silence)
      continue;
    const int rank = std::exchange(c.rank, -1);
    m_members[static_cast<std::size_t>(rank)].wire = nullptr;
    c.is_over = true;
    lose(rank, "its host has been silent for 20 s");
  }
}

} // namespace weft_net
