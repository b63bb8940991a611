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

/// Returns whether a name is that of a global or static variable that may change. By the name alone: a local variable
/// may hide it, and is copied likewise, but for a constant.
bool names_global_variable(const clang::Token &token);

/// Returns whether a name is that of a global or static pointer, in the same way.
bool names_global_pointer(const clang::Token &token);

/// Notes, while it lives, the variables that a task uses itself, for the tasks in its statement. Only GCC needs that.
class enclosing_task {
 public:
  explicit enclosing_task(const pragma &of); ///< of the task's clauses
  enclosing_task(const enclosing_task &) = delete;
  enclosing_task &operator=(const enclosing_task &) = delete;
  ~enclosing_task() { leave(); }
  /// Ends it before.
  void leave();

 private:
  bool m_inside = true;
};

/// Returns whether only the children touch an item.
bool is_weak(const item &it);

/// Returns the names in an item, beside its base, that may be variables: in indices, extents, iterators.
tokens names_beside_base(const item &it);

/// Returns whether the file's dependences are ordered by bytes.
bool orders_items_by_bytes(const writer &code);

/// Notes the order that an `assert` demands. Returns whether items before it have another one.
bool orders_too_late(const pragma &parsed);

} // namespace weft_oss
