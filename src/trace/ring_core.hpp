// SPDX-License-Identifier: Apache-2.0
// A ring of packets of fixed records. One owner fills the packets one after the other. Meanwhile
// another thread takes full packets away (mode stream only) or copies packets (both modes).
//
// Roles       The owner, one. For each packet: reserve (is there room?), begin, put (for each
//             record), amend, close. discard counts records for which there is no room.
//             The reader, one: the flusher takes packets; the thread that ends the trace copies
//             what is left, the packet that is being filled included.
//             A reader of another process comes after the owner has died.
// Word        head: number of the packet that is being filled. tail: number of packets that the
//             reader is done with. used: records in the packet that is being filled. All count from
//             0. Packet n lies at n modulo the number of packets. It begins with its header
//             (head_words words), one word of which is the packet's own number.
//             discarded, written: counts of records, stored by the owner, relaxed. written counts
//             those of closed packets.
// Invariants  I1  stream: tail <= head <= tail + packets. If head = tail + packets, no packet is
//                 free, and a new record is discarded. The owner writes packet `head` only. The
//                 reader takes the packets from tail to head - 1, and may read them as plain
//                 memory.
//             I2  flight: head grows regardless of tail, and packet n overwrites packet
//                 n - packets, whose records reserve adds to discarded. The owner first sets the
//                 packet's own number to k_no_number, then writes the rest of the header, and last
//                 the new number. A reader that copies a packet looks at the number before and
//                 after; if it is another one, the copy fails.
//             I3  discarded counts every record that is in no packet, or in an overwritten one.
// Orders      O1  head, release, with the reader's acquire: the packets before it are whole.
//             O2  tail, release, with the owner's acquire in reserve (stream): the reader has read
//                 what the owner overwrites.
//             O3  used, release, with the copying reader's acquire: the records before it are
//                 whole. If the reader gets the `used` of a later packet, it also sees that head is
//                 beyond its packet, because it loads head next. It then ignores `used` and copies
//                 a full packet.
//             O4  words of a packet, release, with the copying reader's acquire: a reader that gets
//                 a word of the next packet there sees at its second look that the number has
//                 changed.
//             O5  a packet's number, release after the owner has written the header and reset
//                 `used`; the copying reader acquires it first. So the values of head and `used`
//                 that it loads next are those of this packet or of a later one.
// Progress    Wait-free for the owner; a copy fails rather than wait.
// Reclamation None.
// Source      The rings of LTTng and of Nanos6's CTF backend; in Nanos6 the worker flushes its
//             ring, here a thread of its own does.
// Checked by  tests/model/ring_models.cpp, tests/unit/trace/ring_test.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

enum class trace_mode : std::uint8_t { stream, flight };

/// Holds the words that owner and reader share, zero in the beginning.
template <class P>
struct ring_words {
  typename P::template atomic<std::uint64_t> head{0}, tail{0}, used{0};
  typename P::template atomic<std::uint64_t> discarded{0},
      written{0}; // records; written: of closed packets
};

/// Implements the ring. `Shape` names its sizes: head_words, number_word (of the head),
/// record_words, records.
template <class Shape, class P = real_atomics>
class ring_core {
 public:
  using word = typename P::template atomic<std::uint64_t>;

  ring_core(ring_words<P> &shared, word *packets, unsigned count, trace_mode mode) noexcept
      : m_shared(shared), m_packets(packets), m_count(count), m_mode(mode) {
    packet_at(0)[Shape::number_word].store(
        k_no_number, std::memory_order_relaxed); // before any reader knows of the ring
  }

  // ---- the owner

