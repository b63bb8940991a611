// SPDX-License-Identifier: Apache-2.0
// Task types: what the label says or, without one, the name of the closure's type. Numbers for records; names for who reads them.
//
// Roles       Any worker looks up and adds. Readers of names come later, of other processes too.
// Word        key: hash of the name, or the address of the closure's; 0 while the entry is free. ready: the name is whole.
// Invariants  I1  An entry's key is set once, by who then writes the name.
// Orders      O1  key, acq_rel on success: nothing but the key is read by who loses. O2  ready, release, with readers' acquire.
// Progress    Lock-free; no memory is taken. When the table is full, further types are 0, "other".
// Reclamation With the process; the file goes with an orderly end.
// Source      own. Checked by  tests/unit/trace/ring_test.cpp
#pragma once

#include "trace/record.hpp"

#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// The table of a trace: zero, and as long as the process.
void use_type_table(trace_type *table) noexcept;
/// `text` of a label, to be compared, or of a closure, whose address is enough.
[[nodiscard]] std::uint16_t add_type(std::string_view text, bool is_closure) noexcept;
[[nodiscard]] const trace_type *type_table() noexcept;
/// How many there are.
[[nodiscard]] unsigned known_types() noexcept;

/// An owner's memory of types that it has met.
class type_cache {
public:
  [[nodiscard]] std::uint16_t find(const char *label, std::string_view closure) noexcept;

private:
  static constexpr std::size_t k_places = 64;
  struct place {
    const char *address = nullptr;
    std::uint16_t type = 0;
  };
  place m_places[k_places];
};

} // namespace rt
} // namespace weft::inline v0
