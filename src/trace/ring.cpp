// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.hpp"

#include <cstring>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint32_t k_ids = 1024; // that an owner takes at once
constexpr std::size_t k_number_word = offsetof(packet_header, number) / 8;
constexpr std::uint64_t k_no_number = ~std::uint64_t{0};

} // namespace

trace_ring::trace_ring(void *memory, unsigned packets, trace_mode mode, unsigned slot, const unsigned char *uuid) noexcept
    : m_shared(static_cast<ring_header *>(memory)), m_packets_begin(static_cast<char *>(memory) + k_ring_head), m_packets(packets),
      m_mode(mode), m_slot(slot) {
  m_blank.worker = slot;
  std::memcpy(m_blank.uuid, uuid, sizeof m_blank.uuid);
  m_shared->version = k_ring_version;
  m_shared->packets = packets;
  std::memcpy(m_shared->magic, k_ring_magic, sizeof k_ring_magic);
}

void trace_ring::take_ids() noexcept {
  m_next_id = reserve_task_ids(k_ids);
  m_last_id = m_next_id + k_ids;
}

void trace_ring::discard(std::uint64_t n) noexcept {
  __atomic_store_n(&m_shared->discarded, m_shared->discarded + n, __ATOMIC_RELAXED);
}

/// The packet that is full is handed over, and the next one begun. False: there is none.
bool trace_ring::turn() noexcept {
  if (m_open) {
    close();
    if (m_mode == trace_mode::stream)
      packet_is_full();
  }
  const std::uint64_t next = m_shared->head;
  if (m_mode == trace_mode::stream) {
    if (next - __atomic_load_n(&m_shared->tail, __ATOMIC_ACQUIRE) >= m_packets) // O2
      return false;
  } else if (next >= m_packets) {
    discard(k_packet_records);
  }
  open(next);
  return true;
}

void trace_ring::open(std::uint64_t number) noexcept {
  std::uint64_t *const at = words(number);
  if (m_mode == trace_mode::flight)
    __atomic_store_n(at + k_number_word, k_no_number, __ATOMIC_RELEASE); // O4
  std::uint64_t now = read_ticks();
  m_last = now > m_last ? now : m_last;
  packet_header h = m_blank;
  h.begin = h.end = m_last;
  h.number = number;
  h.content_bits = h.packet_bits = k_packet_bytes * 8;
  h.discarded = m_shared->discarded;
  std::uint64_t from[k_packet_head / 8];
  std::memcpy(from, &h, sizeof h);
  for (std::size_t i = 0; i < k_packet_head / 8; ++i)
    if (i != k_number_word)
      store(at + i, from[i]);
  m_used = 0;
  store(&m_shared->used, 0);
  __atomic_store_n(at + k_number_word, number, __ATOMIC_RELEASE); // O4
  m_at = at + k_packet_head / 8;
  m_open = true;
}

void trace_ring::close() noexcept {
  std::uint64_t *const at = words(m_shared->head);
  store(at + offsetof(packet_header, end) / 8, m_last);
  store(at + offsetof(packet_header, discarded) / 8, m_shared->discarded);
  store(&m_shared->written, m_shared->written + k_packet_records);
  m_open = false;
  __atomic_store_n(&m_shared->head, m_shared->head + 1, __ATOMIC_RELEASE); // O1
}

std::size_t trace_ring::copy(std::uint64_t number, char *to) const noexcept {
  std::uint64_t *const at = words(number);
  const bool is_last = number == head();
  const std::uint64_t used = is_last ? __atomic_load_n(&m_shared->used, __ATOMIC_ACQUIRE) : k_packet_records; // O3
  if (__atomic_load_n(at + k_number_word, __ATOMIC_ACQUIRE) != number) // O4
    return 0;
  const std::size_t bytes = k_packet_head + used * sizeof(trace_record);
  std::uint64_t copied[k_packet_head / 8];
  for (std::size_t i = 0; i < bytes / 8; ++i) {
    const std::uint64_t w = __atomic_load_n(at + i, __ATOMIC_ACQUIRE); // O4: the number is read after them
    if (i < k_packet_head / 8)
      copied[i] = w;
    else
      std::memcpy(to + i * 8, &w, 8);
  }
  if (__atomic_load_n(at + k_number_word, __ATOMIC_RELAXED) != number) // O4
    return 0;
  packet_header h;
  std::memcpy(&h, copied, sizeof h);
  if (h.magic != k_ctf_magic) // never begun
    return 0;
  if (is_last) {
    h.discarded = discarded();
    if (used)
      std::memcpy(&h.end, to + bytes - sizeof(trace_record), sizeof h.end);
    h.content_bits = h.packet_bits = bytes * 8;
  }
  std::memcpy(to, &h, sizeof h);
  return bytes;
}

void trace_ring::make_last_word(packet_header &to, std::uint64_t number, std::uint64_t time) const noexcept {
  to = m_blank;
  to.begin = to.end = time;
  to.number = number;
  to.content_bits = to.packet_bits = k_packet_head * 8;
  to.discarded = discarded();
}

} // namespace rt
} // namespace weft::inline v0
