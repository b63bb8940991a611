// SPDX-License-Identifier: Apache-2.0
// The directives and clauses of OmpSs-2, and those of OmpSs-1: the one table that the plugin reads, and that docs/user/oss/oss_reference.md is
// printed from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft_oss {

/// What a clause has between its parentheses.
enum class takes : std::uint8_t {
  nothing,
  expression,
  items, // dependences: in(a[i], {b[k], k=0;n})
  variables, // shared(a, b)
  choice, // default(none)
  reduction, // reduction(+: a, [n]p)
  depend, // depend(weak, in: a)
  other // of a clause that is not compiled
};

/// What follows a directive.
enum class body : std::uint8_t { statement, loop, nothing };

/// Says whether the plugin compiles a row.
enum class state : std::uint8_t {
  compiled,
  ignored, // with a warning, because the program is right without it
  refused // with an error
};

enum class directive_id : std::uint8_t {
  task,
  taskwait,
  taskyield,
  critical,
  release,
  taskloop,
  task_for,
  taskloop_for,
  taskiter,
  atomic,
  declare_reduction,
  assertion,
  lint,
  target,
  other ///< one that is ignored or refused by its row alone
};

enum class clause_id : std::uint8_t {
  in,
  out,
  inout,
  concurrent,
  commutative,
  weakin,
  weakout,
  weakinout,
  weakconcurrent,
  weakcommutative,
  depend,
  on,
  shared,
  private_,
  firstprivate,
  default_,
  if_,
  final,
  priority,
  cost,
  label,
  wait,
  onready,
  reduction,
  weakreduction,
  grainsize,
  chunksize,
  collapse,
  unroll,
  update,
  read,
  write,
  atomic_update, // the form of `atomic`; `update` is taskiter's
  capture,
  compare,
  seq_cst,
  acq_rel,
  acquire,
  release,
  relaxed,
  verified,
  device,
  ndrange,
  grid,
  shmem,
  node,
  untied, // from here on of OmpSs-1
  mergeable,
  noflush,
  tied,
  input,
  output,
  count_
};

struct clause_row {
  clause_id id;
  std::string_view name;
  takes argument;
  bool repeats; ///< whether one directive may have several
  state how;
  std::string_view says; ///< for the reference page; of a refused or ignored one, why
};

using clause_set = std::uint64_t;
constexpr clause_set bit(clause_id id) { return clause_set{1} << static_cast<unsigned>(id); }

struct directive_row {
  directive_id id;
  std::string_view name; ///< one or two words
  body behind;
  state how;
  clause_set clauses; ///< that it may have
  std::string_view says;
  std::string_view pragma = "oss"; ///< or "omp", of OmpSs-1
};

/// Returns the row of a directive of `#pragma oss` or `#pragma omp`, or null.
const directive_row *find_directive(std::string_view name, std::string_view pragma = "oss");
/// Returns the row of a name; of several, one of `preferred` if there is one.
const clause_row *find_clause(std::string_view name, clause_set preferred = ~clause_set{0});
const clause_row &row(clause_id id);

/// Returns the name of the table that `wrong` is a misspelling of, or nothing.
std::string_view nearest_directive(std::string_view wrong, std::string_view pragma);
std::string_view nearest_clause(std::string_view wrong, clause_set among);

/// Returns the table as the page docs/user/oss/oss_reference.md.
std::string reference_page();

} // namespace weft_oss
