// SPDX-License-Identifier: Apache-2.0
// The handler of `#pragma oss`, and of `#pragma omp` where that is OmpSs-1: reads the clauses and the statement behind them, and puts code in their place.
#include "c.hpp"
#include "cxx.hpp"
#include "cxx_items.hpp"
#include "enclosing.hpp"
#include "globals.hpp"
#include "jumps.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Lex/Pragma.h>
#include <clang/Sema/IdentifierResolver.h>
#include <clang/Sema/Scope.h>
#include <clang/Sema/Sema.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace weft_oss {
namespace {

using namespace clang;

Sema *g_sema = nullptr; // none while a file is only preprocessed
const Preprocessor *g_preprocessor = nullptr; // of a file whose pragmas are compiled without a parser
bool g_takes_omp = false;

/// Leaves the compiler as it is; the plugin learns of it.
class oss_action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &, llvm::StringRef) override {
    return make_capture_consumer();
  }
  bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &words) override {
    g_takes_omp = std::ranges::find(words, "ompss") != words.end();
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

/// Turns warnings off from a pragma to the end of its statement: they are about captures and an attribute,
/// which are the plugin's.
class quiet_captures {
 public:
  quiet_captures(Preprocessor &preprocessor, SourceLocation pragma, const tokens &statement)
      : pp(preprocessor), read(statement), m_first(place(pragma)) {
    DiagnosticsEngine &engine = pp.getDiagnostics();
    engine.pushMappings(m_first);
    for (const char *const group : {"unused-lambda-capture", "deprecated-this-capture",
                                    "gcc-compat", "gnu-auto-type", "sizeof-pointer-div"})
      engine.setSeverityForGroup(diag::Flavor::WarningOrError, group, diag::Severity::Ignored,
                                 m_first);
  }
  quiet_captures(const quiet_captures &) = delete;
  quiet_captures &operator=(const quiet_captures &) = delete;
  ~quiet_captures() {
    // The statement may end with code for a pragma inside, which is placed there, in front of its own statement.
    SourceLocation last = m_first;
    for (const Token &t : read)
      if (const SourceLocation at = place(t.getLocation()); pp.getSourceManager().isBeforeInTranslationUnit(last, at))
        last = at;
    pp.getDiagnostics().popMappings(last);
  }

 private:
  [[nodiscard]] SourceLocation place(SourceLocation where) const {
    return pp.getSourceManager().getExpansionLoc(where);
  }
  Preprocessor &pp;
  const tokens &read;
  SourceLocation m_first;
};

/// Gives each error about a token of a pragma once, because code may have an item at several places; and of
/// the code around it no error that follows from that.
class each_once : public DiagnosticConsumer {
 public:
  explicit each_once(DiagnosticsEngine &engine)
      : m_engine(engine), m_next(*engine.getClient()), m_owned(engine.takeClient()) {
    NumErrors = m_next.getNumErrors();
    NumWarnings = m_next.getNumWarnings();
  }
  // NOLINTBEGIN: the names are Clang's
  void BeginSourceFile(const LangOptions &language, const Preprocessor *pp) override {
    m_next.BeginSourceFile(language, pp);
  }
  void EndSourceFile() override { m_next.EndSourceFile(); }
  void finish() override { m_next.finish(); }
  bool IncludeInDiagnosticCounts() const override { return m_next.IncludeInDiagnosticCounts(); }
  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &info) override {
    if (level != DiagnosticsEngine::Note)
      m_drops = level >= DiagnosticsEngine::Error && is_known(info);
    if (m_drops)
      return;
    if (m_next.IncludeInDiagnosticCounts())
      DiagnosticConsumer::HandleDiagnostic(level, info);
    if (const llvm::StringRef words = level >= DiagnosticsEngine::Error ? in_own_words(info) : ""; !words.empty())
      m_next.HandleDiagnostic(level, Diagnostic(&m_engine, words));
    else
      m_next.HandleDiagnostic(level, info);
  }
  // NOLINTEND
  void add(const SourceManager &sources, const Token &oss, const tokens &behind) {
    ++m_pragmas;
    m_pragma_at[sources.getFileLoc(oss.getLocation()).getRawEncoding()] = m_pragmas;
    for (const Token &t : behind)
      m_pragma_at[sources.getFileLoc(t.getLocation()).getRawEncoding()] = m_pragmas;
  }

 private:
  /// Returns what an error about the plugin's code means in terms of the pragma.
  static llvm::StringRef in_own_words(const Diagnostic &info) {
    if (!is_about_plugins_code(info))
      return "";
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    const llvm::StringRef says = text;
    if (says.starts_with("cannot take the address of an rvalue"))
      return "an item of a dependence of '#pragma oss' must be an lvalue: an object that has an address";
    if (says == "variable-sized object may not be initialized")
      return "a task of C++ cannot copy an array whose extent is known at run time only: share it, or use a pointer to "
             "its first element";
    return "";
  }
  static bool is_about_plugins_code(const Diagnostic &info) {
    if (!info.hasSourceManager() || info.getLocation().isInvalid())
      return false;
    const SourceManager &sources = info.getSourceManager();
    return sources.getBufferName(sources.getSpellingLoc(info.getLocation())) == k_buffer;
  }
  bool is_known(const Diagnostic &info) {
    if (!info.hasSourceManager() || info.getLocation().isInvalid())
      return false;
    const SourceManager &sources = info.getSourceManager();
    const unsigned place = sources.getFileLoc(info.getLocation()).getRawEncoding();
    const auto pragma = m_pragma_at.find(place);
    if (pragma == m_pragma_at.end())
      return false;
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    const llvm::StringRef says = text;
    if (is_about_plugins_code(info) && m_failed.contains(pragma->second) &&
        (says.starts_with("expected ") || says.contains("undeclared identifier") ||
         says.starts_with("variably modified type ")))
      return true;
    m_failed.insert(pragma->second);
    return !m_given.emplace(place, says.str()).second;
  }
  const DiagnosticsEngine &m_engine;
  DiagnosticConsumer &m_next;
  std::unique_ptr<DiagnosticConsumer> m_owned; // m_next, if the engine had it
  std::map<unsigned, unsigned> m_pragma_at; // by place
  std::set<unsigned> m_failed;
  unsigned m_pragmas = 0;
  std::set<std::pair<unsigned, std::string>> m_given;
  bool m_drops = false; // the notes behind a dropped error
};
each_once *g_once = nullptr; // the engine's; none while a file is only preprocessed

