// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a job meet: it collects their descriptions, sends them to all, and notices which
// rank is lost. It is in `weft launch`, or in rank 0 where another program has started the ranks.
#pragma once

#include "weft_net/boot/channel.hpp"

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft_net {

/// Describes a rank. Travels in packets.
struct member_info {
  std::string host; ///< its name, for people
  std::string system; ///< names the running kernel: two ranks with the same one share memory
  std::uint64_t pid = 0;
  std::string engine;
  std::string address; ///< of the engine's port
};
/// Returns the time of the system's clock (CLOCK_REALTIME).
[[nodiscard]] std::uint64_t realtime_ns() noexcept;
/// Names the running kernel, and the network namespace: these stand for hosts.
[[nodiscard]] std::string own_system();
void write_info(writer &to, const member_info &info);
[[nodiscard]] member_info read_info(reader &from);
/// Is the version of what travels, which root and ranks have in common.
inline constexpr std::uint64_t k_boot_version = 3;

class rendezvous {
 public:
  struct listener {
    virtual ~listener() = default;
    /// Learns that all ranks have joined.
    virtual void all_joined(const std::vector<member_info> &members) = 0;
    /// Learns that a rank is lost: its connection ended, or was damaged.
    virtual void lost(int rank, const std::string &why) = 0;
    virtual void left(int rank) = 0; ///< in order
    /// Learns that a connection was refused, and why.
    virtual void refused(const std::string &why) = 0;
    /// Learns what all ranks wait for, after one of them has asked. Ranks that did not answer in time
    /// have no text.
    virtual void stalled(int first, const std::vector<std::string> &reports) = 0;
  };

  /// Listens on an address or interface of this host. Errors. address_error.
  rendezvous(const std::string &host, int port, int size, const job_key &key, listener &to);
  rendezvous(const rendezvous &) = delete;
  rendezvous &operator=(const rendezvous &) = delete;
  ~rendezvous();

  [[nodiscard]] int port() const noexcept { return m_port; }
  /// Waits up to some time for something to do, and does it. `also` is one more descriptor that ends the
  /// wait; -1 for none.
  void step(int milliseconds, int also = -1);
  /// Tells the ranks that one of them is lost, when all have joined. If it has not joined itself, none can:
  /// all others are turned away. Harmless for one that has been lost or has left.
  void lose(int rank, const std::string &why);
  [[nodiscard]] int joined() const noexcept { return m_joined; } ///< ranks that have ever joined
  [[nodiscard]] bool has_joined(int rank) const noexcept; ///< whether the rank has
  [[nodiscard]] bool has_left(int rank) const noexcept; ///< whether it has left in order

 private:
  using clock = std::chrono::steady_clock;
  struct connection {
    connection(int descriptor, const job_key &key)
        : wire(descriptor, channel::side::root, key), begun(clock::now()), heard(begun) {}
    channel wire;
    int rank = -1; // until it has joined
    clock::time_point begun, heard;
    job_key number;
    bool is_over = false;
  };
  struct member {
    std::optional<member_info> info;
    connection *wire = nullptr;
    bool is_lost = false, has_left = false;
    std::string why_lost;
  };

  void accept_one();
  void read(connection &joining);
  void take(connection &joining, const packet &received);
  void take_join(connection &joining, const packet &received);
  void refuse(connection &joining, const std::string &why);
  void turn_away(connection &joining, const std::string &why) noexcept;
  void tell(connection &joining, packet_kind kind, std::string_view payload) noexcept;
  void send_table();
  void announce_loss(int rank);
  void end_meeting(const std::string &why);
  [[nodiscard]] std::vector<std::string> table_packets() const;
  void ask_all(int first, const std::string &report);
  void take_report(int rank, const std::string &report);
  void look_at_time();

  listener &m_to;
  const job_key m_key;
  int m_port;
  int m_listens;
  std::list<connection> m_connections;
  std::vector<member> m_members;
  int m_joined = 0;
  std::string m_why_none; // none can join any more; "": they can
  clock::time_point m_last_beat;
  // Of a stall:
  int m_stalled = -1;
  clock::time_point m_asked;
  std::vector<std::string> m_reports;
  std::vector<bool> m_has_reported;
};

} // namespace weft_net