  [[nodiscard]] bool is_full() const noexcept { return m_used == Shape::records; }
  /// Puts a record. Returns false if the packet is full, or none has been begun.
  template <class... Words>
  [[nodiscard]] bool put(Words... record) noexcept {
    static_assert(sizeof...(Words) == Shape::record_words);
    if (is_full()) [[unlikely]]
      return false;
    const std::uint64_t used =
        m_used; // before the stores, because a compiler must assume that they change m_used and m_shared
    ring_words<P> &shared = m_shared;
    word *at = m_at;
    (at++->store(record, std::memory_order_release), ...); // O4
    m_at = at;
    m_used = used + 1;
    shared.used.store(used + 1, std::memory_order_release); // O3
    return true;
  }
  /// Reserves the next packet; in flight mode gives up the oldest one. Returns false if there is
  /// none.
  [[nodiscard]] bool reserve() noexcept {
    const std::uint64_t next = filling();
    if (m_mode == trace_mode::stream)
      return next - m_shared.tail.load(std::memory_order_acquire) <
             unless(bug::ring_overwrites_unread, m_count, m_count + 1); // O2
    if (next >= m_count)
      discard(Shape::records);
    return true;
  }
  /// Returns how many packets the reader is not done with.
  [[nodiscard]] std::uint64_t backlog() const noexcept {
    return filling() - m_shared.tail.load(std::memory_order_relaxed);
  }
  /// Begins the packet; after reserve().
  void begin(const std::uint64_t (&head)[Shape::head_words]) noexcept {
    word *const at = packet_at(filling());
    if (m_mode == trace_mode::flight)
      at[Shape::number_word].store(k_no_number, std::memory_order_relaxed);
    for (std::size_t i = 0; i < Shape::head_words; ++i)
      if (i != Shape::number_word)
        at[i].store(head[i], std::memory_order_release); // O4
    m_used = 0;
    m_shared.used.store(0, std::memory_order_release); // O3
    at[Shape::number_word].store(filling(), std::memory_order_release); // O5
    m_at = at + Shape::head_words;
  }
  /// Changes the head of the packet that is being filled.
  void amend(std::size_t head_word, std::uint64_t value) noexcept {
    packet_at(filling())[head_word].store(value, std::memory_order_release); // O4
  }
  void close() noexcept {
    m_shared.written.store(records() + Shape::records, std::memory_order_relaxed);
    m_shared.head.store(filling() + 1,
                        order_unless(bug::ring_head_relaxed, std::memory_order_release)); // O1
  }
  void discard(std::uint64_t n) noexcept {
    m_shared.discarded.store(discarded() + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t filling() const noexcept {
    return m_shared.head.load(std::memory_order_relaxed);
  }

  // ---- the reader

  [[nodiscard]] std::uint64_t head() const noexcept {
    return m_shared.head.load(std::memory_order_acquire);
  } // O1
  [[nodiscard]] std::uint64_t tail() const noexcept {
    return m_shared.tail.load(std::memory_order_relaxed);
  }
  void done_with(std::uint64_t number) noexcept {
    m_shared.tail.store(number + 1, std::memory_order_release);
  } // O2
  [[nodiscard]] std::uint64_t discarded() const noexcept {
    return m_shared.discarded.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t records() const noexcept {
    return m_shared.written.load(std::memory_order_relaxed);
  }
  [[nodiscard]] word *packet_at(std::uint64_t number) const noexcept {
    return m_packets +
           number % m_count * (Shape::head_words + Shape::records * Shape::record_words);
  }

  struct copied {
    std::size_t words; // 0: the packet is gone, or was never begun
    bool is_open; // the owner was filling it
  };
  /// Copies a packet that the owner may overwrite or fill meanwhile. Calls `put(i, w)` with its
  /// words in order; they are void if the packet turns out to be gone.
  template <class F>
  [[nodiscard]] copied copy(std::uint64_t number, F put) const noexcept {
    const word *const at = packet_at(number);
    if (at[Shape::number_word].load(std::memory_order_acquire) != number) // O5
      return {0, false};
    const std::uint64_t used = m_shared.used.load(std::memory_order_acquire); // O3
    const bool is_open = number == head();
    const std::size_t words =
        Shape::head_words + (is_open ? used : Shape::records) * Shape::record_words;
    for (std::size_t i = 0; i < words; ++i)
      put(i, at[i].load(std::memory_order_acquire)); // O4
    if (at[Shape::number_word].load(std::memory_order_relaxed) != number)
      return {0, is_open};
    return {words, is_open};
  }

 private:
  static constexpr std::uint64_t k_no_number = ~std::uint64_t{0};

  word *m_at = nullptr;
  std::uint64_t m_used = Shape::records;
  ring_words<P> &m_shared;
  word *m_packets;
  unsigned m_count;
  trace_mode m_mode;
};

} // namespace rt
} // namespace weft::inline v0
