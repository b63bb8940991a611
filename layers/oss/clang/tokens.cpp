// SPDX-License-Identifier: Apache-2.0
#include "tokens.hpp"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

namespace weft_oss {

using namespace clang;

namespace {
void report(Preprocessor &pp, SourceLocation where, DiagnosticsEngine::Level level,
            const std::string &text) {
  DiagnosticsEngine &engine = pp.getDiagnostics();
  engine.Report(where, level == DiagnosticsEngine::Error
                           ? engine.getCustomDiagID(DiagnosticsEngine::Error, "%0")
                       : level == DiagnosticsEngine::Warning
                           ? engine.getCustomDiagID(DiagnosticsEngine::Warning, "%0")
                           : engine.getCustomDiagID(DiagnosticsEngine::Note, "%0"))
      << text;
}
} // namespace

void report_error(Preprocessor &pp, SourceLocation where, const std::string &text) {
  report(pp, where, DiagnosticsEngine::Error, text);
}
void report_warning(Preprocessor &pp, SourceLocation where, const std::string &text) {
  report(pp, where, DiagnosticsEngine::Warning, text);
}
void report_note(Preprocessor &pp, SourceLocation where, const std::string &text) {
  report(pp, where, DiagnosticsEngine::Note, text);
}

std::string spelling(Preprocessor &pp, const Token &token) {
  if (token.isAnnotation() || token.isOneOf(tok::eod, tok::eof))
    return {};
  return pp.getSpelling(token);
}

std::string file_and_line(const SourceManager &sources, SourceLocation where) {
  const PresumedLoc place = sources.getPresumedLoc(where);
  return place.isInvalid() ? "" : place.getFilename() + (":" + std::to_string(place.getLine()));
}

std::size_t closing(const tokens &all, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < all.size(); ++i) {
    if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace))
      ++depth;
    else if (all[i].isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0)
      return i;
  }
  return all.size();
}

bool is_kept_pragma(const Token &token) { return token.is(tok::unknown); }

std::size_t behind_prefix(const tokens &all, std::size_t begin) {
  const auto is = [&](std::size_t i, tok::TokenKind kind) { return i < all.size() && all[i].is(kind); };
  for (std::size_t i = begin;;) {
    if (is(i, tok::annot_pragma_openmp)) {
      while (i < all.size() && all[i].isNot(tok::annot_pragma_openmp_end))
        ++i;
      ++i;
    } else if (i < all.size() && all[i].isAnnotation() && all[i].isNot(tok::annot_pragma_captured)) {
      ++i;
    } else if (is(i, tok::kw___attribute) || (is(i, tok::l_square) && is(i + 1, tok::l_square))) {
      i = closing(all, is(i, tok::l_square) ? i : i + 1) + 1;
    } else if (is(i, tok::identifier) && is(i + 1, tok::colon)) {
      i += 2;
    } else if (i < all.size() && is_kept_pragma(all[i])) {
      ++i;
    } else {
      return std::min(i, all.size());
    }
  }
}

std::size_t in_front_of_attributes(const tokens &all) {
  std::size_t end = all.size();
  while (end > 3 && all[end - 1].is(tok::r_square) && all[end - 2].is(tok::r_square)) {
    std::size_t open = end - 1;
    for (int depth = 0; open > 0; --open) {
      depth += all[open].isOneOf(tok::r_paren, tok::r_square, tok::r_brace) ? 1 : 0;
      depth -= all[open].isOneOf(tok::l_paren, tok::l_square, tok::l_brace) ? 1 : 0;
      if (depth == 0)
        break;
    }
    if (open == 0 || all[open + 1].isNot(tok::l_square))
      break;
    end = open;
  }
  return end;
}

