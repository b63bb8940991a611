// SPDX-License-Identifier: Apache-2.0
// A rank's side of the rendezvous: it joins, and then a thread listens for losses and questions.
#pragma once

#include "weft_net/boot/address.hpp"
#include "weft_net/boot/channel.hpp"
#include "weft_net/boot/rendezvous.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weft_net {

class member {
 public:
  struct listener {
    virtual ~listener() = default;
    virtual void lost(int rank, const std::string &why) = 0;
    virtual void root_lost(const std::string &why) = 0; ///< once, the last call
    virtual std::string report() = 0; ///< what the rank waits for
  };

  /// Joins the job, and waits until all have, some seconds at most.
  ///
  /// Errors. address_error and channel_error, with text for people.
  member(const endpoint &root, int rank, int size, const job_key &key, const member_info &own,
         int seconds);
  member(const member &) = delete;
  member &operator=(const member &) = delete;
  ~member(); ///< without leave(): the others take it for lost

  [[nodiscard]] const std::vector<member_info> &all() const noexcept { return m_all; }
  /// Says how far the system's clock is from that of the process that the ranks meet at.
  struct clock_offset {
    std::int64_t ns = 0; ///< to add to the own time
    std::uint64_t uncertain_ns = 0; ///< it may be off by so much; 0: it is the same clock
  };
  /// Measures that, before start(). Errors. channel_error.
  [[nodiscard]] clock_offset measure_clock(int seconds);
  /// Begins to listen.
  void start(listener &to);
  /// Has all ranks report. Any thread.
  void send_report(const std::string &text) noexcept;
  /// Ends the listening: the listener gets no more calls.
  void stop() noexcept;
  /// Leaves in order, after stop() or instead of it.
  void leave() noexcept;

 private:
  /// Bounds all waits of one call together.
  struct time_limit {
    explicit time_limit(int most)
        : seconds(most), end(std::chrono::steady_clock::now() + std::chrono::seconds(most)) {}
    int seconds;
    std::chrono::steady_clock::time_point end;
  };
  packet wait_for_packet(const std::string &what);
  void run(listener &to) noexcept;
  void take(listener &to, const packet &received);
  void send(packet_kind kind, const std::string &text) noexcept;

  const int m_rank;
  const std::string m_system;
  time_limit m_limit; // of the constructor, then of measure_clock(); before the connection is made
  channel m_wire;
  std::vector<member_info> m_all;
  std::vector<packet> m_early; // that came before start()
  std::mutex m_lock; // of sending
  std::atomic<bool> m_ends{false};
  int m_stops = -1;
  std::thread m_thread;
};

/// Returns the description of this process, without engine.
[[nodiscard]] member_info own_info();

} // namespace weft_net
