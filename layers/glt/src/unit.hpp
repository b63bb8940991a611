// SPDX-License-Identifier: Apache-2.0
// Bodies: unit.cpp, session.cpp
// Work units: ULTs and tasklets. Each is an independent function of Weft. A thread of the program
// has a unit, too, once it has asked for its handle.
//
// Which caller gives a unit back is decided by its words (unit_words.hpp). kind: none while the unit is not in
// use; constant meanwhile. The end of the task orders what the unit has done before the claimer's work.
#pragma once

#include "handle_table.hpp"
#include "key_values.hpp"
#include "unit_words.hpp"

#include <weft/detail/core.hpp>
#include <weft/worker_set.hpp>

#include <atomic>

namespace weft_glt {

enum class unit_kind : unsigned char {
  none,
  ult,
  tasklet,
  thread,
  of_parent_process ///< was there before fork(); no thread of this process runs it
};

/// What unit_words needs of a policy for lock-free components (weft_common/atomics.hpp).
struct real_atomics {
  template <class T>
  using atomic = std::atomic<T>;
};

struct unit {
  unit_words<weft::detail::task, real_atomics> words;
  void (*f)(void *) = nullptr;
  void *arg = nullptr;
  handle number = 0;
  std::atomic<unit_kind> kind{unit_kind::none};
  bool has_handle = false;
  bool has_ended = false; // its function has; the unit itself writes and reads it
  std::atomic<bool> cancelled{false}; // a hint that the unit looks at
  key_values values;
};

/// Returns the unit that calls, or null: a thread of the program, or a task that GLT did not make.
[[nodiscard]] unit *this_unit() noexcept;

/// Returns the workers that may run a ULT created for a GLT thread, or for any one. Body: session.cpp.
[[nodiscard]] weft::worker_set workers_for(int thread);

/// Waits until no unit is left, and gives all back. Throws weft::error.
void wait_for_all_units();

/// Notes, in the child of a fork(), that all units are the parent's.
void forget_units_in_child() noexcept;

} // namespace weft_glt