int precedence(const Token &token) {
  switch (token.getKind()) {
  case tok::star:
  case tok::slash:
  case tok::percent:
    return 12;
  case tok::plus:
  case tok::minus:
    return k_adds;
  case tok::lessless:
  case tok::greatergreater:
    return 10;
  case tok::spaceship:
  case tok::less:
  case tok::greater:
  case tok::lessequal:
  case tok::greaterequal:
    return k_compares;
  case tok::equalequal:
  case tok::exclaimequal:
    return 8;
  case tok::amp:
    return 7;
  case tok::caret:
    return 6;
  case tok::pipe:
    return 5;
  case tok::ampamp:
  case tok::pipepipe:
    return 4;
  case tok::question:
  case tok::colon:
    return 3;
  case tok::equal:
  case tok::plusequal:
  case tok::minusequal:
  case tok::starequal:
  case tok::slashequal:
  case tok::percentequal:
  case tok::ampequal:
  case tok::pipeequal:
  case tok::caretequal:
  case tok::lesslessequal:
  case tok::greatergreaterequal:
    return k_assigns;
  case tok::comma:
    return k_comma;
  default:
    return 0;
  }
}

/// Returns the index of the `>` that ends the arguments of a template, or the size if they are none: behind them there is
/// a bracket, a `::`, or nothing.
static std::size_t closing_angle(const tokens &all, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < all.size(); ++i) {
    if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      i = closing(all, i);
    } else if (all[i].is(tok::less)) {
      ++depth;
    } else if (all[i].isOneOf(tok::greater, tok::greatergreater)) {
      depth -= all[i].is(tok::greater) ? 1 : 2;
      if (depth <= 0)
        return i + 1 == all.size() || all[i + 1].isOneOf(tok::l_paren, tok::l_brace, tok::coloncolon)
                   ? i
                   : all.size();
    }
  }
  return all.size();
}

int loosest(const tokens &all) {
  int least = k_operand;
  bool operand = false; // whether an operand is before
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      i = closing(all, i);
      operand = true;
      continue;
    }
    if (all[i].is(tok::less) && i > 0 &&
        all[i - 1].isOneOf(tok::identifier, tok::kw_static_cast, tok::kw_const_cast,
                           tok::kw_reinterpret_cast, tok::kw_dynamic_cast)) {
      const std::size_t close = closing_angle(all, i);
      if (close < all.size()) {
        i = close;
        continue;
      }
    }
    const int binds = precedence(all[i]);
    if (binds != 0 && operand)
      least = std::min(least, binds);
    operand = binds == 0 &&
              !all[i].isOneOf(tok::exclaim, tok::tilde, tok::coloncolon, tok::period, tok::arrow);
  }
  return least;
}

/// Returns whether the file that is being read has no token left. Directives do not count.
bool statement_reader::file_ends() const {
  auto *const lexer = static_cast<Lexer *>(pp.getCurrentLexer());
  if (!lexer || lexer->isPragmaLexer()) // a macro, or _Pragma: the file goes on behind it
    return false;
  const llvm::StringRef file = pp.getSourceManager().getBufferData(lexer->getFileID());
  Lexer raw(SourceLocation(), pp.getLangOpts(), file.begin(), lexer->getBufferLocation(),
            file.end());
  for (Token t;;) {
    raw.LexFromRawLexer(t);
    while (t.is(tok::hash) && t.isAtStartOfLine()) {
      raw.LexFromRawLexer(t);
      if (t.is(tok::raw_identifier) &&
          (t.getRawIdentifier() == "include" || t.getRawIdentifier() == "include_next"))
        return false;
      while (t.isNot(tok::eof) && !t.isAtStartOfLine())
        raw.LexFromRawLexer(t);
    }
    return t.is(tok::eof);
  }
}

const Token &statement_reader::peek() {
  if (m_have || m_end)
    return m_ahead;
  if (file_ends()) {
    m_end = true;
    m_ahead.startToken();
    m_ahead.setKind(tok::eof);
    return m_ahead;
  }
  pp.Lex(m_ahead);
  m_have = true;
  return m_ahead;
}

