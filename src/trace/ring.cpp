// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.hpp"

#include <cstring>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint32_t k_ids = 1024; // numbers of tasks that an owner takes at once

using shared_words = ring_words<real_atomics>;
using word = ring_core<ring_shape>::word;
static_assert(sizeof(word) == 8 && word::is_always_lock_free);
static_assert(sizeof(shared_words) == offsetof(ring_header, ended) - offsetof(ring_header, head));
static_assert(offsetof(shared_words, used) ==
              offsetof(ring_header, used) - offsetof(ring_header, head));

} // namespace

trace_ring::trace_ring(void *memory, unsigned packets, trace_mode mode, unsigned slot,
                       const unsigned char *uuid) noexcept
    : m_shared(*static_cast<ring_header *>(memory)),
      m_core(*reinterpret_cast<shared_words *>(static_cast<char *>(memory) +
                                               offsetof(ring_header, head)),
             reinterpret_cast<word *>(static_cast<char *>(memory) + k_ring_head), packets, mode),
      m_packets(packets), m_mode(mode), m_slot(slot) {
  m_blank.worker = slot;
  std::memcpy(m_blank.uuid, uuid, sizeof m_blank.uuid);
  m_shared.version = k_ring_version;
  m_shared.packets = packets;
  std::memcpy(m_shared.magic, k_ring_magic, sizeof k_ring_magic);
}

void trace_ring::take_ids() noexcept {
  m_next_id = reserve_task_ids(k_ids);
  m_last_id = m_next_id + k_ids;
}

void trace_ring::put_end() noexcept {
  const std::uint64_t now = std::exchange(m_last, m_shared.ended), task = m_shared.ended_task;
  put_now(trace_event::end, static_cast<std::uint16_t>(task >> 32),
          static_cast<std::uint32_t>(task), 0, 0);
  m_shared.ended = 0;
  m_last = now;
}

/// Hands over the full packet and begins the next one, at the time of the record that is to be put.
/// Returns false if there is no free packet.
bool trace_ring::begin_packet() noexcept {
  if (m_open) {
    m_core.amend(offsetof(packet_header, end) / 8, m_last);
    m_core.amend(offsetof(packet_header, discarded) / 8, m_core.discarded());
    m_core.close();
    if (m_mode == trace_mode::stream &&
        m_core.backlog() >= m_packets / 4) // the flusher finds fewer by itself
      packet_is_full();
  }
  m_open = m_core.reserve();
  if (!m_open)
    return false;
  packet_header h = m_blank;
  h.begin = h.end = m_last;
  h.number = m_core.filling();
  h.content_bits = h.packet_bits = k_packet_bytes * 8;
  h.discarded = m_core.discarded();
  std::uint64_t head[ring_shape::head_words];
  std::memcpy(head, &h, sizeof h);
  m_core.begin(head);
  return true;
}

void trace_ring::put_in_next(std::uint64_t when, std::uint64_t what, std::uint64_t a,
                             std::uint64_t b) noexcept {
  if (!begin_packet() || !m_core.put(when, what, a, b))
    m_core.discard(1);
}

std::size_t trace_ring::copy(std::uint64_t number, char *to) const noexcept {
  const auto [words, is_open] =
      m_core.copy(number, [to](std::size_t i, std::uint64_t w) { std::memcpy(to + i * 8, &w, 8); });
  const std::size_t bytes = words * 8;
  if (bytes == 0)
    return 0;
  if (is_open) {
    packet_header h;
    std::memcpy(&h, to, sizeof h);
    h.discarded = discarded();
    if (bytes > k_packet_head)
      std::memcpy(&h.end, to + bytes - sizeof(trace_record), sizeof h.end);
    h.content_bits = h.packet_bits = bytes * 8;
    std::memcpy(to, &h, sizeof h);
  }
  return bytes;
}

void trace_ring::make_last_word(packet_header &to, std::uint64_t number,
                                std::uint64_t time) const noexcept {
  to = m_blank;
  to.begin = to.end = time;
  to.number = number;
  to.content_bits = to.packet_bits = k_packet_head * 8;
  to.discarded = discarded();
}

} // namespace rt
} // namespace weft::inline v0
