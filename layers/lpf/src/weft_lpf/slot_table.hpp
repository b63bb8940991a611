// SPDX-License-Identifier: Apache-2.0
// The registered memory of a context, by slot.
#pragma once

#include <weft/net/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft_lpf {

/// Says by which processes a slot is named. It is in the low bits of the slot.
enum class slot_kind : std::uint8_t {
  local,  ///< by its own
  global, ///< by all: each has one of the same number
  lone,   ///< by its owner, and by those that the owner has sent it to (lpf/noc.h)
};

struct registration {
  std::byte *begin = nullptr;
  std::size_t bytes = 0;
  std::size_t stands_for = 0; ///< of a lone slot: that of another process; 0: none
  std::size_t half =
      0; // of a double buffer, which the context has allocated: its size; 0: it is none
  bool is_fresh = false; // it is the engine's memory
  bool is_used = false;
  std::uint64_t sent = 0, received = 0; ///< puts that lpf_sync has ended: from the memory, and to it
  bool has_key = false; ///< the transport knows the memory
  bool is_shown = false; ///< other processes may read it until the lpf_sync() that is under way ends
  weft::net::memory_key key;
};

/// Returns the number of the process that a lone slot belongs to.
[[nodiscard]] constexpr unsigned owner_of(std::size_t slot) noexcept {
  return static_cast<unsigned>(slot >> 2) & 0xffffffU;
}
[[nodiscard]] constexpr bool is_lone(std::size_t slot) noexcept {
  return (slot & 3) == static_cast<std::size_t>(slot_kind::lone);
}

/// Holds the registrations of one process. Slots of a kind are given out in an order that depends on the
/// earlier calls for this kind alone, so that global ones are the same at all processes.
class slot_table {
 public:
  explicit slot_table(unsigned pid) noexcept : m_pid(pid) {}

  /// Makes room for `count` slots of each kind. Errors. std::bad_alloc, std::length_error.
  void reserve(std::size_t count);
  /// Errors. std::bad_alloc.
  std::size_t add(slot_kind kind, void *begin, std::size_t bytes);
  /// Returns the registration; null if the slot is none of this process.
  [[nodiscard]] registration *find(std::size_t slot) noexcept;
  /// Frees a slot that find() finds.
  void remove(std::size_t slot) noexcept;
  /// Calls `f(registration &)` for all that are in use.
  template <class F>
  void each(F f) {
    for (column &c : m_columns)
      for (registration &r : c.all)
        if (r.is_used)
          f(r);
  }

 private:
  struct column {
    std::vector<registration> all;
    std::vector<std::uint32_t> free; // as much room as `all`, so that remove() needs none
  };
  unsigned m_pid;
  column m_columns[3];
};

} // namespace weft_lpf
