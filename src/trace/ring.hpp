// SPDX-License-Identifier: Apache-2.0
// The ring in which a worker writes its events: packets of the Common Trace Format (ring_core.hpp),
// in memory that is a file. Putting a record takes no lock and no memory. It calls the system once
// per packet if the flusher sleeps.
// Bodies: session.cpp
#pragma once

#include "observe/tick_clock.hpp"
#include "trace/record.hpp"
#include "trace/ring_core.hpp"

#include <weft/config.hpp>

namespace weft::inline v0 {
namespace rt {

struct ring_shape {
  static constexpr std::size_t head_words = k_packet_head / 8,
                               number_word = offsetof(packet_header, number) / 8;
  static constexpr std::size_t record_words = sizeof(trace_record) / 8, records = k_packet_records;
};

class trace_ring {
 public:
  /// Makes a ring in `memory`: k_ring_head + packets * k_packet_bytes bytes, zero.
  trace_ring(void *memory, unsigned packets, trace_mode mode, unsigned slot,
             const unsigned char *uuid) noexcept;
  trace_ring(const trace_ring &) = delete;
  trace_ring &operator=(const trace_ring &) = delete;

  // ---- the owner

  /// Puts a record with the time of now.
  void put(trace_event event, std::uint16_t type, std::uint32_t task, std::uint64_t a = 0,
           std::uint64_t b = 0) noexcept {
    if (m_shared.ended) [[unlikely]]
      put_end();
    put_at(look_at_clock(), event, type, task, a, b);
  }
  /// Puts one more record, of the same moment.
  void put_now(trace_event event, std::uint16_t type, std::uint32_t task, std::uint64_t a,
               std::uint64_t b) noexcept {
    put_at(m_last, event, type, task, a, b);
  }
  /// Notes that a body begins that runs on no other task's frame. It needs no record but `begin`.
  void begin(std::uint16_t type, std::uint32_t task) noexcept {
    const std::uint64_t now = look_at_clock(), ended = m_shared.ended;
    if (!ended)
      return put_at(now, trace_event::begin, type, task, 0, 0);
    m_shared.ended = 0;
    put_at(now, trace_event::next, type, task, m_shared.ended_task, ended);
  }
  /// Notes that the body has ended. The owner writes that with its next record.
  void end(std::uint16_t type, std::uint32_t task) noexcept {
    const std::uint64_t now = look_at_clock();
    m_shared.ended_task = task | std::uint64_t{type} << 32;
    m_shared.ended = now;
  }
  /// Writes an end that is still unwritten, because the owner may write no more records for a long
  /// time.
  void settle() noexcept {
    if (m_shared.ended)
      put_end();
  }
  [[nodiscard]] std::uint32_t fresh_id() noexcept {
    if (m_next_id == m_last_id) [[unlikely]]
      take_ids();
    return ++m_next_id;
  }

  std::uint32_t running = 0; // the task that runs on the owner
  std::uint32_t ending = 0; // the task whose end is being processed

  [[nodiscard]] unsigned slot() const noexcept { return m_slot; }

  // ---- the reader

  [[nodiscard]] std::uint64_t head() const noexcept { return m_core.head(); }
  [[nodiscard]] std::uint64_t tail() const noexcept { return m_core.tail(); }
  [[nodiscard]] unsigned packets() const noexcept { return m_packets; }
  [[nodiscard]] trace_mode mode() const noexcept { return m_mode; }
  [[nodiscard]] std::uint64_t discarded() const noexcept { return m_core.discarded(); }
  [[nodiscard]] std::uint64_t records() const noexcept { return m_core.records(); }
  /// Returns a closed packet, which stays until done_with().
  [[nodiscard]] const char *packet(std::uint64_t number) const noexcept {
    return reinterpret_cast<const char *>(m_core.packet_at(number));
  }
  void done_with(std::uint64_t number) noexcept { m_core.done_with(number); }
  /// Copies a packet that the owner may overwrite or fill meanwhile; returns its bytes, 0 if it is
  /// gone. `to` has room for one packet.
  [[nodiscard]] std::size_t copy(std::uint64_t number, char *to) const noexcept;
  /// Makes a packet without records that counts the records discarded since the last packet.
  void make_last_word(packet_header &to, std::uint64_t number, std::uint64_t time) const noexcept;
  [[nodiscard]] const packet_header &blank() const noexcept { return m_blank; }

 private:
  std::uint64_t look_at_clock() noexcept {
    const std::uint64_t now = read_ticks();
    return m_last = now > m_last ? now : m_last; // clocks of processors may differ by some ticks
  }
  void put_at(std::uint64_t when, trace_event event, std::uint16_t type, std::uint32_t task,
              std::uint64_t a, std::uint64_t b) noexcept {
    const std::uint64_t what =
        static_cast<std::uint64_t>(event) | std::uint64_t{type} << 16 | std::uint64_t{task} << 32;
    if (!m_core.put(when, what, a, b)) [[unlikely]]
      put_in_next(when, what, a, b);
  }
  WEFT_NOINLINE void put_in_next(std::uint64_t when, std::uint64_t what, std::uint64_t a,
                                 std::uint64_t b) noexcept;
  bool begin_packet() noexcept;
  WEFT_COLD void put_end() noexcept;
  void take_ids() noexcept;

  ring_header &m_shared;
  ring_core<ring_shape> m_core;
  std::uint64_t m_last = 0;
  unsigned m_packets;
  trace_mode m_mode;
  bool m_open = false;
  unsigned m_slot;
  std::uint32_t m_next_id = 0, m_last_id = 0;
  packet_header m_blank;
};

/// Wakes the flusher because a packet is full; may call the system.
void packet_is_full() noexcept;
/// Reserves `n` numbers for tasks, unique in the trace until 2^32 have been reserved.
[[nodiscard]] std::uint32_t reserve_task_ids(std::uint32_t n) noexcept;

} // namespace rt
} // namespace weft::inline v0