tokens rest_of_line(Preprocessor &pp) {
  tokens line;
  for (Token t;;) {
    pp.Lex(t);
    if (t.isOneOf(tok::eod, tok::eof))
      return line;
    line.push_back(t);
  }
}

/// Keeps the pragmas of a space as tokens, each a line of its own: Clang would print them at once, in front of the statement that they are in. GCC
/// knows no _Pragma in what is preprocessed.
class kept_pragmas : public PragmaHandler {
 public:
  /// Takes those of a name, or all for which there is no other handler. Clang's removes this one by its name, or it lives as long as the preprocessor.
  static void begin(Preprocessor &pp, const char *space, const char *name) {
    auto *const all = new kept_pragmas(space, name);
    pp.RemovePragmaHandler(space, all);
    pp.AddPragmaHandler(space, all);
  }
  void HandlePragma(Preprocessor &pp, PragmaIntroducer, Token &first) override {
    if (first.isOneOf(tok::eod, tok::eof))
      return;
    std::string text = "\n#pragma " + m_space + " " + spelling(pp, first);
    for (const Token &t : rest_of_line(pp))
      text += " " + spelling(pp, t);
    text += "\n";
    writer w(pp, first.getLocation());
    w << text;
    auto line = std::make_unique<Token[]>(1);
    line[0] = w.out.front(); // the `#`
    line[0].setKind(tok::unknown); // Clang counts the ends of lines in such a token
    line[0].setLocation(line[0].getLocation().getLocWithOffset(-1));
    line[0].setLength(static_cast<unsigned>(text.size()));
    pp.EnterTokenStream(std::move(line), 1, /*DisableMacroExpansion=*/true, /*IsReinject=*/true);
  }

 private:
  kept_pragmas(const char *space, const char *name) : PragmaHandler(name), m_space(space) {}
  std::string m_space;
};

class oss_handler : public PragmaHandler {
 public:
  explicit oss_handler(llvm::StringRef of = "oss") : PragmaHandler(of) {}

