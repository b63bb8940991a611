// SPDX-License-Identifier: Apache-2.0
// The tasks around a pragma, and what they use themselves.
#pragma once

#include "clauses.hpp"

#include <functional>

namespace weft_oss {

/// Notes, while it lives, the variables that a task uses itself, for the tasks in its statement. Only GCC needs these.
class enclosing_task {
 public:
  enclosing_task(const pragma &of, const statement_reader &reader); ///< of the task's clauses; the reader reads its statement
  enclosing_task(const enclosing_task &) = delete;
  enclosing_task &operator=(const enclosing_task &) = delete;
  ~enclosing_task() { leave(); }
  /// Ends it before.
  void leave();

 private:
  bool m_inside = true;
};

/// Returns whether a statement is being read: the parser has not seen what it declares.
bool is_in_task();

/// GCC captures constants, too: inside of a task that uses a global variable itself, it would copy the variable. No parser
/// tells that from a local one, which is to be copied, so the task must say what it means: refuses each name of its statement
/// that is not `named`.
void refuse_shared_outside(writer &code, const tokens &statement,
                           const std::function<bool(const clang::Token &)> &named);

} // namespace weft_oss
