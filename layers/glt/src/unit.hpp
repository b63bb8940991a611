// SPDX-License-Identifier: Apache-2.0
// Bodies: unit.cpp, session.cpp
// Work units: ULTs and tasklets. Each is an independent function of Weft. A thread of the program
// has a unit, too, once it has asked for its handle.
//
// Roles       Creator: makes the unit and its task. Claimer: the one caller that may give the unit
//             back: a joiner, a freer, the finalizer, or, without a handle, the unit itself.
// Word        task: null from give_back until the task of the next use is made. kind: none in
//             between; afterwards constant. unclaimed: the number of the use that has no claimer
//             yet; 0: there is a claimer, or the unit is a thread's.
// Invariants  I1  The unit is given back once, by its claimer, after the task's body has ended.
//             I2  The finalizer meets units of which it has no handle. It reads the words alone
//                 until it is the claimer of the use that it has met; from then on the unit is not
//                 reused.
// Orders      O1  task store release, load acquire: a reader of the task sees the unit that it is for.
//             O2  unclaimed: acquire and release, with each other: a claimer sees what the one
//                 before it has done to the unit. The end of the task orders the rest.
// Checked by  layers/glt/tests/core_test.c, many_test.c
#pragma once

#include "handle_table.hpp"
#include "key_values.hpp"

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

struct unit {
  std::atomic<weft::detail::task *> task{nullptr};
  void (*f)(void *) = nullptr;
  void *arg = nullptr;
  handle number = 0;
  std::atomic<unit_kind> kind{unit_kind::none};
  bool has_handle = false;
  bool has_ended = false; // its function has; the unit itself writes and reads it
  std::atomic<handle> unclaimed{0};
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
