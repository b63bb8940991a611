// SPDX-License-Identifier: Apache-2.0
// The table of task types: a type's name is the task's label or, without one, the name of the
// closure's type. Records hold numbers of types; readers of traces look up the names.
//
// Roles       A worker, any: looks up and adds. A reader of names comes later, also from another
//             process.
// Word        key: hash of the name, or the address of the closure's; 0 while the entry is free. ready: the name is whole.
// Invariants  I1  An entry's key is set once, by the worker that then writes the name.
// Orders      O1  key, acq_rel on success: a worker that loses the race reads nothing but the key.
//             O2  ready, release, with readers' acquire: the name is whole.
// Progress    Lock-free; takes no memory. When the table is full, further types are 0, "other".
// Reclamation With the process; an orderly end removes the file.
// Source      own. Checked by  tests/unit/trace/ring_test.cpp
#pragma once

#include "trace/record.hpp"

#include <weft/config.hpp>

#include <cstddef>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Sets the table of the trace: it is zero, and lives as long as the process.
void use_type_table(trace_type *table) noexcept;
/// Returns the number of a type, and adds it if it is new.
[[nodiscard]] std::uint16_t add_type(std::string_view text, named_by what) noexcept;
[[nodiscard]] const trace_type *type_table() noexcept;
/// Returns the address of the function that such a type has been added for.
[[nodiscard]] const void *coroutine_of(const trace_type &type) noexcept;
/// Returns how many types there are.
[[nodiscard]] unsigned known_types() noexcept;

/// Caches the types that an owner has met.
class type_cache {
 public:
  /// Returns the number of a type. `signature`: that of the closure, as the compiler writes it
  /// (base/closure_name.hpp), if there is no label; null if the task has no closure either.
  [[nodiscard]] std::uint16_t find(const char *label, const char *signature) noexcept {
    if (!label) [[likely]]
      if (const slot &p = slot_of(signature); p.address == signature && p.type != 0) [[likely]]
        return p.type;
    return find_slow(label, signature);
  }
  /// Returns the number of the function of a coroutine; `resume` is what resumes it.
  [[nodiscard]] std::uint16_t find_coroutine(const void *resume) noexcept {
    const auto *const address = static_cast<const char *>(resume);
    if (const slot &p = slot_of(address); p.address == address && p.type != 0) [[likely]]
      return p.type;
    return find_coroutine_slow(address);
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
  WEFT_NOINLINE std::uint16_t find_coroutine_slow(const char *address) noexcept;
  slot m_slots[k_slots];
};

} // namespace rt
} // namespace weft::inline v0