  void HandlePragma(Preprocessor &pp, PragmaIntroducer, Token &oss) override {
    const tokens line = rest_of_line(pp);
    if (!g_sema && !pp.isMacroDefined("WEFT_OSS_GCC"))
      return keep(pp, oss, line);
    if (!g_sema && g_preprocessor != &pp) {
      g_preprocessor = &pp;
      kept_pragmas::begin(pp, "GCC", "");
      kept_pragmas::begin(pp, "GCC", "diagnostic");
      kept_pragmas::begin(pp, "omp", "");
    }
    if (g_once)
      g_once->add(pp.getSourceManager(), oss, line);
    const bool is_c = !pp.getLangOpts().CPlusPlus;
    const std::optional<pragma> p = parse(pp, line, oss.getLocation(), std::string_view(getName()));
    if (!p || p->directive->how == state::ignored) // the statement, if there is one, runs as it is
      return;
    if (is_c && refuse_in_c(pp, *p))
      return;
    writer w(pp, oss.getLocation());
    statement_reader behind(pp);
    const quiet_captures quiet(pp, oss.getLocation(), behind.read);
    enclosing_task around(*p, behind);
    bool is_function = false;
    if (p->directive->behind != body::nothing &&
        !read_statement(pp, *p, behind, oss, is_function)) {
      put_back(pp, behind.read, behind);
      return;
    }
    around.leave();
    if (is_function && pp.isMacroDefined("WEFT_OSS_GCC")) {
      report_error(pp, oss.getLocation(),
                   "a task function needs Clang: compile this file without --gcc, or write the "
                   "pragma in front of the calls");
      return put_back(pp, behind.read, behind);
    }
    if (is_function) {
      const auto head = parse_function(pp, *p, behind.read, oss.getLocation());
      if (head)
        (is_c ? write_c_function : write_function)(w, *p, *head, behind.read);
      return put_back(pp, head ? w.out : behind.read, behind);
    }
    if (p->directive->id != directive_id::taskiter && !check_members(pp, w, *p, behind.read))
      return put_back(pp, behind.read, behind);
    std::optional<loop_nest> loops;
    std::optional<atomic_statement> atomic;
    if (p->directive->behind == body::loop) {
      loops = parse_loops(pp, *p, behind.read);
      const std::string name = pragma_name(*p->directive);
      if (!loops || !check_jumps(pp, loops->body, name, /*body_of_loop=*/true))
        return put_back(pp, behind.read, behind);
      if (!loops->condition.empty() && p->has(clause_id::unroll))
        report_warning(pp, p->value(clause_id::unroll).front().getLocation(),
                       "clause 'unroll' is ignored: the condition of a while loop is asked after each iteration");
    } else if (p->directive->id == directive_id::atomic) {
      if (g_once) // a comparison is written twice
        g_once->add(pp.getSourceManager(), oss, behind.read);
      atomic = parse_atomic(pp, *p, behind.read);
      if (!atomic)
        return put_back(pp, behind.read, behind);
    }
    if (orders_too_late(*p)) {
      report_error(pp, p->where,
                   pragma_name(*p->directive) +
                       " must come before the dependences of the file, or give -foss-regions");
      return;
    }
    (is_c ? write_c : write_cxx)(w, *p, behind.read, loops ? &*loops : nullptr,
                                 atomic ? &*atomic : nullptr);
    put_back(pp, w.out, behind);
  }

