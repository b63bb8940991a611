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

#include <weft/config.hpp>

#include <cstddef>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// The table of a trace: zero, and as long as the process.
void use_type_table(trace_type *table) noexcept;
/// `text` of a label, to be compared, or of a closure, whose address is enough.
[[nodiscard]] std::uint16_t add_type(std::string_view text, bool is_closure) noexcept;
[[nodiscard]] const trace_type *type_table() noexcept;
/// A type is met for the first time, by the thread that creates or begins its task. Supplied by the module task, which keeps the spawn site.
void note_type_spawn_site(std::size_t type) noexcept;
/// How many there are.
[[nodiscard]] unsigned known_types() noexcept;

/// An owner's memory of types that it has met.
class type_cache {
 public:
  /// `signature`: of the closure, as the compiler writes it (base/closure_name.hpp), where there is no label; null: of nothing that has one.
  [[nodiscard]] std::uint16_t find(const char *label, const char *signature) noexcept {
    if (!label) [[likely]]
      if (const slot &p = slot_of(signature); p.address == signature && p.type != 0) [[likely]]
        return p.type;
    return find_slow(label, signature);
  }

 private:
  static constexpr std::size_t k_slots = 64;
  struct slot {
    const char *address = nullptr;
    std::uint16_t type = 0;
  };
  slot &slot_of(const char *address) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(address);
    return m_slots[(bits ^ bits >> 6) % k_slots];
  }
  WEFT_NOINLINE std::uint16_t find_slow(const char *label, const char *signature) noexcept;
  slot m_slots[k_slots];
};

} // namespace rt
} // namespace weft::inline v0
