// SPDX-License-Identifier: Apache-2.0
// Packets of the engine mpi, and the receives that are posted for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

namespace weft_net_mpi {

inline constexpr std::size_t k_most_inline = 4096; // bytes that a packet carries
inline constexpr int k_packet_tag = 0, k_put_tag = 1, k_get_tag = 2;

enum class packet : std::uint32_t {
  message,
  notify, // with or without data
  notify_long, // the data follow by k_put_tag
  put,
  put_long, // the data follow by k_put_tag
  get, // the target answers with got, or by k_get_tag; with refused, or nothing by that tag
  got,
  add, // the target answers with value or refused
  swap,
  value,
  refused,
  want_key, // the target answers with has_key
  has_key, // `count` says whether there is such memory
  removed, // memory `number` is no longer shared
  credits, // `count` packets were handled
  ask, // the target answers when the data of all that came before are there
  answer,
  goodbye, // the rank leaves in order; its last packet
};

struct header {
  packet what = packet::message;
  std::uint32_t id = 0; // of a message or a notification
  std::uint64_t count = 0; // notifications; operand or result of an atomic operation
  std::uint64_t number = 0; // of the memory
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0; // of data that follow or are asked for; what a swap expects
  std::uint64_t token = 0; // of what waits for an answer
};

struct packet_bytes {
  header head;
  std::byte payload[k_most_inline];
};

/// Holds receives for packets. MPI keeps the order of a sender's messages, and the receives are looked at
/// in the order in which they were posted: so the packets of a rank come in their order.
class inbox {
 public:
  static constexpr std::size_t k_slots = 32;

  explicit inbox(MPI_Comm comm) : m_comm(comm), m_slots(std::make_unique<slots>()) {
    for (std::size_t i = 0; i < k_slots; ++i)
      post(i);
  }
  inbox(inbox &&) noexcept = default;
  inbox &operator=(inbox &&) noexcept = default;

  /// Calls `take(from, header, payload)` for the oldest packet, if one has come. Returns whether one has.
  template <class Take>
  bool next(Take &&take) {
    int has_come = 0;
    MPI_Status status;
    if (PMPI_Test(&m_slots->requests[m_next], &has_come, &status) == MPI_SUCCESS && !has_come)
      return false;
    int bytes = 0;
    const packet_bytes &here = m_slots->packets[m_next];
    if (PMPI_Get_count(&status, MPI_BYTE, &bytes) == MPI_SUCCESS &&
        static_cast<std::size_t>(bytes) >= sizeof(header))
      take(status.MPI_SOURCE, here.head,
           std::span(here.payload, static_cast<std::size_t>(bytes) - sizeof(header)));
    post(m_next);
    m_next = (m_next + 1) % k_slots;
    return true;
  }

  /// Takes the receives back from MPI.
  void cancel() noexcept {
    bool all_are_over = true;
    for (MPI_Request &request : m_slots->requests) {
      PMPI_Cancel(&request);
      int is_over = 0;
      for (int i = 0; i != k_looks && !is_over; ++i)
        PMPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
      if (!is_over)
        PMPI_Request_free(&request);
      all_are_over = all_are_over && is_over;
    }
    if (!all_are_over)
      static_cast<void>(m_slots.release()); // a packet is coming at this moment
  }

 private:
  static constexpr int k_looks = 1000;
  struct slots {
    MPI_Request requests[k_slots];
    packet_bytes packets[k_slots];
  };
  void post(std::size_t slot) {
    PMPI_Irecv(&m_slots->packets[slot], static_cast<int>(sizeof(packet_bytes)), MPI_BYTE,
               MPI_ANY_SOURCE, k_packet_tag, m_comm, &m_slots->requests[slot]);
  }

  MPI_Comm m_comm;
  std::unique_ptr<slots> m_slots;
  std::size_t m_next = 0;
};

} // namespace weft_net_mpi
