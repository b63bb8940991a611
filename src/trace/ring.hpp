// SPDX-License-Identifier: Apache-2.0
// Where a worker writes what happens: packets of fixed records, filled one after the other.
//
// Roles       One owner, who stands in the worker's slot: puts. One reader: the flusher, or who ends the trace. Readers of other
//             processes come after the owner has died.
// Word        head: number of the packet that is being filled. tail: number of those that the reader is done with. used: records in the
//             one that is being filled. All count from 0; packet n lies at n modulo the number of packets.
// Invariants  I1  stream: tail <= head < tail + packets, or a new record is discarded. The owner writes packet `head` only, the reader
//                 copies those from tail to head - 1.
//             I2  flight: head grows regardless. A packet's own number is wrong while it is being overwritten; who copies one looks at
//                 the number before and after.
//             I3  discarded counts every record that no reader will get, and is told in each packet that follows.
// Orders      O1  head, release, with the reader's acquire: the packets before it are whole.
//             O2  tail, release, with the owner's acquire: the reader has copied what is overwritten.
//             O3  used, release, with the acquire of who ends the trace while the owner goes on: the records before it are whole.
//             O4  a packet's number, release before and after its records are overwritten; acquire by who copies it.
//             Records are words that are stored and loaded relaxed.
// Progress    put is wait-free; it takes no lock and no memory, and calls the system once per packet when the flusher sleeps.
// Reclamation None: rings stay until the process ends, their files go when the trace ends in order.
// Source      The rings of LTTng and of Nanos6's CTF backend; those of Nanos6 are flushed by the worker, here by a thread of its own.
// Checked by  tests/unit/trace/ring_test.cpp
#pragma once

#include "observe/tick_clock.hpp"
#include "trace/record.hpp"

#include <atomic>

namespace weft::inline v0 {
namespace rt {

enum class trace_mode : std::uint8_t { stream, flight };

class trace_ring {
public:
  /// `memory`: k_ring_head + packets * k_packet_bytes bytes, zero.
  trace_ring(void *memory, unsigned packets, trace_mode mode, unsigned slot, const unsigned char *uuid) noexcept;
  trace_ring(const trace_ring &) = delete;
  trace_ring &operator=(const trace_ring &) = delete;

  /// Owner.
  void put(trace_event e, std::uint16_t type, std::uint32_t task, std::uint64_t a = 0, std::uint64_t b = 0) noexcept {
    if (m_used == k_packet_records && !turn()) [[unlikely]]
      return discard();
    const std::uint64_t now = read_ticks();
    if (now > m_last) [[likely]] // clocks of processors may differ by some ticks
      m_last = now;
    std::uint64_t *const to = m_at;
    store(to, m_last);
    store(to + 1, static_cast<std::uint64_t>(e) | std::uint64_t{type} << 16 | std::uint64_t{task} << 32);
    store(to + 2, a);
    store(to + 3, b);
    m_at = to + 4;
    __atomic_store_n(&m_shared->used, ++m_used, __ATOMIC_RELEASE); // O3
  }
  [[nodiscard]] std::uint32_t fresh_id() noexcept {
    if (m_next_id == m_last_id) [[unlikely]]
      take_ids();
    return ++m_next_id;
  }

  std::uint32_t running = 0; // the task that runs on the owner
  std::uint32_t ending = 0;  // the one whose end is being dealt with

  [[nodiscard]] unsigned slot() const noexcept { return m_slot; }

  // ---- the reader

  [[nodiscard]] std::uint64_t head() const noexcept { return __atomic_load_n(&m_shared->head, __ATOMIC_ACQUIRE); } // O1
  [[nodiscard]] std::uint64_t tail() const noexcept { return m_shared->tail; }
  [[nodiscard]] unsigned packets() const noexcept { return m_packets; }
  [[nodiscard]] trace_mode mode() const noexcept { return m_mode; }
  [[nodiscard]] std::uint64_t discarded() const noexcept { return __atomic_load_n(&m_shared->discarded, __ATOMIC_RELAXED); }
  [[nodiscard]] std::uint64_t records() const noexcept { return __atomic_load_n(&m_shared->written, __ATOMIC_RELAXED); }
  /// A closed packet that stays until done_with().
  [[nodiscard]] const char *packet(std::uint64_t number) const noexcept { return reinterpret_cast<const char *>(words(number)); }
  void done_with(std::uint64_t number) noexcept { __atomic_store_n(&m_shared->tail, number + 1, __ATOMIC_RELEASE); } // O2
  /// Copies a packet that may be overwritten or filled meanwhile: its bytes; 0 when it is gone. `to` has room for one.
  [[nodiscard]] std::size_t copy(std::uint64_t number, char *to) const noexcept;
  /// A packet without records that tells what was discarded since the last.
  void make_last_word(packet_header &to, std::uint64_t number, std::uint64_t time) const noexcept;
  [[nodiscard]] const packet_header &blank() const noexcept { return m_blank; }

private:
  static void store(std::uint64_t *to, std::uint64_t v) noexcept { __atomic_store_n(to, v, __ATOMIC_RELAXED); }
  std::uint64_t *words(std::uint64_t number) const noexcept {
    return reinterpret_cast<std::uint64_t *>(m_packets_begin + number % m_packets * k_packet_bytes);
  }
  bool turn() noexcept;
  void discard(std::uint64_t n = 1) noexcept;
  void open(std::uint64_t number) noexcept;
  void close() noexcept;
  void take_ids() noexcept;

  std::uint64_t *m_at = nullptr;
  std::uint64_t m_used = k_packet_records;
  std::uint64_t m_last = 0;
  ring_header *m_shared;
  char *m_packets_begin;
  unsigned m_packets;
  trace_mode m_mode;
  bool m_open = false;
  unsigned m_slot;
  std::uint32_t m_next_id = 0, m_last_id = 0;
  packet_header m_blank;
};

/// Who is to be told that a packet is full; may call the system.
void packet_is_full() noexcept;
/// Names of tasks, unique in the trace until 2^32 have been given.
[[nodiscard]] std::uint32_t reserve_task_ids(std::uint32_t n) noexcept;

} // namespace rt
} // namespace weft::inline v0
