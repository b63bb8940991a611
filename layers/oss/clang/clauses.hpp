// SPDX-License-Identifier: Apache-2.0
// The clauses of one pragma, parsed and checked against the table.
#pragma once

#include "table.hpp"
#include "tokens.hpp"

#include <optional>

namespace weft_oss {

/// A bracket of an item behind which the item is an array section.
struct dimension {
  enum class form : std::uint8_t { index, span, range } how = form::index;
  tokens first;  ///< the index; without tokens: from the beginning
  tokens second; ///< the number of a span, the last of a range; without tokens: to the end
};

/// iterator: `i=0;n`, `i=a:b:step`, `i={1,2}`.
struct iterator {
  clang::Token name;
  enum class form : std::uint8_t { span, range, list } how = form::span;
  tokens first;
  tokens second;
  tokens step;
};

/// One item of a dependence.
struct item {
  clang::SourceLocation where;
  clause_id mode = clause_id::in; ///< in ... weakcommutative, reduction, weakreduction
  std::string operation;          ///< of a reduction: plus, and, a declared name
  std::string spelled;            ///< that as the user has written it
  tokens shape_free;              ///< the item up to its first section, without its shape
  std::vector<tokens> shape;      ///< [n][m] in front of a pointer
  std::vector<dimension> sections;
  std::vector<iterator> iterators; ///< of a multi-dependence
  std::optional<clang::Token> base; ///< the variable whose storage it names, if there is one
  bool plain = false;               ///< nothing but that variable
};

inline bool is_reduction(const item &it) { return !it.operation.empty(); }

struct variable {
  clang::Token name;
  clause_id sharing; ///< shared, private_ or firstprivate
};

enum class defaults : std::uint8_t { unspecified, shared, firstprivate, none };

/// declare reduction(name : types : combiner) initializer(start)
struct declaration {
  std::string name; ///< plus, and, an identifier
  std::vector<tokens> types;
  tokens combiner;
  tokens start; ///< without tokens: a value of the type
};

/// A pragma without its errors.
struct pragma {
  const directive_row *directive = nullptr;
  clang::SourceLocation where; ///< of the directive's name
  std::vector<item> items;
  std::vector<variable> variables;
  defaults by_default = defaults::unspecified;
  tokens expression[static_cast<unsigned>(clause_id::count_)]; ///< by clause
  clause_set present = 0;
  std::string name; ///< critical(name)
  declaration declared; ///< declare reduction
  unsigned loops = 1; ///< that are one: collapse(n)
  bool by_bytes = false; ///< assert("version.dependencies==regions")

  [[nodiscard]] bool has(clause_id id) const { return (present & bit(id)) != 0; }
  [[nodiscard]] const tokens &value(clause_id id) const {
    return expression[static_cast<unsigned>(id)];
  }
};

/// Returns whether a taskloop is one task whose chunks choose their sizes: no clause says anything of
/// the task of each chunk.
inline bool is_one_task(const pragma &parsed) {
  constexpr clause_set of_each = bit(clause_id::grainsize) | bit(clause_id::if_) |
                                 bit(clause_id::final) | bit(clause_id::wait) |
                                 bit(clause_id::onready);
  return parsed.directive->id == directive_id::taskloop && parsed.items.empty() &&
         (parsed.present & of_each) == 0;
}

/// @{ Parts of token lists: what lies between separators that are in no bracket, a piece, the name of an
/// identifier or keyword.
std::vector<tokens> split(const tokens &all, clang::tok::TokenKind at);
tokens slice(const tokens &all, std::size_t from, std::size_t to);
std::string_view word(const clang::Token &token);
std::string quoted(std::string_view name);
/// @}
/// Returns what messages call a directive: '#pragma oss task'.
std::string pragma_name(const directive_row &which);

/// Parses the tokens behind `#pragma oss` or `#pragma omp`, as `which` says. Reports what is wrong, and returns nothing then.
std::optional<pragma> parse(clang::Preprocessor &pp, const tokens &line, clang::SourceLocation oss,
                            std::string_view which);

} // namespace weft_oss
