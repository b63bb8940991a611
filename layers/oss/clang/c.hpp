// SPDX-License-Identifier: Apache-2.0
// What replaces a pragma in C: calls of <weft/oss.h>, and a captured statement for the statement of a task.
#pragma once

#include "atomic.hpp"
#include "clauses.hpp"
#include "functions.hpp"
#include "loops.hpp"

#include <clang/AST/ASTConsumer.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace clang {
class Sema;
}

namespace weft_oss {

/// How a task has a variable that its statement uses.
struct sharing_rule {
  enum class as : std::uint8_t {
    reference, ///< the variable itself
    copy,
    own, ///< a new one
    by_type ///< a copy of a pointer, anything else itself
  } how = as::copy;
  clang::SourceLocation
      item; ///< of a parameter of a task function: the item whose data it must point to
  bool is_item = false; ///< the item is the parameter itself
  int reduction = -1; ///< the item of a reduction that begins with it: the task has a copy of that
  bool is_stand_in = false; ///< a local variable of the name that a global one has
};

/// An item of a reduction.
struct reduced_item {
  std::string operation; ///< plus, and, a declared name
  std::string spelled; ///< that as the user has written it
  std::string base; ///< the name that the item begins with
  clang::SourceLocation where;
  bool is_entered = false; ///< the task finds its copy by that name
};

/// What a `declare reduction` says for one type.
struct declared_reduction {
  std::string operation;
  std::string text; ///< the combiner and the initializer
  clang::SourceLocation where;
};

/// What is known of a task's variables before their types are.
struct sharing_rules {
  std::map<std::string, sharing_rule, std::less<>> named;
  defaults by_default = defaults::unspecified;
  std::string pragma;
  std::vector<reduced_item> reduced;
};

/// Writes the code of a pragma; as write_cxx().
void write_c(writer &code, const pragma &parsed, const tokens &statement, const loop_nest *loops,
             const atomic_statement *atomic);
/// Writes a statement of `atomic`.
void write_c_atomic(writer &code, const pragma &parsed, const atomic_statement &found);
/// Writes a function each of whose calls is a task: the function as it is, and beside it one that spawns a task which
/// calls the first. The consumer leads what names the first to the second.
void write_c_function(writer &code, const pragma &parsed, const function_head &head,
                      const tokens &declaration);
/// Returns a number that no other pragma of the file has.
unsigned next_number();
/// Reports what C cannot have; returns whether there was something.
bool refuse_in_c(clang::Preprocessor &pp, const pragma &parsed);

/// Returns the reduction that `weft_oss_start_<number>` and `weft_oss_combine_<number>` belong to, or null.
const declared_reduction *reduction_declared_by(unsigned number);

/// Returns the rules of a task's variables, or null: by the number that its code has.
const sharing_rules *rules_of(unsigned number);

/// Returns the name of the function whose calls become those of `weft_oss_spawn_<number>`, or null.
const std::string *task_function(unsigned number);

/// Begins a file that is parsed: the parser is there. None is where a file is only preprocessed.
void begin_parsing(clang::Sema &sema);
/// Ends it.
void end_parsing();

/// Returns a consumer that calls these, and in C decides by type how each captured variable is kept.
std::unique_ptr<clang::ASTConsumer> make_capture_consumer();

} // namespace weft_oss
