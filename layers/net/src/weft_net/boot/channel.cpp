// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/channel.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft_net {

namespace {

constexpr std::uint32_t k_magic = 0x31544657; // WFT1
constexpr int k_most_wait_ms = 10'000;

bool proves_nothing(packet_kind kind) noexcept {
  return kind == packet_kind::hello || kind == packet_kind::refused;
}

} // namespace

/// Is the head of a packet, in the order of this machine's bytes: ranks of one job are of one
/// kind of machine.
struct channel::head {
  std::uint32_t magic;
  packet_kind kind;
  std::uint32_t bytes;
  std::uint32_t zero;
  std::uint64_t proof;
};

void writer::number(std::uint64_t value) {
  m_bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}
void writer::text(std::string_view value) {
  number(value.size());
  m_bytes.append(value);
}

std::uint64_t reader::number() {
  std::uint64_t value;
  if (m_left.size() < sizeof value)
    throw channel_error("a packet ends within a number");
  std::memcpy(&value, m_left.data(), sizeof value);
  m_left.remove_prefix(sizeof value);
  return value;
}
std::string reader::text() {
  const std::uint64_t size = number();
  if (size > m_left.size())
    throw channel_error("a packet ends within a text");
  std::string value(m_left.substr(0, size));
  m_left.remove_prefix(size);
  return value;
}

channel::channel(int descriptor, side own, const job_key &key) noexcept
    : m_descriptor(descriptor), m_side(own), m_key(key) {}
channel::channel(channel &&other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)), m_side(other.m_side), m_key(other.m_key),
      m_root_number(other.m_root_number), m_rank_number(other.m_rank_number), m_sent(other.m_sent),
      m_received(other.m_received), m_buffer(std::move(other.m_buffer)) {}
channel::~channel() {
  if (m_descriptor >= 0)
    close(m_descriptor);
}

std::uint64_t channel::proof(side from, std::uint64_t sequence, packet_kind kind,
                             std::string_view payload) const {
  writer all;
  for (const job_key &number : {m_root_number, m_rank_number})
    for (const std::uint64_t word : number.words)
      all.number(word);
  all.number(static_cast<std::uint64_t>(from));
  all.number(sequence);
  all.number(static_cast<std::uint64_t>(kind));
  all.text(payload);
  return mac_of(m_key, all.bytes());
}

void channel::send(packet_kind kind, std::string_view payload) {
  head h{k_magic, kind, static_cast<std::uint32_t>(payload.size()), 0, 0};
  if (!proves_nothing(kind))
    h.proof = proof(m_side, m_sent++, kind, payload);
  std::string all(reinterpret_cast<const char *>(&h), sizeof h);
  all += payload;
  std::string_view left = all;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(k_most_wait_ms);
  while (!left.empty()) {
    const ssize_t sent =
        ::send(m_descriptor, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN && std::chrono::steady_clock::now() < end) {
      pollfd waits{m_descriptor, POLLOUT, 0};
      poll(&waits, 1, 100);
    } else if (errno != EINTR) {
      throw channel_error(std::string("the connection does not take a packet: ") +
                          std::strerror(errno));
    }
  }
}

void channel::read_some() {
  char some[16384];
  for (;;) {
    const ssize_t got = recv(m_descriptor, some, sizeof some, MSG_DONTWAIT);
    if (got > 0)
      m_buffer.append(some, static_cast<std::size_t>(got));
    if (got == 0)
      throw channel_error("the connection has ended");
    if (got < 0 && errno == EAGAIN)
      return;
    if (got < 0 && errno != EINTR)
      throw channel_error(std::string("the connection is broken: ") + std::strerror(errno));
    if (m_buffer.size() > 2 * k_most_bytes)
      return; // the rest waits
  }
}

std::optional<packet> channel::peek() const {
  head h{};
  std::memcpy(&h, m_buffer.data(), std::min(sizeof h, m_buffer.size()));
  if (m_buffer.size() >= sizeof h.magic && h.magic != k_magic)
    throw channel_error("what came is no packet of Weft");
  if (m_buffer.size() < sizeof h)
    return std::nullopt;
  if (h.bytes > k_most_bytes || h.zero != 0)
    throw channel_error("a packet of " + std::to_string(h.bytes) + " bytes is damaged");
  if (m_buffer.size() - sizeof h < h.bytes)
    return std::nullopt;
  return packet{h.kind, m_buffer.substr(sizeof h, h.bytes)};
}

std::optional<packet> channel::next() {
  auto made = peek();
  if (!made)
    return made;
  head h{};
  std::memcpy(&h, m_buffer.data(), sizeof h);
  if (!proves_nothing(made->kind)) {
    const side from = m_side == side::root ? side::rank : side::root;
    if (h.proof != proof(from, m_received, made->kind, made->payload))
      throw channel_error("a packet does not prove that its sender has the job's key (net.key), or "
                          "came twice");
    ++m_received;
  }
  m_buffer.erase(0, sizeof h + h.bytes);
  return made;
}

} // namespace weft_net