 private:
  /// Leaves a pragma to the compiler of a file that is only preprocessed: as an operator, its macros expanded.
  void keep(Preprocessor &pp, const Token &oss, const tokens &line) const {
    std::string text;
    for (const Token &t : line)
      for (const char c : " " + spelling(pp, t))
        text += c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c);
    writer w(pp, oss.getLocation());
    w << "_Pragma(\"" + getName().str() + text + "\")";
    auto array = std::make_unique<Token[]>(w.out.size());
    std::copy(w.out.begin(), w.out.end(), array.get());
    pp.EnterTokenStream(std::move(array), w.out.size(), /*DisableMacroExpansion=*/true,
                        /*IsReinject=*/true);
  }

  static bool read_statement(Preprocessor &pp, const pragma &parsed, statement_reader &behind,
                             const Token &oss, bool &is_function) {
    const std::string name = pragma_name(*parsed.directive);
    const bool may_be_function = parsed.directive->id == directive_id::task;
    const bool whole =
        may_be_function ? behind.statement_or_function(is_function) : behind.statement();
    if (!whole) {
      report_error(pp, oss.getLocation(),
                   behind.is_in_template() ? name + " finds no '>' behind the parameters of the template: put a comparison by '<' into brackets"
                   : behind.at_end() ? "the file ends before the statement of " + name + " does"
                                   : name + " has no statement behind it");
      return false;
    }
    return is_function || parsed.directive->behind == body::loop ||
           check_jumps(pp, behind.read, name);
  }

  /// Refuses `this->m` where the task has a copy of the member `m`: that is the member itself.
  static bool check_this(Preprocessor &pp, const writer &code, const pragma &parsed, const tokens &statement) {
    if (!is_in_member_function(parsed.where))
      return true;
    std::set<std::string_view> copied;
    const auto add = [&](const Token &name) {
      if (names_member(name))
        copied.insert(word(name));
    };
    for (const item &it : parsed.items)
      if (it.mode == clause_id::reduction && it.base && !orders_items_by_bytes(code))
        add(*it.base);
    for (const variable &v : parsed.variables)
      if (v.sharing != clause_id::shared)
        add(v.name);
    const auto is = [&](std::size_t i, tok::TokenKind kind) { return i < statement.size() && statement[i].is(kind); };
    bool right = true;
    for (std::size_t i = 2; i < statement.size(); ++i) {
      const bool by_arrow = is(i - 1, tok::arrow) && is(i - 2, tok::kw_this);
      const bool by_object = is(i - 1, tok::period) && is(i - 2, tok::r_paren) && is(i - 3, tok::kw_this) && is(i - 4, tok::star);
      if (!(by_arrow || by_object) || statement[i].isNot(tok::identifier) || !copied.contains(word(statement[i])) || is_hidden(statement[i]))
        continue;
      report_error(pp, statement[i].getLocation(),
                   "this is the member " + quoted(word(statement[i])) + " itself, and not the copy of it that " +
                       pragma_name(*parsed.directive) + " has; write the name alone");
      right = false;
    }
    return right;
  }

  /// Refuses other members than those that are reduced: the name that a member begins with means the task's copy.
  static bool check_members(Preprocessor &pp, const writer &code, const pragma &parsed,
                            const tokens &statement) {
    const SourceManager &sources = pp.getSourceManager();
    const auto alike = [&](const Token &a, const Token &b) {
      return spelling(pp, a) == spelling(pp, b);
    };
    bool right = check_this(pp, code, parsed, statement);
    for (const item &it : parsed.items) {
      const tokens &path = it.shape_free;
      if (it.mode != clause_id::reduction || !it.base || path.size() < 3 ||
          path[0].getLocation() != it.base->getLocation() ||
          !path[1].isOneOf(tok::period, tok::arrow) || orders_items_by_bytes(code))
        continue; // by bytes there are no copies
      for (std::size_t i = 0; i < statement.size(); ++i) {
        const Token &at = statement[i];
        const bool other =
            i > 0 && statement[i - 1].isOneOf(tok::period, tok::arrow, tok::coloncolon);
        if (at.isNot(tok::identifier) || word(at) != word(*it.base) || other ||
            sources.getBufferName(sources.getSpellingLoc(at.getLocation())) == k_buffer)
          continue;
        const tokens there = slice(statement, i, i + path.size());
        if (there.size() == path.size() &&
            std::equal(there.begin(), there.end(), path.begin(), alike))
          continue;
        std::string text;
        for (const Token &t : path)
          text += spelling(pp, t);
        report_error(pp, at.getLocation(),
                     "variable " + quoted(word(at)) + " leads to the task's copy of " +
                         quoted(text) + " alone; name that by a variable of its own, and reduce it");
        right = false;
      }
    }
    return right;
  }

  static void put_back(Preprocessor &pp, const tokens &all, const statement_reader &behind) {
    const std::size_t n = all.size() + (behind.looked_ahead() ? 1 : 0);
    if (n == 0)
      return;
    auto array = std::make_unique<Token[]>(n);
    std::copy(all.begin(), all.end(), array.get());
    if (behind.looked_ahead())
      array[n - 1] = behind.ahead();
    pp.EnterTokenStream(std::move(array), n, /*DisableMacroExpansion=*/true, /*IsReinject=*/true);
  }
};

const FrontendPluginRegistry::Add<oss_action> g_action("weft-oss", "OmpSs-2 on Weft");
const PragmaHandlerRegistry::Add<oss_handler> g_oss("oss", "OmpSs-2 on Weft");

} // namespace

