// SPDX-License-Identifier: Apache-2.0
// What replaces a pragma in C++: calls of <weft/oss.hpp>, and a lambda for the statement of a task.
#pragma once

#include "atomic.hpp"
#include "clauses.hpp"
#include "functions.hpp"
#include "loops.hpp"

namespace weft_oss {

/// Writes the code of a pragma; `statement` is what follows it, if the directive has one. `loops` and
/// `atomic` are what it was taken apart into, if the directive asks for that.
void write_cxx(writer &code, const pragma &parsed, const tokens &statement, const loop_nest *loops,
               const atomic_statement *atomic);

/// Writes a function each of whose calls is a task: the function as it is, and beside it one of the
/// same name that overload resolution prefers, which spawns a task that calls the first.
void write_function(writer &code, const pragma &parsed, const function_head &head,
                    const tokens &declaration);

} // namespace weft_oss
