// SPDX-License-Identifier: Apache-2.0
// Work units over another library: ULTs and tasklets, and the program's thread, which has called
// glt_init(). A tasklet is a ULT.
//
// Roles       Creator: makes the unit. Claimer: the one caller that may give the unit back: a joiner,
//             a freer, the finalizer, or, without a handle, the unit itself.
// Invariants  I1  The unit is given back once, by its claimer, when its function has ended.
// Orders      O1  g_running, release and acquire, with each other: the finalizer sees what ended
//                 units did.
//             O2  claimed: acquire and release, with each other: a claimer sees what the one before
//                 it has done to the unit. The end of the library's thread orders the rest.
//             O3  started, store release, load acquire: a joiner sees the work that was made.
// Checked by  layers/glt/tests/over_test.c
#pragma once

#include "../handle_table.hpp"
#include "../key_values.hpp"
#include "library.hpp"

#include <atomic>

namespace weft_glt {

enum class unit_kind : unsigned char { none, ult, tasklet, thread };

struct unit {
  library::work work{};
  void (*f)(void *) = nullptr;
  void *arg = nullptr;
  handle number = 0;
  std::atomic<unit_kind> kind{unit_kind::none};
  bool has_handle = false;
  bool has_ended = false; // its function has; the unit itself writes and reads it
  std::atomic<bool> claimed{false};
  std::atomic<bool> cancelled{false}; // a hint that the unit looks at
  std::atomic<bool> started{false}; // its work is complete
  key_values values;
};

/// Returns the unit that calls, or null: a thread that the library does not know.
[[nodiscard]] unit *this_unit() noexcept;
/// Makes the unit of the program's thread, and ends it.
void begin_unit_of_program();
void end_unit_of_program();
/// Waits until no unit is left, and gives all back.
void wait_for_all_units();

} // namespace weft_glt