const Token &statement_reader::peek_beyond() {
  m_beyond = true; // a pragma there is another statement's
  const Token &next = peek();
  m_beyond = false;
  return next;
}

void statement_reader::take() {
  read.push_back(peek());
  m_have = false;
}

bool statement_reader::balanced() {
  m_brackets = 0;
  do {
    if (peek().is(tok::eof))
      return false;
    if (m_ahead.isOneOf(tok::l_paren, tok::l_square, tok::l_brace))
      ++m_brackets;
    else if (m_ahead.isOneOf(tok::r_paren, tok::r_square, tok::r_brace))
      --m_brackets;
    take();
  } while (m_brackets > 0);
  return true;
}

bool statement_reader::up_to_semicolon() {
  while (!peek().isOneOf(tok::eof, tok::r_brace)) {
    if (m_ahead.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      if (!balanced())
        return false;
      continue;
    }
    const bool last = m_ahead.is(tok::semi);
    take();
    if (last)
      return true;
  }
  return false;
}

bool statement_reader::up_to_colon() {
  for (int choices = 0; !peek().isOneOf(tok::eof, tok::semi, tok::r_brace);) {
    if (m_ahead.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      if (!balanced())
        return false;
      continue;
    }
    choices += m_ahead.is(tok::question) ? 1 : 0;
    const bool last = m_ahead.is(tok::colon) && choices-- == 0;
    take();
    if (last)
      return true;
  }
  return false;
}

bool statement_reader::openmp() {
  const std::size_t first = read.size();
  while (peek().isNot(tok::annot_pragma_openmp_end)) {
    if (m_ahead.is(tok::eof))
      return false;
    take();
  }
  take();
  static constexpr std::string_view k_alone[] = {"barrier", "cancel", "cancellation", "depobj", "error", "flush",
                                                 "interop", "nothing", "scan", "taskwait", "taskyield"};
  return std::ranges::find(k_alone, spelling(pp, read[first + 1])) != std::end(k_alone) || statement();
}

bool statement_reader::statement() {
  if (is_kept_pragma(peek()) || (m_ahead.isAnnotation() && !m_ahead.isOneOf(tok::annot_pragma_captured, tok::annot_pragma_openmp))) {
    take(); // a pragma of the compiler, which is about the statement behind it
    return statement();
  }
  switch (m_ahead.getKind()) {
  case tok::l_brace:
    return balanced();
  case tok::l_square: { // an attribute, or a lambda that is called
    const std::size_t first = read.size();
    if (!balanced())
      return false;
    return read[first + 1].is(tok::l_square) ? statement() : up_to_semicolon();
  }
  case tok::kw___attribute:
    take();
    return peek().is(tok::l_paren) && balanced() && statement();
  case tok::annot_pragma_openmp:
    return openmp();
  case tok::identifier:
    take();
    if (peek().isNot(tok::colon))
      return up_to_semicolon();
    take(); // a label
    return statement();
  case tok::kw_case:
  case tok::kw_default:
    return up_to_colon() && statement();
  case tok::kw_for:
  case tok::kw_while:
  case tok::kw_switch:
    take();
    return peek().is(tok::l_paren) && balanced() && statement();
  case tok::kw_if:
    take();
    while (!peek().isOneOf(tok::l_paren, tok::l_brace, tok::eof)) // if constexpr, if consteval
      take();
    if (m_ahead.is(tok::l_paren) && !balanced())
      return false;
    if (!statement())
      return false;
    if (peek_beyond().isNot(tok::kw_else))
      return true;
    take();
    return statement();
  case tok::kw_do:
    take();
    return statement() && peek().is(tok::kw_while) && up_to_semicolon();
  case tok::kw_try:
    take();
    if (peek().isNot(tok::l_brace) || !balanced())
      return false;
    while (peek_beyond().is(tok::kw_catch)) {
      take();
      if (!balanced() || peek().isNot(tok::l_brace) || !balanced())
        return false;
    }
    return true;
  default:
    return up_to_semicolon();
  }
}

