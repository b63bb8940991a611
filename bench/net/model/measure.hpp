// SPDX-License-Identifier: Apache-2.0
// Reads what the LogGP model needs between two ranks, over anything that sends and receives.
//
// A link is a class with
//   send(bytes)     sends, and returns when the source may be used again
//   progress()      receives what is there
//   come()          how many messages have come
#pragma once

#include "loggp.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace net_bench::loggp {

inline constexpr std::size_t k_short = 8, k_long = std::size_t{1} << 18;

[[nodiscard]] inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Measures, at rank 0; rank 1 answers.
template <class Link>
class measurement {
 public:
  measurement(Link &link, int rank, int windows, int count)
      : m_link(link), m_rank(rank), m_windows(windows), m_count(count) {}

  /// Returns the least of the windows, which is what the calls cost; nothing of use at rank 1.
  [[nodiscard]] readings run() {
    std::vector<double> all[7];
    for (int w = -1; w < m_windows; ++w) { // the first one is not on the clock
      const double one[7] = {trip(k_short),     trip(k_long),     sends(k_short), sends(k_long),
                             receives(k_short), receives(k_long), flood()};
      for (int i = 0; w >= 0 && i != 7; ++i)
        all[i].push_back(one[i]);
    }
    readings r;
    r.short_bytes = k_short;
    r.long_bytes = k_long;
    r.flood_count = m_count;
    double *const to[7] = {&r.trip,    &r.long_trip,    &r.send, &r.long_send,
                           &r.receive, &r.long_receive, &r.flood};
    for (int i = 0; i != 7; ++i)
      *to[i] = *std::min_element(all[i].begin(), all[i].end());
    return r;
  }

 private:
  [[nodiscard]] int count_of(std::size_t bytes) const {
    return bytes == k_long ? std::max(1, m_count / 32) : m_count;
  }
  void await(std::uint64_t more) {
    m_expected += more;
    while (m_link.come() < m_expected)
      m_link.progress();
  }
  /// Waits without receiving, until what the other rank has sent is surely there.
  static void let_come() {
    for (const double end = seconds() + 100e-6; seconds() < end;) {
    }
  }

  double trip(std::size_t bytes) {
    const int count = count_of(bytes);
    const double begin = seconds();
    for (int i = 0; i != count; ++i) {
      if (m_rank == 0)
        m_link.send(bytes);
      await(1);
      if (m_rank == 1)
        m_link.send(bytes);
    }
    return (seconds() - begin) / (2 * count);
  }
  double sends(std::size_t bytes) {
    double took = 0;
    const int count = count_of(bytes);
    for (int i = 0; i != count; ++i)
      if (m_rank == 0) {
        const double begin = seconds();
        m_link.send(bytes);
        took += seconds() - begin;
        await(1); // the next one goes to a rank that waits
      } else {
        await(1);
        m_link.send(k_short);
      }
    return took / count;
  }
  double receives(std::size_t bytes) {
    double took = 0;
    const int count = std::max(1, count_of(bytes) / 8);
    for (int i = 0; i != count; ++i)
      if (m_rank == 0) {
        m_link.send(k_short);
        let_come();
        const double begin = seconds();
        await(1);
        took += seconds() - begin;
      } else {
        await(1);
        m_link.send(bytes);
      }
    return took / count;
  }
  double flood() {
    const double begin = seconds();
    for (int i = 0; m_rank == 0 && i != m_count; ++i)
      m_link.send(k_short);
    if (m_rank == 1) {
      await(static_cast<std::uint64_t>(m_count));
      m_link.send(k_short);
    } else {
      await(1);
    }
    return seconds() - begin;
  }

  Link &m_link;
  int m_rank, m_windows, m_count;
  std::uint64_t m_expected = 0;
};

/// Prints the readings and the parameters, in nanoseconds and, of a byte, picoseconds.
inline void print(const char *of, const char *path, const readings &r) {
  const network n = solve(r);
  std::printf("readings of=%s path=%s trip=%.1f long_trip=%.1f send=%.1f long_send=%.1f "
              "receive=%.1f long_receive=%.1f flood=%.1f flood_count=%.0f long_bytes=%.0f\n",
              of, path, 1e9 * r.trip, 1e9 * r.long_trip, 1e9 * r.send, 1e9 * r.long_send,
              1e9 * r.receive, 1e9 * r.long_receive, 1e9 * r.flood, r.flood_count, r.long_bytes);
  std::printf("loggp of=%s L=%.1f o=%.1f g=%.1f G=%.2f sent_byte=%.2f received_byte=%.2f\n", of,
              1e9 * n.latency, 1e9 * n.overhead, 1e9 * n.gap, 1e12 * n.per_byte, 1e12 * n.sent_byte,
              1e12 * n.received_byte);
  std::fflush(stdout);
}

} // namespace net_bench::loggp