namespace {

/// Returns what the file declares that a place is in.
const file_variables &variables_around(SourceLocation where) {
  static std::map<FileID, file_variables> known;
  const Preprocessor &pp = g_sema ? g_sema->getPreprocessor() : *g_preprocessor;
  const SourceManager &sources = pp.getSourceManager();
  const FileID file = g_sema ? sources.getDecomposedExpansionLoc(where).first : sources.getMainFileID();
  return known.try_emplace(file, sources, pp.getLangOpts(), file).first->second;
}

/// Returns what a variable means, for which `is_one` asks of a global one.
template <class Is>
meaning meaning_of_variable(const VarDecl &variable, const Is &is_one) {
  if (variable.hasGlobalStorage())
    return is_one(variable) ? meaning::global : meaning::other;
  if (variable.isConstexpr())
    return meaning::other;
  const Expr *const value = variable.getInit();
  Expr::EvalResult evaluated;
  return variable.getType().isConstQualified() && value && !value->isValueDependent() &&
                 value->EvaluateAsInt(evaluated, variable.getASTContext())
             ? meaning::other
             : meaning::local;
}

/// Returns what a member of a class or of its bases means, or nothing if there is none of the name. Bases that depend on
/// parameters of a template are not looked through by the language either.
template <class Is>
std::optional<meaning> meaning_in(const CXXRecordDecl &record, DeclarationName name, const Is &is_one) {
  std::optional<meaning> found;
  const auto look = [&](const CXXRecordDecl *one) {
    for (const NamedDecl *member : one->lookup(name)) {
      const auto *const variable = llvm::dyn_cast<VarDecl>(member->getUnderlyingDecl());
      found = variable ? meaning_of_variable(*variable, is_one) : meaning::other;
    }
    return !found;
  };
  if (look(&record))
    record.forallBases(look);
  return found;
}

/// Returns whether the parser has not read all that is around a pragma: the statement of a task around this one, or what a class declares behind
/// its functions, and their parameters.
bool is_unread() { return is_in_task() || g_sema->CurContext->isRecord(); }

/// Returns what a name means, for which `is_one` asks of a global variable, and `is_one_in_text` of one that the parser has
/// not read yet.
template <class Is, class IsInText>
meaning look_up(const Token &token, const Is &is_one, const IsInText &is_one_in_text) {
  Sema &sema = *g_sema;
  const DeclarationName name(token.getIdentifierInfo());
  if (is_unread())
    if (const auto *const found = variables_around(token.getLocation()).nearest(token); found && found->in_block)
      return found->what == file_variables::declared::kind::variable && is_one_in_text(*found)
                 ? meaning::global
                 : meaning::other;
  const auto is = [&](const NamedDecl *found) {
    const auto *const variable = llvm::dyn_cast<VarDecl>(found->getUnderlyingDecl());
    return variable && variable->hasGlobalStorage() && is_one(*variable);
  };
  bool is_local = false, is_other = false;
  auto i = sema.IdResolver.begin(name);
  for (; i != sema.IdResolver.end() && (*i)->getDeclContext()->isFunctionOrMethod(); ++i) {
    const auto *const variable = llvm::dyn_cast<VarDecl>(*i);
    if (!variable && !llvm::isa<BindingDecl>(*i))
      return meaning::other;
    const meaning what = variable ? meaning_of_variable(*variable, is_one) : meaning::local;
    const bool changes = !variable || !variable->getType().isConstQualified();
    if (what == meaning::global || (!changes && !variable->hasGlobalStorage()))
      return what; // a constant hides the others, and its copy would be none
    is_local = true;
  }
  for (const DeclContext *in = sema.CurContext; in && !is_local; in = in->getParent())
    if (const auto *const record = llvm::dyn_cast<CXXRecordDecl>(in); record && !record->isLambda())
      if (const auto found = meaning_in(*record, name, is_one))
        return *found;
  for (; i != sema.IdResolver.end(); ++i) {
    if (is(*i))
      return meaning::global;
    is_other = !is_local;
  }
  const meaning otherwise = is_other ? meaning::other : meaning::local;
  for (const DeclContext *in = sema.CurContext; in; in = in->getParent())
    if (llvm::isa<NamespaceDecl>(in))
      for (const NamedDecl *found : in->lookup(name))
        if (is(found))
          return meaning::global;
  if (!sema.getLangOpts().CPlusPlus)
    return otherwise;
  // Namespaces that are looked through: those without a name, which the scopes around have forgotten, and those of `using namespace`.
  std::vector<const DeclContext *> seen;
  const auto look_through = [&](const auto &self, const auto &directives) -> bool {
    for (const UsingDirectiveDecl *directive : directives) {
      const NamespaceDecl *const other = directive->getNominatedNamespace();
      if (std::ranges::find(seen, other) != seen.end())
        continue;
      seen.push_back(other);
      const auto all = other->lookup(name);
      if (std::any_of(all.begin(), all.end(), is) || self(self, other->using_directives()))
        return true;
    }
    return false;
  };
  for (const DeclContext *in = sema.CurContext; in; in = in->getParent())
    if (in->isFileContext() && look_through(look_through, in->using_directives()))
      return meaning::global;
  for (Scope *in = sema.getCurScope(); in; in = in->getParent()) // those of a block are known here alone
    if (look_through(look_through, in->using_directives()))
      return meaning::global;
  return otherwise;
}

} // namespace

