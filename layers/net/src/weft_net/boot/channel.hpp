// SPDX-License-Identifier: Apache-2.0
// A connection of the rendezvous, and the packets on it. Each packet proves that its sender has the
// job's key, and is the next one of its connection: one that is forged, cut short, sent twice or from
// another connection is refused.
#pragma once

#include "weft_net/boot/mac.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft_net {

/// Says what a packet is.
enum class packet_kind : std::uint32_t {
  hello = 1, ///< of the root, the first: its number for this connection; proves nothing
  join, ///< of a rank, the first: its number, then its description
  refused, ///< of the root: why, as text; proves nothing
  table, ///< of the root: descriptions of ranks, in packets that follow each other until all have come
  beat, ///< of both: still there
  lost, ///< of the root: a rank is lost, and why
  leave, ///< of a rank: it has ended in order
  ask, ///< of the root: tell what you wait for
  report, ///< of a rank that was asked: what it waits for
  stalled, ///< of a rank: what it waits for while nothing arrives; makes all others report
  clock, ///< of a rank: what is the time?; of the root: the time, and the system whose clock that is
};

struct packet {
  packet_kind kind;
  std::string payload;
};

/// Reports a packet, or the end of a connection, that ends the connection.
class channel_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes and reads the fields of a payload.
class writer {
 public:
  void number(std::uint64_t value);
  void text(std::string_view value);
  [[nodiscard]] const std::string &bytes() const noexcept { return m_bytes; }

 private:
  std::string m_bytes;
};
class reader {
 public:
  explicit reader(std::string_view bytes) : m_left(bytes) {}
  /// Errors. channel_error where the payload ends first.
  std::uint64_t number();
  std::string text();
  [[nodiscard]] bool is_at_end() const noexcept { return m_left.empty(); }

 private:
  std::string_view m_left;
};

class channel {
 public:
  static constexpr std::size_t k_most_bytes = 1 << 20;
  enum class side : char { root = 'R', rank = 'r' };

  /// Takes the descriptor over.
  channel(int descriptor, side own, const job_key &key) noexcept;
  channel(channel &&other) noexcept;
  channel &operator=(channel &&) = delete;
  ~channel();

  [[nodiscard]] int descriptor() const noexcept { return m_descriptor; }
  /// Sets the numbers of both sides, which every proof contains.
  void set_numbers(const job_key &root, const job_key &rank) noexcept {
    m_root_number = root;
    m_rank_number = rank;
  }
  /// Sends a packet; hello and refused prove nothing. Waits while the other side is slow, up to ten
  /// seconds. Errors. channel_error.
  void send(packet_kind kind, std::string_view payload = {});
  /// Reads what is there without waiting. Errors. channel_error, at the end of the connection too.
  void read_some();
  /// Returns the next packet that is whole, after a look at its proof. Errors. channel_error.
  [[nodiscard]] std::optional<packet> next();
  /// Returns the next packet, of which the proof is not looked at: next() does so again.
  [[nodiscard]] std::optional<packet> peek() const;

 private:
  struct head;
  [[nodiscard]] std::uint64_t proof(side from, std::uint64_t sequence, packet_kind kind,
                                    std::string_view payload) const;

  int m_descriptor;
  side m_side;
  job_key m_key, m_root_number{}, m_rank_number{};
  std::uint64_t m_sent = 0, m_received = 0;
  std::string m_buffer;
};

} // namespace weft_net