bool is_type_word(const Token &token) { // after which a name may follow
  return token.isOneOf(tok::identifier, tok::greater, tok::greatergreater, tok::star, tok::amp,
                       tok::ampamp, tok::kw_void, tok::kw_int, tok::kw_char, tok::kw_bool,
                       tok::kw_float, tok::kw_double, tok::kw_long, tok::kw_short, tok::kw_signed,
                       tok::kw_unsigned, tok::kw_auto, tok::kw_const) ||
         token.isOneOf(tok::kw_volatile, tok::kw_wchar_t, tok::kw_char8_t, tok::kw_char16_t,
                       tok::kw_char32_t, tok::r_paren, tok::kw__Bool, tok::kw__Complex,
                       tok::kw___int128, tok::kw_restrict);
}

bool compares(const tokens &all, std::size_t begin, std::size_t i) {
  if (i == 0 || all[i - 1].isOneOf(tok::kw_template, tok::kw_static_cast, tok::kw_const_cast, tok::kw_reinterpret_cast, tok::kw_dynamic_cast))
    return false;
  if (all[i - 1].isNot(tok::identifier))
    return true;
  for (std::size_t k = begin + 1; k + 1 < i; ++k)
    if (all[k].is(tok::identifier) && all[k].getIdentifierInfo() == all[i - 1].getIdentifierInfo() && is_type_word(all[k - 1]) &&
        all[k + 1].isOneOf(tok::comma, tok::equal))
      return true;
  return false;
}

bool statement_reader::angles() {
  const std::size_t begin = read.size();
  int depth = 0;
  do {
    if (peek().isOneOf(tok::eof, tok::semi))
      return false;
    if (m_ahead.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      if (!balanced())
        return false;
      continue;
    }
    const bool opens = m_ahead.is(tok::less) && (depth == 0 || !compares(read, begin, read.size()));
    depth += opens ? 1 : m_ahead.is(tok::greater) ? -1 : m_ahead.is(tok::greatergreater) ? -2 : 0;
    take();
  } while (depth > 0);
  return true;
}

bool statement_reader::constraint() {
  do {
    take(); // the word, or the operator
    if (peek().is(tok::kw_requires)) {
      take();
      if ((peek().is(tok::l_paren) && !balanced()) || peek().isNot(tok::l_brace) || !balanced())
        return false;
    } else if (m_ahead.is(tok::l_paren)) {
      if (!balanced())
        return false;
    } else {
      bool name = false;
      while (peek().isOneOf(tok::identifier, tok::coloncolon, tok::less, tok::kw_true, tok::kw_false, tok::kw_template)) {
        const bool is_word = m_ahead.isOneOf(tok::identifier, tok::kw_true, tok::kw_false);
        if (is_word && name)
          break;
        name = is_word || (name && m_ahead.is(tok::less));
        if (m_ahead.isNot(tok::less))
          take();
        else if (!angles())
          return false;
      }
    }
  } while (peek().isOneOf(tok::ampamp, tok::pipepipe));
  return true;
}

bool statement_reader::begins_statement() {
  return peek().isAnnotation() || is_kept_pragma(m_ahead) || m_ahead.isOneOf(tok::kw_for, tok::kw_while, tok::kw_if, tok::kw_do,
                                                  tok::kw_switch, tok::kw_try);
}