void begin_parsing(Sema &sema) {
  g_sema = &sema;
  Preprocessor &pp = sema.getPreprocessor();
  g_once = new each_once(pp.getDiagnostics());
  pp.getDiagnostics().setClient(g_once, /*ShouldOwnClient=*/true);
  if (!g_takes_omp)
    return;
  // Here and not in the registry, because the parser adds a handler of its own when it is made. It removes that by name,
  // so this one must be there then, and has no owner.
  static oss_handler *const omp = new oss_handler("omp");
  pp.RemovePragmaHandler(omp);
  pp.AddPragmaHandler(omp);
}
void end_parsing() { g_sema = nullptr; }

meaning meaning_of(const Token &token) {
  const file_variables &all = variables_around(token.getLocation());
  // What hides a global variable is copied as that is; what hides a member or a constant is a variable.
  if (!g_sema)
    return all.has(token) ? meaning::global : all.nearest(token) && !all.is_local(token) ? meaning::other : meaning::local;
  const meaning found = look_up(
      token,
      [](const VarDecl &variable) {
        return !variable.isConstexpr() &&
               !variable.getASTContext().getBaseElementType(variable.getType()).isConstQualified();
      },
      [](const file_variables::declared &) { return true; });
  return found == meaning::other && is_unread() && all.is_local(token) ? meaning::local : found;
}

bool names_member(const Token &token) {
  const auto *const unread = variables_around(token.getLocation()).nearest(token, /*with_locals=*/true);
  if (!g_sema || (is_unread() && unread && unread->in_block))
    return unread && unread->what == file_variables::declared::kind::member;
  const Sema &sema = *g_sema;
  const DeclarationName name(token.getIdentifierInfo());
  for (auto i = g_sema->IdResolver.begin(name); i != g_sema->IdResolver.end(); ++i)
    if ((*i)->getDeclContext()->isFunctionOrMethod())
      return false;
  const auto is_member = [&](const CXXRecordDecl &record) {
    const auto all = record.lookup(name);
    return std::any_of(all.begin(), all.end(), [](const NamedDecl *one) { return llvm::isa<FieldDecl, IndirectFieldDecl>(one->getUnderlyingDecl()); });
  };
  for (const DeclContext *in = sema.CurContext; in; in = in->getParent())
    if (const auto *const record = llvm::dyn_cast<CXXRecordDecl>(in); record && !record->isLambda())
      return is_member(*record) || !record->forallBases([&](const CXXRecordDecl *base) { return !is_member(*base); });
  return false;
}
bool names_global_variable(const Token &token) { return meaning_of(token) == meaning::global; }
bool names_global_pointer(const Token &token) {
  return g_sema &&
         look_up(
             token, [](const VarDecl &variable) { return variable.getType()->isPointerType(); },
             [](const file_variables::declared &unread) { return unread.is_pointer; }) ==
             meaning::global;
}

bool is_hidden(const Token &name) { return variables_around(name.getLocation()).is_local(name); }

bool is_in_member_function(SourceLocation where) {
  const auto *const found = variables_around(where).member_function_at(where);
  if (found && !(g_sema && found->is_outside)) // the parser knows that one
    return found->has_this;
  for (const DeclContext *in = g_sema ? g_sema->CurContext : nullptr; in; in = in->getParent())
    if (const auto *const function = llvm::dyn_cast<FunctionDecl>(in)) {
      const auto *const method = llvm::dyn_cast<CXXMethodDecl>(function);
      if (!method || !method->getParent()->isLambda())
        return method && method->isInstance();
    }
  return false;
}

} // namespace weft_oss
