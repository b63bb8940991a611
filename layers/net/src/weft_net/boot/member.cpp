// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/member.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace weft_net {

member_info own_info() {
  member_info made;
  made.host = own_host();
  made.pid = static_cast<std::uint64_t>(getpid());
  made.system = own_system();
  return made;
}

member::member(const endpoint &root, int rank, int size, const job_key &key, const member_info &own,
               int seconds)
    : m_rank(rank), m_system(own.system), m_limit(seconds),
      m_wire(connect_to(root, seconds), channel::side::rank, key) {
  const packet hello = wait_for_packet("an answer of the process that the ranks meet at");
  if (hello.kind != packet_kind::hello)
    throw channel_error("the process at " + root.host + ":" + root.port +
                        " (net.root) is none that ranks meet at");
  reader from(hello.payload);
  job_key theirs;
  theirs.words[0] = from.number();
  theirs.words[1] = from.number();
  if (from.number() != k_boot_version)
    throw channel_error(
        "the process that the ranks meet at is of another version of Weft; build all "
        "with the same");
  const job_key mine = random_key();
  m_wire.set_numbers(theirs, mine);
  writer join;
  join.number(mine.words[0]);
  join.number(mine.words[1]);
  join.number(static_cast<std::uint64_t>(rank));
  join.number(static_cast<std::uint64_t>(size));
  write_info(join, own);
  m_wire.send(packet_kind::join, join.bytes());
  while (m_all.size() < static_cast<std::size_t>(size)) {
    const packet table = wait_for_packet("the other ranks of the job to join; all " +
                                         std::to_string(size) + " must be started");
    if (table.kind == packet_kind::beat) {
      send(packet_kind::beat, {}); // or the wait would be taken for the silence of a dead host
      continue;
    }
    if (table.kind != packet_kind::table)
      throw channel_error("the process that the ranks meet at sends no table of ranks");
    for (reader rows(table.payload); !rows.is_at_end();)
      m_all.push_back(read_info(rows));
  }
  if (m_all.size() != static_cast<std::size_t>(size))
    throw channel_error("the table of ranks has another size than the job (net.size)");
}

packet member::wait_for_packet(const std::string &what) {
  for (;;) {
    if (auto p = m_wire.next()) {
      if (p->kind == packet_kind::refused)
        throw channel_error("the job refuses this process: " + p->payload);
      return *p;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        m_limit.end - std::chrono::steady_clock::now());
    pollfd waits{m_wire.descriptor(), POLLIN, 0};
    if (left.count() <= 0 || poll(&waits, 1, static_cast<int>(left.count())) == 0)
      throw channel_error("rank " + std::to_string(m_rank) + " has waited for " +
                          std::to_string(m_limit.seconds) + " s for " + what);
    try {
      m_wire.read_some();
    } catch (const channel_error &) {
      if (!m_wire.peek()) // its last word is read first
        throw;
    }
  }
}

member::clock_offset member::measure_clock(int seconds) {
  constexpr int k_rounds = 8;
  m_limit = time_limit(seconds);
  clock_offset best;
  for (int round = 0; round != k_rounds; ++round) {
    const std::uint64_t before = realtime_ns();
    m_wire.send(packet_kind::clock);
    packet answer{packet_kind::beat, ""};
    for (;;) {
      answer = wait_for_packet("the time at the process that the ranks meet at");
      if (answer.kind == packet_kind::clock)
        break;
      if (answer.kind != packet_kind::beat)
        m_early.push_back(std::move(answer));
    }
    const std::uint64_t after = realtime_ns();
    reader from(answer.payload);
    const std::uint64_t there = from.number();
    if (from.text() == m_system)
      return {};
    // It was read between the two: the shortest way is the most exact.
    const std::uint64_t half = after > before ? (after - before) / 2 : 0;
    if (round == 0 || half < best.uncertain_ns)
      best = {static_cast<std::int64_t>(there - (before + half)), std::max<std::uint64_t>(half, 1)};
  }
  return best;
}

member::~member() { stop(); }

void member::start(listener &to) {
  m_stops = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // signals are the program's
  m_thread = std::thread([this, &to] { run(to); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void member::run(listener &to) noexcept {
  pthread_setname_np(pthread_self(), "weft-net-job");
  auto last_beat = std::chrono::steady_clock::now();
  try {
    for (const packet &early : std::exchange(m_early, {}))
      take(to, early);
    while (!m_ends) {
      pollfd waits[2] = {{m_wire.descriptor(), POLLIN, 0}, {m_stops, POLLIN, 0}};
      poll(waits, 2, 1000);
      const auto now = std::chrono::steady_clock::now();
      if (now - last_beat >= std::chrono::seconds(1)) {
        last_beat = now;
        const std::lock_guard guard(m_lock);
        m_wire.send(packet_kind::beat);
      }
      std::exception_ptr ended;
      try {
        m_wire.read_some();
      } catch (const channel_error &) {
        ended = std::current_exception();
      }
      while (const auto p = m_wire.next())
        take(to, *p);
      if (ended)
        std::rethrow_exception(ended);
    }
  } catch (const std::exception &e) {
    if (!m_ends)
      to.root_lost(e.what());
  }
}

void member::take(listener &to, const packet &received) {
  if (received.kind == packet_kind::lost) {
    reader from(received.payload);
    const auto rank = static_cast<int>(from.number());
    if (rank >= 0 && static_cast<std::size_t>(rank) < m_all.size())
      to.lost(rank, from.text());
  } else if (received.kind == packet_kind::ask) {
    send(packet_kind::report, to.report());
  }
}

void member::send_report(const std::string &text) noexcept { send(packet_kind::stalled, text); }

void member::send(packet_kind kind, const std::string &text) noexcept {
  try {
    const std::lock_guard guard(m_lock);
    m_wire.send(kind, std::string_view(text).substr(0, channel::k_most_bytes / 2));
  } catch (const std::exception &) { // the next read finds the end of the connection
  }
}

void member::stop() noexcept {
  m_ends = true;
  if (m_thread.joinable()) {
    const std::uint64_t one = 1;
    static_cast<void>(!write(m_stops, &one, sizeof one));
    m_thread.join();
  }
  if (m_stops >= 0)
    close(m_stops);
  m_stops = -1;
}

void member::leave() noexcept {
  stop();
  try {
    m_wire.send(packet_kind::leave);
  } catch (const std::exception &) {
  }
}

} // namespace weft_net
