// SPDX-License-Identifier: Apache-2.0
// How another process of the same user changes a knob (`weft set`): it posts a request in the
// segment of counters, and the watcher answers. The kernel sees to it that only this user, or root,
// can write there: the segment's file has mode 0600.
//
// Roles       An asker: a process that has the segment's file open to write, and holds flock() on it
//             while it asks; so askers come one after the other. The program: its watcher answers.
// Words       settings_mailbox in the segment: see below.
// Invariants  I1  The asker writes `request` only while asked == answered; if the one that asked before
//                 it has gone without an answer, it takes that request back first. The program writes
//                 `reply` only while asked != answered.
//             I2  The program trusts nothing that it reads: it copies the request first, and takes no
//                 more than the array's length.
// Orders      O1  asked, release, with the program's acquire: the request is there.
//             O2  answered, release, with the asker's acquire: the reply is there.
//             O3  an asker that takes a request back changes asked before the text, with fences; the
//                 program copies the text, then looks at asked again: a copy of two texts is dropped.
// Progress    The asker wakes the watcher, which rests on the low half of `asked` (bell_of_mailbox).
//             Where the kernel cannot wait for two words, the watcher looks once a second.
// Reclamation None: part of the segment.
// Checked by  tests/unit/tool/set_test.cpp; tests/unit/tune/mailbox_test.cpp
#pragma once

#include "atomic/hooks.hpp"
#include "observe/layout.hpp"

#include <cstdint>
#include <string>

namespace weft::inline v0 {
namespace rt {

/// Says in the segment that this process answers. The watcher runs.
void open_mailbox() noexcept;
/// Answers a request, if there is one. One thread at a time: the watcher.
void answer_mailbox() noexcept;
/// Returns the word that an asker changes, and wakes the sleepers of.
[[nodiscard]] shared_word bell_of_mailbox() noexcept;

/// Returns what the request asks for, as the reply's text; sets `status` to 0, or to a number of
/// weft::errc. A request is "set NAME=VALUE", "list", or "list N", which leaves out the first N knobs. A list
/// that has no room for all ends with a line of an empty name and the N that asks for the others.
[[nodiscard]] std::string answer_to(const std::string &request, std::uint32_t &status);

// ---- of the asker

struct mailbox_answer {
  std::uint32_t status = 0; ///< 0, or a number of weft::errc
  std::string text;
};
/// Asks a program and waits for the answer. Throws weft::error that says why there is none.
[[nodiscard]] mailbox_answer ask_program(long pid, const std::string &request);

} // namespace rt
} // namespace weft::inline v0
