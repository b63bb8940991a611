// SPDX-License-Identifier: Apache-2.0
// The types of a worker's timed tasks, and how long these ran. Part of the worker's block; the
// owner writes it at timed tasks only.
//
// Roles       The owner, one: find_type, then counts in the entry. A reader, in any process: loads.
// Word        ready: the name is whole. tasks, timed, ns: counts, like all of a block.
// Invariants  I1  Entries are taken in order and never given back; the last counts all types that
//                 find no room.
// Orders      O1  ready, release, with readers' acquire: the name is written. All else is relaxed.
// Progress    Wait-free. Reclamation  with the segment. Source  own.
// Checked by  tests/unit/observe/type_times_test.cpp, and by readers in other processes in tests/unit/tool/counters_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

inline constexpr unsigned k_type_times = 64;

struct type_time {
  std::uint64_t ready = 0;
  std::uint64_t address = 0; // of the label or the closure's name that was met last
  std::uint64_t tasks = 0; // the tasks that the samples stand for
  std::uint64_t timed =
      0; // of them, those of known duration: they ran from begin to end without another task
  std::uint64_t ns = 0; // the sum of these durations
  char name[88]{};
};
static_assert(sizeof(type_time) == 128);

struct type_times {
  std::uint8_t hints[k_type_times]{}; // by address: the entry that the address had last, plus one
  type_time entries[k_type_times];
};

/// Names a task: by its label or, without one, by the compiler's name of its closure ("... [with F
/// = main()::<lambda()>]").
struct task_name {
  const char *label = nullptr, *closure = nullptr;
};

/// Returns the entry of a type; takes one for a new type. Called by the owner.
[[nodiscard]] type_time &find_type(type_times &all, const task_name &name) noexcept;

} // namespace rt
} // namespace weft::inline v0