bool statement_reader::statement_or_function(bool &is_function) {
  is_function = false;
  const Token &first = peek();
  if (!first.isOneOf(tok::identifier, tok::coloncolon, tok::tilde, tok::kw_template, tok::kw_static,
                     tok::kw_inline, tok::kw_extern, tok::kw_virtual, tok::kw_friend,
                     tok::kw_constexpr, tok::kw_void, tok::kw_int, tok::kw_char, tok::kw_bool,
                     tok::kw_float, tok::kw_double) &&
      !first.isOneOf(tok::kw_long, tok::kw_short, tok::kw_signed, tok::kw_unsigned, tok::kw_auto,
                     tok::kw_const, tok::kw_struct, tok::kw_class, tok::kw___attribute,
                     tok::l_square, tok::kw_explicit, tok::kw_operator, tok::kw__Bool) &&
      !first.isOneOf(tok::kw__Complex, tok::kw___int128, tok::kw_union, tok::kw_enum, tok::kw_volatile))
    return statement();
  const bool is_template = first.is(tok::kw_template), may_be_label = first.is(tok::identifier);
  std::size_t begin = read.size(); // of what is behind attributes and templates
  while (peek().is(tok::kw_template)) {
    take();
    m_in_template = true;
    if (!angles())
      return false;
    m_in_template = false;
    if (peek().is(tok::kw_requires) && !constraint())
      return false;
    begin = read.size();
  }
  if (may_be_label) {
    take();
    if (peek().is(tok::colon)) {
      take();
      return statement();
    }
  }
  while (!peek().isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::equal, tok::eof)) {
    if (m_ahead.is(tok::l_square)) {
      const std::size_t at = read.size();
      if (!balanced())
        return false;
      if (at == begin && read[at + 1].isNot(tok::l_square))
        return up_to_semicolon(); // a lambda that is called
      if (at == begin && begins_statement())
        return statement();
      if (at == begin)
        begin = read.size();
      continue;
    }
    if (m_ahead.is(tok::l_paren)) {
      const bool attribute = !read.empty() && read.back().is(tok::kw___attribute);
      const tokens before(read.begin() + static_cast<std::ptrdiff_t>(begin), read.end());
      tokens declarator = before;
      declarator.resize(in_front_of_attributes(before)); // void f [[...]] (int *p)
      const bool declares = !attribute && (is_template || declares_function(pp, declarator));
      if (!balanced())
        return false;
      if (attribute) {
        if (before.size() == 1 && begins_statement())
          return statement();
        begin = read.size();
        continue;
      }
      if (!declares)
        return up_to_semicolon();
      is_function = true;
      while (!peek().isOneOf(tok::semi, tok::l_brace, tok::eof)) {
        if (m_ahead.isOneOf(tok::l_paren, tok::l_square)) {
          if (!balanced())
            return false;
        } else if (m_ahead.is(tok::kw_requires)) {
          if (!constraint())
            return false;
        } else {
          take();
        }
      }
      return m_ahead.is(tok::l_brace) ? balanced() : up_to_semicolon();
    }
    take();
  }
  return up_to_semicolon();
}

writer &writer::operator<<(std::string_view text) {
  SourceManager &sources = pp.getSourceManager();
  // As a system header, so that warnings about the user's code are about the user's tokens.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text.data(), text.size()),
                                                     k_buffer);
  const llvm::MemoryBufferRef contents = buffer->getMemBufferRef();
  const FileID file = sources.createFileID(std::move(buffer), SrcMgr::C_System);
  // One expansion for all of the text, so that its tokens belong together.
  const SourceLocation start = sources.getLocForStartOfFile(file);
  const SourceLocation shown =
      sources.createExpansionLoc(start, m_place, m_place, static_cast<unsigned>(text.size()));
  Lexer lexer(file, contents, sources, pp.getLangOpts());
  for (Token t;;) {
    lexer.LexFromRawLexer(t);
    if (t.is(tok::eof))
      return *this;
    if (t.is(tok::raw_identifier))
      pp.LookUpIdentifierInfo(t);
    t.setLocation(shown.getLocWithOffset(static_cast<SourceLocation::IntTy>(
        t.getLocation().getRawEncoding() - start.getRawEncoding())));
    out.push_back(t);
  }
}

} // namespace weft_oss
