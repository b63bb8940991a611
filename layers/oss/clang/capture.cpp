// SPDX-License-Identifier: Apache-2.0
// The variables of tasks in C. Clang makes a function of a captured statement, which has the addresses of the variables
// that the statement uses. The consumer turns those that a task copies into values, and the pass turns the call of the
// function into the body of a task whose variables are written where the task keeps them.
#include "c.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <clang/AST/RecordLayout.h>
#include <clang/AST/Stmt.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaConsumer.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include <utility>
#include <vector>

namespace weft_oss {

using namespace clang;

namespace {

constexpr llvm::StringRef k_task_name = "weft_oss_task_";
constexpr llvm::StringRef k_prepare_name = "weft_oss_prepare"; // that of all kinds of tasks begin so
constexpr llvm::StringRef k_prepare_loop_name = "weft_oss_prepare_loop";
constexpr llvm::StringRef k_behind_name = "weft_oss_behind";
constexpr llvm::StringRef k_reduce_name = "weft_oss_reduce";
constexpr llvm::StringRef k_item_name = "weft_oss_item";
constexpr llvm::StringRef k_place_name = "weft_oss_place_";
constexpr llvm::StringRef k_reduction_name =
    "weft_oss_reduction_"; // of functions that all files share
constexpr unsigned k_alignment = 16; // of a task's variables

/// Says where a task keeps a variable, for a debugger.
struct kept_variable {
  std::string name;
  unsigned line; ///< of its declaration
  std::uint64_t offset; ///< among the variables of the task
  bool is_address; ///< the task keeps the variable's address
  std::vector<std::uint64_t> extents; ///< offsets of those of an array of run time, the outer ones first
};
std::map<unsigned, std::vector<kept_variable>> g_kept; // by the number of the pragma: the consumer writes, the pass reads

/// Functions whose calls are tasks, and what spawns these: the last pragma counts.
using task_functions = std::map<const FunctionDecl *, FunctionDecl *>;

/// A `declare reduction`, by type.
struct known_reduction {
  std::string operation;
  QualType type;
  FunctionDecl *start;
  FunctionDecl *combine;
};
using known_reductions = std::vector<known_reduction>;

FunctionDecl *function(ASTContext &context, llvm::StringRef name) {
  for (NamedDecl *found : context.getTranslationUnitDecl()->lookup(&context.Idents.get(name)))
    if (auto *const f = llvm::dyn_cast<FunctionDecl>(found))
      return f;
  return nullptr;
}

QualType without_qualifiers(ASTContext &context, QualType type) {
  return context.getCanonicalType(type).getUnqualifiedType();
}

/// Returns how <weft/oss/reductions.h> calls a type, or nothing.
std::string name_of_number(QualType type) {
  if (const auto *const complex = type->getAs<ComplexType>()) {
    const std::string part = name_of_number(complex->getElementType());
    return part == "float" || part == "double" || part == "ldouble" ? "c" + part : "";
  }
  if (const auto *const listed = type->getAs<EnumType>())
    return name_of_number(listed->getDecl()->getIntegerType().getCanonicalType());
  const auto *const number = type->getAs<BuiltinType>();
  if (!number)
    return {};
  switch (number->getKind()) {
  case BuiltinType::Bool:
    return "truth"; // no macro may have the name
  case BuiltinType::Char_S:
  case BuiltinType::Char_U:
    return "char";
  case BuiltinType::SChar:
    return "schar";
  case BuiltinType::UChar:
    return "uchar";
  case BuiltinType::Short:
    return "short";
  case BuiltinType::UShort:
    return "ushort";
  case BuiltinType::Int:
    return "int";
  case BuiltinType::UInt:
    return "uint";
  case BuiltinType::Long:
    return "long";
  case BuiltinType::ULong:
    return "ulong";
  case BuiltinType::LongLong:
    return "llong";
  case BuiltinType::ULongLong:
    return "ullong";
  case BuiltinType::Float:
    return "float";
  case BuiltinType::Double:
    return "double";
  case BuiltinType::LongDouble:
    return "ldouble";
  default:
    return {};
  }
}

/// Returns what the copies of a known operation begin with, or nothing.
std::string start_of(llvm::StringRef operation) {
  static constexpr std::pair<const char *, const char *> k_starts[] = {
      {"plus", "zero"},    {"times", "one"},    {"min", "most"},
      {"max", "least"},    {"bit_and", "ones"}, {"bit_or", "zero"},
      {"bit_xor", "zero"}, {"and", "one"},      {"or", "zero"}};
  for (const auto &[known, start] : k_starts)
    if (operation == known)
      return start;
  return {};
}

/// Looks for the tasks of a function, the outer ones first. No RecursiveASTVisitor: that takes longer to compile than the rest of the plugin.
class task_reader {
 public:
  task_reader(Sema &of, const task_functions &all, const known_reductions &declared)
      : context(of.getASTContext()), sema(of), functions(all),
        reductions(declared) {}

  void walk(Stmt *statement) {
    if (!statement)
      return;
    if (auto *const block = llvm::dyn_cast<CompoundStmt>(statement))
      look(block);
    if (auto *const call = llvm::dyn_cast<CallExpr>(statement))
      if (const FunctionDecl *const f = call->getDirectCallee()) {
        if (f->getName() == k_reduce_name)
          reduce(*call);
        else if (f->getName() == k_item_name && call->getNumArgs() == 3)
          measure(*call);
      }
    if (auto *const name = llvm::dyn_cast<DeclRefExpr>(statement))
      if (const auto *const f = llvm::dyn_cast<FunctionDecl>(name->getDecl()))
        if (const auto found = functions.find(f->getCanonicalDecl()); found != functions.end())
          name->setDecl(found->second);
    for (Stmt *inner : statement->children())
      walk(inner);
    if (auto *const captured = llvm::dyn_cast<CapturedStmt>(statement))
      walk(captured->getCapturedStmt());
    if (auto *const closure = llvm::dyn_cast<BlockExpr>(statement))
      walk(closure->getBody());
  }

 private:
  void look(CompoundStmt *block) {
    const VarDecl *task = nullptr;
    CallExpr *prepare = nullptr, *behind = nullptr;
    VarDecl *free = nullptr;
    std::vector<VarDecl *> places; // of the pointers that lead to what is reduced
    for (Stmt *one : block->body()) {
      if (auto *const declared = llvm::dyn_cast<DeclStmt>(one)) {
        for (Decl *d : declared->decls()) {
          auto *const variable = llvm::dyn_cast<VarDecl>(d);
          if (!variable)
            continue;
          if (variable->getName().starts_with(k_task_name))
            task = variable;
          if (variable->getName().starts_with(k_place_name))
            places.push_back(variable);
          if (variable->hasInit())
            if (auto *const call =
                    llvm::dyn_cast<CallExpr>(variable->getInit()->IgnoreParenImpCasts()))
              if (const FunctionDecl *const f = call->getDirectCallee()) {
                if (f->getName().starts_with(k_prepare_name))
                  prepare = call;
                if (f->getName() == k_behind_name) {
                  behind = call;
                  free = variable;
                }
              }
        }
      } else if (auto *const captured = llvm::dyn_cast<CapturedStmt>(one);
                 captured && task && prepare && behind) {
        unsigned number = 0;
        if (!task->getName().drop_front(k_task_name.size()).getAsInteger(10, number))
          if (const sharing_rules *const rules = rules_of(number))
            decide(*captured, number, *rules, *prepare, *behind, *free, places);
        task = nullptr;
        places.clear();
      }
    }
  }

  void error(SourceLocation where, const std::string &text) {
    report_error(sema.getPreprocessor(), where, text);
  }

  /// Writes the size of an item that is a whole object into its call; an object of a type without a size has none.
  void measure(CallExpr &call) {
    if (!llvm::isa<IntegerLiteral>(call.getArg(2)->IgnoreParenImpCasts()))
      return;
    const auto *const address = llvm::dyn_cast<UnaryOperator>(call.getArg(0)->IgnoreParenImpCasts());
    if (!address || address->getOpcode() != UO_AddrOf)
      return;
    Expr *const object = address->getSubExpr()->IgnoreParens();
    const QualType type = object->getType();
    if (type->isDependentType()) // after an error
      return;
    if (type->isVariableArrayType()) {
      if (llvm::isa<DeclRefExpr>(object)) // another expression would be evaluated twice
        call.setArg(2, size_of(object));
    } else if (type->isObjectType() && !type->isIncompleteType()) {
      call.setArg(2, number(static_cast<std::uint64_t>(context.getTypeSizeInChars(type).getQuantity()),
                            object->getExprLoc()));
    }
  }

  [[nodiscard]] static bool is_pointer(QualType type) { return type->isPointerType(); }

  /// Writes the functions of an item of a reduction into the call that fills it.
  void reduce(CallExpr &call) {
    const auto value = [&](unsigned argument) {
      return static_cast<unsigned>(
          call.getArg(argument)->EvaluateKnownConstInt(context).getZExtValue());
    };
    const unsigned task_number = value(4), index = value(5);
    const sharing_rules *const rules = rules_of(task_number);
    if (!rules || index >= rules->reduced.size())
      return;
    const reduced_item &item = rules->reduced[index];
    Expr *const address = call.getArg(2)->IgnoreParenImpCasts();
    if (!address->getType()->isPointerType()) // after an error
      return;
    m_bases[{task_number, index}] = base(address, item.base);
    if (item.is_entered)
      if (const SourceLocation second = second_pointer(address); second.isValid())
        error(second, "an item of a reduction leads through one pointer at most, the variable that it "
                      "begins with; name a pointer behind that by a variable of its own, and reduce "
                      "what it points to");
    const QualType type = without_qualifiers(
        context, context.getBaseElementType(address->getType()->getPointeeType()));
    FunctionDecl *start = nullptr, *combine = nullptr;
    for (const known_reduction &known : reductions)
      if (known.operation == item.operation && context.hasSameType(known.type, type)) {
        start = known.start;
        combine = known.combine;
      }
    if (const std::string first = start_of(item.operation), name = name_of_number(type);
        !combine && !first.empty() && !name.empty()) {
      start = function(context, k_reduction_name.str() + first + "_" + name);
      combine = function(context, k_reduction_name.str() + item.operation + "_" + name);
    }
    if (!start || !combine) {
      const std::string of = type.getAsString(context.getPrintingPolicy());
      error(item.where, "reduction '" + item.spelled + "' is not declared for type '" + of +
                            "'; write '#pragma oss declare reduction(" + item.spelled + " : " + of +
                            " : combiner)'");
      return;
    }
    const SourceLocation where = call.getExprLoc();
    call.setArg(
        6,
        number(static_cast<std::uint64_t>(context.getTypeSizeInChars(type).getQuantity()), where));
    call.setArg(7, pointer_to(*start, where));
    call.setArg(8, pointer_to(*combine, where));
  }

  /// Returns where the address of an item is read from a pointer that is not the variable which the item begins with.
  static SourceLocation second_pointer(Expr *at) {
    for (;;) {
      Expr *const written = at;
      at = at->IgnoreParens();
      if (auto *const member = llvm::dyn_cast<MemberExpr>(at)) {
        at = member->getBase();
      } else if (auto *const element = llvm::dyn_cast<ArraySubscriptExpr>(at)) {
        at = element->getBase();
      } else if (auto *const sign = llvm::dyn_cast<UnaryOperator>(at)) {
        at = sign->getSubExpr();
      } else if (auto *const sum = llvm::dyn_cast<BinaryOperator>(at)) {
        at = sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS();
      } else if (auto *const cast = llvm::dyn_cast<CastExpr>(at)) {
        at = cast->getSubExpr();
        if (cast->getCastKind() == CK_LValueToRValue)
          return llvm::isa<DeclRefExpr>(at->IgnoreParens()) ? SourceLocation() : at->getBeginLoc();
      } else {
        return llvm::isa<DeclRefExpr>(at) ? SourceLocation() : written->getBeginLoc();
      }
    }
  }

  /// Returns the first use of a variable.
  static Expr *base(Stmt *of, llvm::StringRef name) {
    if (auto *const use = llvm::dyn_cast<DeclRefExpr>(of);
        use && llvm::isa<VarDecl>(use->getDecl()) && use->getDecl()->getName() == name)
      return use;
    for (Stmt *inner : of->children())
      if (inner)
        if (Expr *const found = base(inner, name))
          return found;
    return nullptr;
  }

  Expr *pointer_to(FunctionDecl &f, SourceLocation where) {
    sema.MarkFunctionReferenced(where, &f);
    return ImplicitCastExpr::Create(
        context, context.getPointerType(f.getType()), CK_FunctionToPointerDecay,
        DeclRefExpr::Create(context, NestedNameSpecifierLoc(), SourceLocation(), &f, false, where,
                            f.getType(), VK_LValue),
        nullptr, VK_PRValue, FPOptionsOverride());
  }

  void decide(CapturedStmt &captured, unsigned task_number, const sharing_rules &rules,
              CallExpr &prepare, CallExpr &behind, VarDecl &free,
              const std::vector<VarDecl *> &places) {
    auto init = captured.capture_init_begin();
    auto field = captured.getCapturedRecordDecl()->field_begin();
    Expr *extra = nullptr;
    std::vector<std::pair<CallExpr *, const FieldDecl *>> kept;
    std::vector<std::pair<VarDecl *, const FieldDecl *>> reduced;
    const FieldDecl *moves = nullptr;
    std::vector<std::pair<const VarDecl *, const FieldDecl *>> variables;
    std::map<const Expr *, const FieldDecl *> extents;
    for (const CapturedStmt::Capture &c : captured.captures()) {
      FieldDecl &at = **field++;
      Expr *&value = *init++;
      if (!c.capturesVariable()) { // the extent of an array: a value
        extents[at.getCapturedVLAType()->getSizeExpr()] = &at;
        continue;
      }
      variables.emplace_back(c.getCapturedVar(), &at);
      VarDecl &variable = *c.getCapturedVar();
      const QualType type = variable.getType();
      const std::string name = variable.getName().str();
      using enum sharing_rule::as;
      sharing_rule::as how = rules.by_default == defaults::shared ? reference : copy;
      if (const auto found = rules.named.find(name); found != rules.named.end()) {
        how = found->second.how;
        if (found->second.item.isValid() && (found->second.is_item || !is_pointer(type)))
          error(found->second.item, "an item of a task function must be what a pointer among its "
                                    "parameters refers to, and '" +
                                        name + "' is a copy");
        if (how == by_type)
          how = is_pointer(type) ? copy : reference;
        if (const int index = found->second.reduction;
            index >= 0 && static_cast<std::size_t>(index) < places.size()) {
          lead_to_copy(variable, c.getLocation());
          reduced.emplace_back(places[static_cast<std::size_t>(index)], &at);
          if (found->second.is_stand_in && m_bases[{task_number, index}]) {
            value = m_bases[{task_number, index}];
            if (!type->isVariablyModifiedType())
              variable.setStorageClass(SC_Extern); // no code uses it: without memory
          }
        }
        if (llvm::StringRef(name).starts_with("weft_oss_moves_"))
          moves = &at;
      } else if (rules.by_default == defaults::none &&
                 !llvm::StringRef(name).starts_with("weft_oss_")) {
        error(c.getLocation(), "variable '" + name + "' is in no clause of " + rules.pragma +
                                   ", which has default(none)");
      }
      if (how == reference)
        continue;
      if (context.getAsVariableArrayType(type)) { // a private one, too: the copy is there as long as the task
        if (CallExpr *const call = keep(value, type, extra, free))
          kept.emplace_back(call, &at);
        continue;
      }
      if (context.getDeclAlign(&variable).getQuantity() > k_alignment) {
        error(c.getLocation(), "variable '" + name + "' has an alignment of " +
                                   std::to_string(context.getDeclAlign(&variable).getQuantity()) +
                                   " bytes, and the copy of a task in C has 16: share it");
        continue;
      }
      at.setType(type.getUnqualifiedType());
      // An array has a larger alignment as a variable than as a member, and is used so.
      at.addAttr(AlignedAttr::CreateImplicit(
          context, /*IsAlignmentExpr=*/true,
          number(static_cast<std::uint64_t>(context.getDeclAlign(&variable).getQuantity()),
                 c.getLocation())));
      if (how == own)
        value = begin_of(type);
      else if (!type->isArrayType())
        value = ImplicitCastExpr::Create(context, type.getUnqualifiedType(), CK_LValueToRValue,
                                         value, nullptr, VK_PRValue, FPOptionsOverride());
    }
    for (const CapturedStmt::Capture &c : captured.captures())
      if (c.capturesVariable() && lacks_extent(c.getCapturedVar()->getType(), extents))
        error(c.getLocation(), "the type of variable '" + c.getCapturedVar()->getName().str() +
                                   "' has an extent that is known at run time only, and of an '__auto_type' Clang takes "
                                   "none into a task: write the type");
    // Only now the places of the fields are known.
    const auto place = [&](const FieldDecl &of) {
      return context.getASTRecordLayout(captured.getCapturedRecordDecl())
                 .getFieldOffset(of.getFieldIndex()) /
             context.getCharWidth();
    };
    for (const auto &[variable, at] : variables)
      if (!variable->getName().starts_with("weft_oss_"))
        g_kept[task_number].push_back(
            {variable->getName().str(),
             context.getSourceManager().getPresumedLoc(variable->getLocation()).getLine(),
             place(*at), at->getType()->isReferenceType(),
             extents_of(variable->getType(), extents, place)});
    for (const auto &[variable, at] : reduced)
      if (moves)
        variable->setInit(number(place(*at) - place(*moves), variable->getLocation()));
    if (extra) {
      for (const auto &[call, at] : kept)
        call->setArg(3, number(place(*at), call->getExprLoc()));
      prepare.setArg(3, extra);
      // The arrays are behind the other variables.
      behind.setArg(1, size_of_variables(captured));
    }
  }

  /// Returns whether a type has an extent of run time that the task would not find. Clang ends with a crash then.
  bool lacks_extent(QualType type, const std::map<const Expr *, const FieldDecl *> &extents) {
    type = type.getCanonicalType(); // Clang does not ask what an __auto_type stands for
    while (type->isVariablyModifiedType()) {
      if (const VariableArrayType *const array = context.getAsVariableArrayType(type)) {
        if (array->getSizeExpr() && !extents.contains(array->getSizeExpr()))
          return true;
        type = array->getElementType();
      } else if (const ArrayType *const other = context.getAsArrayType(type)) {
        type = other->getElementType();
      } else if (type->isPointerType()) {
        type = type->getPointeeType();
      } else {
        return false;
      }
    }
    return false;
  }

  /// Lowers the alignment of an array of which a task reduces a part, and so of its name in the task: the name leads in
  /// front of the copy of that part, by whole elements.
  void lead_to_copy(VarDecl &variable, SourceLocation where) {
    if (!context.getAsArrayType(variable.getType()))
      return;
    const auto elements = context.getTypeAlignInChars(variable.getType()).getQuantity();
    const auto asked =
        static_cast<std::int64_t>(variable.getMaxAlignment() / context.getCharWidth());
    if (asked > elements)
      error(where, "variable '" + variable.getName().str() + "' has an alignment of " +
                       std::to_string(asked) +
                       " bytes, and a task's copy of its elements has theirs: reduce it through a "
                       "pointer");
    else if (!asked)
      variable.addAttr(AlignedAttr::CreateImplicit(
          context, /*IsAlignmentExpr=*/true, number(static_cast<std::uint64_t>(elements), where)));
  }

  /// Returns where the extents of the arrays of run time are that a type consists of.
  template <class Place>
  std::vector<std::uint64_t> extents_of(QualType type,
                                        const std::map<const Expr *, const FieldDecl *> &extents,
                                        const Place &place) {
    std::vector<std::uint64_t> all;
    for (;;) {
      if (const auto *const array = context.getAsArrayType(type)) {
        if (const auto *const of_run_time = llvm::dyn_cast<VariableArrayType>(array))
          if (const auto found = extents.find(of_run_time->getSizeExpr()); found != extents.end())
            all.push_back(place(*found->second));
        type = array->getElementType();
      } else if (type->isPointerType()) {
        type = type->getPointeeType();
      } else {
        return all;
      }
    }
  }

  /// Returns what a private variable begins with: a number needs some value, and nothing is written for the others.
  Expr *begin_of(QualType type) {
    const QualType bare = type.getUnqualifiedType();
    if (type->isArrayType() || type->isRecordType())
      return new (context) NoInitExpr(bare);
    return new (context) ImplicitValueInitExpr(bare);
  }

  Expr *size_of_variables(CapturedStmt &captured) {
    const QualType record =
        context.getRecordType(const_cast<RecordDecl *>(captured.getCapturedRecordDecl()));
    TypeSourceInfo *const info = context.getTrivialTypeSourceInfo(record, captured.getBeginLoc());
    return new (context) UnaryExprOrTypeTraitExpr(UETT_SizeOf, info, context.getSizeType(),
                                                  captured.getBeginLoc(), captured.getBeginLoc());
  }

  Expr *size_of(Expr *object) {
    return new (context) UnaryExprOrTypeTraitExpr(UETT_SizeOf, object, context.getSizeType(),
                                                  object->getExprLoc(), object->getExprLoc());
  }

  Expr *number(std::uint64_t n, SourceLocation where) {
    return IntegerLiteral::Create(
        context, llvm::APInt(static_cast<unsigned>(context.getTypeSize(context.getSizeType())), n),
        context.getSizeType(), where);
  }

  /// Turns the array that a capture refers to into a copy of it, and adds its bytes to those of all such arrays.
  /// Returns the call, whose last argument is to be the place of the capture, or null after an error.
  CallExpr *keep(Expr *&value, QualType type, Expr *&extra, VarDecl &free) {
    const SourceLocation where = value->getExprLoc();
    Expr *const array = value;
    const auto operation = [&](Expr *a, BinaryOperatorKind which, Expr *b) -> Expr * {
      return BinaryOperator::Create(context, a, b, which, context.getSizeType(), VK_PRValue,
                                    OK_Ordinary, where, FPOptionsOverride());
    };
    // With what is in front of it, in whole units of 16 bytes.
    Expr *const rounded = operation(
        operation(operation(size_of(array), BO_Add, number(31, where)), BO_Div, number(16, where)),
        BO_Mul, number(16, where));
    const auto address = [&](Expr *of, QualType pointee) -> Expr * {
      return UnaryOperator::Create(context, of, UO_AddrOf, context.getPointerType(pointee),
                                   VK_PRValue, OK_Ordinary, where, /*CanOverflow=*/false,
                                   FPOptionsOverride());
    };
    Expr *const place =
        address(DeclRefExpr::Create(context, NestedNameSpecifierLoc(), SourceLocation(), &free,
                                    /*RefersToEnclosingVariableOrCapture=*/false, where,
                                    free.getType(), VK_LValue),
                free.getType());
    Expr *const from = ImplicitCastExpr::Create(
        context, context.getPointerType(context.VoidTy.withConst()), CK_BitCast,
        address(array, type), nullptr, VK_PRValue, FPOptionsOverride());
    FunctionDecl *const copy = function(context, "weft_oss_keep");
    if (!copy) {
      error(where, "'#pragma oss' in C needs <weft/oss.h> in front: compile with weft-cc");
      return nullptr;
    }
    CallExpr *const call = CallExpr::Create(
        context, pointer_to(*copy, where), {place, from, size_of(array), number(0, where)},
        context.VoidPtrTy, VK_PRValue, where, FPOptionsOverride());
    Expr *const typed = ImplicitCastExpr::Create(context, context.getPointerType(type), CK_BitCast,
                                                 call, nullptr, VK_PRValue, FPOptionsOverride());
    value = UnaryOperator::Create(context, typed, UO_Deref, type, VK_LValue, OK_Ordinary, where,
                                  false, FPOptionsOverride());
    extra = extra ? operation(extra, BO_Add, rounded) : rounded;
    return call;
  }

  ASTContext &context;
  Sema &sema;
  const task_functions &functions;
  const known_reductions &reductions;
  std::map<std::pair<unsigned, unsigned>, Expr *> m_bases; // of items, by task and item
};

class capture_consumer : public SemaConsumer {
 public:
  // NOLINTNEXTLINE: the name is Clang's
  void InitializeSema(Sema &sema) override {
    m_sema = &sema;
    begin_parsing(sema);
  }
  // NOLINTNEXTLINE: the name is Clang's
  void ForgetSema() override {
    m_sema = nullptr;
    end_parsing();
  }
  // NOLINTNEXTLINE: the name is Clang's
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    if (!m_sema || m_sema->getLangOpts().CPlusPlus)
      return true;
    for (Decl *d : group) {
      task_reader tasks(*m_sema, m_functions, m_reductions);
      if (auto *const variable = llvm::dyn_cast<VarDecl>(d)) {
        tasks.walk(variable->getInit());
        continue;
      }
      auto *const f = llvm::dyn_cast<FunctionDecl>(d);
      if (!f || !f->doesThisDeclarationHaveABody() || f->getName().starts_with("weft_oss_call_"))
        continue;
      tasks.walk(f->getBody());
      unsigned number = 0;
      if (llvm::StringRef name = f->getName();
          name.consume_front("weft_oss_spawn_") && !name.getAsInteger(10, number))
        note(number, *f);
      else if (name.consume_front("weft_oss_start_") && !name.getAsInteger(10, number))
        share(number, *f, "start");
      else if (name.consume_front("weft_oss_combine_") && !name.getAsInteger(10, number) &&
               share(number, *f, "combine"))
        note_reduction(number, *f);
    }
    return true;
  }

 private:
  void note(unsigned number, FunctionDecl &spawns) {
    const std::string *const name = task_function(number);
    if (!name)
      return;
    ASTContext &context = m_sema->getASTContext();
    for (const NamedDecl *found :
         context.getTranslationUnitDecl()->lookup(&context.Idents.get(*name)))
      if (const auto *const f = llvm::dyn_cast<FunctionDecl>(found))
        m_functions[f->getCanonicalDecl()] = &spawns;
  }

  /// Returns the type that a `declare reduction` is for.
  QualType type_of(unsigned number) {
    ASTContext &context = m_sema->getASTContext();
    for (const NamedDecl *found : context.getTranslationUnitDecl()->lookup(
             &context.Idents.get("weft_oss_type_" + std::to_string(number))))
      if (const auto *const type = llvm::dyn_cast<TypedefNameDecl>(found))
        return without_qualifiers(context, type->getUnderlyingType());
    return {};
  }

  /// Names a function of a `declare reduction` by what it does and to which members, so that files which mean
  /// different types by one name do not share it. Returns whether there is such a declaration.
  bool share(unsigned number, FunctionDecl &f, const std::string &role) {
    const declared_reduction *const declared = reduction_declared_by(number);
    const QualType type = type_of(number);
    if (!declared || type.isNull())
      return false;
    ASTContext &context = m_sema->getASTContext();
    std::string members;
    context.getObjCEncodingForType(type, members);
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : members + " " + declared->text)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    f.addAttr(AsmLabelAttr::CreateImplicit(context,
                                           k_reduction_name.str() + role + "." +
                                               declared->operation + "." + llvm::utohexstr(hash),
                                           /*IsLiteralLabel=*/true));
    return true;
  }

  void note_reduction(unsigned number, FunctionDecl &combine) {
    const declared_reduction &declared = *reduction_declared_by(number);
    ASTContext &context = m_sema->getASTContext();
    const QualType type = type_of(number);
    for (const known_reduction &known : m_reductions)
      if (known.operation == declared.operation && context.hasSameType(known.type, type))
        report_error(m_sema->getPreprocessor(), declared.where,
                     "this reduction is declared already for type '" +
                         type.getAsString(context.getPrintingPolicy()) + "'");
    if (FunctionDecl *const start = function(context, "weft_oss_start_" + std::to_string(number)))
      m_reductions.push_back({declared.operation, type, start, &combine});
  }

  Sema *m_sema = nullptr;
  task_functions m_functions;
  known_reductions m_reductions;
};

/// Tells debuggers where tasks keep the variables that their statements have captured, which Clang does not.
class debug_variables {
 public:
  debug_variables(llvm::Module &of, bool is_optimized) : module(of), optimizes(is_optimized) {}

  /// Notes a statement of the task that `prepare` prepares, by the number of its pragma.
  void add(llvm::Function &statement, llvm::CallBase &prepare, unsigned number) {
    if (statement.getSubprogram() && prepare.getDebugLoc())
      m_tasks[&statement] = {prepare.getFunction(), prepare.getDebugLoc().get(), number};
  }

  /// Describes the variables of all these.
  void write() {
    while (!m_tasks.empty())
      write(*m_tasks.begin()->first);
  }

 private:
  struct task {
    const llvm::Function *creator;
    llvm::DILocation *where; // in the creator
    unsigned number;
  };
  struct declared {
    llvm::StringRef name;
    unsigned line;
    const llvm::DIScope *scope;
    llvm::DIType *type;
  };

  void write(llvm::Function &statement) {
    const task of = m_tasks[&statement];
    m_tasks.erase(&statement);
    if (const auto outer = m_tasks.find(const_cast<llvm::Function *>(of.creator));
        outer != m_tasks.end()) // its variables are captured again
      write(*outer->first);
    const auto found = g_kept.find(of.number);
    if (found == g_kept.end())
      return;
    llvm::DISubprogram &scope = *statement.getSubprogram();
    llvm::DIBuilder builder(module, /*AllowUnresolved=*/true, scope.getUnit());
    auto *const where = llvm::DILocation::get(module.getContext(), scope.getScopeLine(), 0, &scope);
    const place at(statement, optimizes);
    variables_of(statement); // its own ones, before those that are captured
    for (const kept_variable &variable : found->second) {
      llvm::DIType *type = type_of(variable, of);
      if (!type)
        continue;
      std::size_t used = 0;
      type = with_extents(type, variable.extents, used, [&](std::uint64_t offset) {
        auto *const extent = builder.createAutoVariable(
            &scope, "__vla_expr", scope.getFile(), 0,
            builder.createBasicType("unsigned long", 64, llvm::dwarf::DW_ATE_unsigned), false,
            llvm::DINode::FlagArtificial);
        at.describe(builder, *extent, offset, false, where);
        return extent;
      });
      auto *const described = builder.createAutoVariable(&scope, variable.name, scope.getFile(),
                                                         variable.line, type);
      at.describe(builder, *described, variable.offset, variable.is_address, where);
      variables_of(statement).push_back({described->getName(), variable.line, &scope, type});
    }
  }

  /// Says where the variables of a statement are: in front of all code, and to its end where nothing is optimized.
  class place {
   public:
    place(llvm::Function &statement, bool optimizes)
        : m_first(&*statement.getEntryBlock().getFirstInsertionPt()), m_variables(statement.getArg(0)) {
      for (llvm::User *user : m_variables->users())
        if (auto *const store = llvm::dyn_cast<llvm::StoreInst>(user);
            store && !optimizes && store->getValueOperand() == m_variables) {
          m_kept_at = store->getPointerOperand();
          m_first = store->getNextNode();
        }
    }
    void describe(llvm::DIBuilder &builder, llvm::DILocalVariable &variable, std::uint64_t offset,
                  bool is_address, const llvm::DILocation *where) const {
      using namespace llvm::dwarf;
      llvm::SmallVector<std::uint64_t, 4> path;
      if (m_kept_at)
        path.push_back(DW_OP_deref);
      path.append({DW_OP_plus_uconst, offset});
      if (is_address)
        path.push_back(DW_OP_deref);
      if (m_kept_at) {
        builder.insertDeclare(m_kept_at, &variable, builder.createExpression(path), where, m_first);
        return;
      }
      path.push_back(DW_OP_deref); // the value of the variable
      builder.insertDbgValueIntrinsic(m_variables, &variable, builder.createExpression(path), where,
                                      m_first);
    }

   private:
    llvm::Instruction *m_first;
    llvm::Argument *m_variables;
    llvm::Value *m_kept_at = nullptr; // memory with that argument
  };

  /// Returns what the name of a captured variable means where the task is created.
  llvm::DIType *type_of(const kept_variable &variable, const task &of) {
    for (const llvm::DIScope *scope = of.where->getScope(); scope;
         scope = llvm::isa<llvm::DILexicalBlockBase>(scope) ? scope->getScope() : nullptr)
      for (const declared &one : variables_of(*of.creator))
        if (one.name == variable.name && one.line == variable.line && one.scope == scope)
          return one.type;
    for (const llvm::GlobalVariable &global : module.globals()) { // a reduction's name for a global variable
      llvm::SmallVector<llvm::DIGlobalVariableExpression *, 1> all;
      global.getDebugInfo(all);
      for (const llvm::DIGlobalVariableExpression *one : all)
        if (one->getVariable()->getName() == variable.name)
          return one->getVariable()->getType();
    }
    return nullptr;
  }

  std::vector<declared> &variables_of(const llvm::Function &f) {
    const auto [found, is_new] = m_variables.try_emplace(&f);
    if (!is_new)
      return found->second;
    const auto note = [&](const llvm::DILocalVariable *variable) {
      found->second.push_back(
          {variable->getName(), variable->getLine(), variable->getScope(), variable->getType()});
    };
    for (const llvm::BasicBlock &block : f)
      for (const llvm::Instruction &one : block) {
        if (const auto *const call = llvm::dyn_cast<llvm::DbgVariableIntrinsic>(&one))
          note(call->getVariable());
#if LLVM_VERSION_MAJOR >= 19
        for (const llvm::DbgVariableRecord &record : llvm::filterDbgVars(one.getDbgRecordRange()))
          note(record.getVariable());
#endif
      }
    return found->second;
  }

  /// Returns a type whose arrays of run time have extents of the task's own.
  template <class Extent>
  llvm::DIType *with_extents(llvm::DIType *type, const std::vector<std::uint64_t> &extents,
                             std::size_t &used, const Extent &extent) {
    if (!type || used == extents.size())
      return type;
    constexpr unsigned k_base_type = 3; // among the operands
    llvm::LLVMContext &context = module.getContext();
    if (auto *const array = llvm::dyn_cast<llvm::DICompositeType>(type);
        array && array->getTag() == llvm::dwarf::DW_TAG_array_type) {
      llvm::SmallVector<llvm::Metadata *, 3> dimensions;
      for (llvm::DINode *dimension : array->getElements()) {
        const auto *const range = llvm::dyn_cast<llvm::DISubrange>(dimension);
        const bool is_of_run_time = range && llvm::isa_and_nonnull<llvm::DIVariable>(range->getRawCountNode());
        if (is_of_run_time && used != extents.size())
          dimensions.push_back(llvm::DISubrange::get(context, extent(extents[used++]),
                                                     range->getRawLowerBound(), nullptr, nullptr));
        else
          dimensions.push_back(dimension);
      }
      auto made = array->clone();
      made->replaceElements(llvm::MDTuple::get(context, dimensions));
      made->replaceOperandWith(k_base_type, with_extents(array->getBaseType(), extents, used, extent));
      return llvm::MDNode::replaceWithUniqued(std::move(made));
    }
    if (auto *const derived = llvm::dyn_cast<llvm::DIDerivedType>(type)) {
      llvm::DIType *const base = with_extents(derived->getBaseType(), extents, used, extent);
      if (base == derived->getBaseType())
        return type;
      auto made = derived->clone();
      made->replaceOperandWith(k_base_type, base);
      return llvm::MDNode::replaceWithUniqued(std::move(made));
    }
    return type;
  }

  llvm::Module &module;
  bool optimizes;
  std::map<llvm::Function *, task> m_tasks; // that are not described yet
  std::map<const llvm::Function *, std::vector<declared>> m_variables;
};

/// Turns the call of each captured statement of a task into the task's body.
class spawn_pass : public llvm::PassInfoMixin<spawn_pass> {
 public:
  explicit spawn_pass(bool optimizes) : m_optimizes(optimizes) {}
  // NOLINTNEXTLINE: the name is LLVM's
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
    bool changed = false;
    debug_variables described(module, m_optimizes);
    for (llvm::Function &f : module) {
      changed |= run_on(module, f, described);
      changed |= share(module, f);
    }
    described.write();
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
  // NOLINTNEXTLINE: the name is LLVM's
  static bool isRequired() { return true; }

 private:
  /// Lets the files of a program have one function of a reduction: by its address it is known.
  static bool share(llvm::Module &module, llvm::Function &f) {
    if (!f.hasInternalLinkage() || !f.getName().starts_with(k_reduction_name))
      return false;
    f.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
    f.setComdat(module.getOrInsertComdat(f.getName()));
    f.setDSOLocal(false);
    return true;
  }

  static bool run_on(llvm::Module &module, llvm::Function &f, debug_variables &described) {
    std::vector<std::pair<llvm::CallBase *, llvm::CallBase *>> found;
    llvm::CallBase *prepare = nullptr;
    for (llvm::BasicBlock &block : f)
      for (llvm::Instruction &one : block) {
        auto *const call = llvm::dyn_cast<llvm::CallBase>(&one);
        if (!call || !call->getCalledFunction())
          continue;
        const llvm::StringRef name = call->getCalledFunction()->getName();
        if (name.starts_with(k_prepare_name)) {
          prepare = call;
        } else if (prepare && name.starts_with("__captured_stmt")) {
          found.emplace_back(prepare, call);
          prepare = nullptr;
        }
      }
    for (const auto &[begin, body] : found) {
      if (const auto *const number = llvm::dyn_cast<llvm::ConstantInt>(begin->getArgOperand(2)))
        described.add(*body->getCalledFunction(), *begin,
                      static_cast<unsigned>(number->getZExtValue()));
      spawn(module, *begin, *body);
    }
    return !found.empty();
  }

  static llvm::Function *make(llvm::Module &module, llvm::Function &statement,
                              llvm::ArrayRef<llvm::Type *> arguments, llvm::StringRef name) {
    llvm::LLVMContext &context = module.getContext();
    auto *const made = llvm::Function::Create(
        llvm::FunctionType::get(llvm::Type::getInt32Ty(context), arguments, false),
        llvm::GlobalValue::InternalLinkage, name + statement.getName(), module);
    made->setAttributes(llvm::AttributeList().addFnAttributes(
        context, llvm::AttrBuilder(context, statement.getAttributes().getFnAttrs())));
    return made;
  }
  /// Writes the call of the statement with its variables. A body returns 0: the task has not failed.
  static void finish(llvm::IRBuilder<> &in, llvm::Function &statement, llvm::Value *variables) {
    in.CreateCall(&statement, {variables});
    in.CreateRet(in.getInt32(0));
  }

  static llvm::Function *body_of(llvm::Module &module, llvm::Function &statement) {
    llvm::Function *const run =
        make(module, statement, {statement.getArg(0)->getType()}, "weft_oss_run.");
    llvm::IRBuilder<> in(llvm::BasicBlock::Create(module.getContext(), "", run));
    finish(in, statement, run->getArg(0));
    return run;
  }

  /// Returns a weft_loop_body, which writes the chunk into the variables: the chunk is the first of them.
  static llvm::Function *body_of_chunk(llvm::Module &module, llvm::Function &statement) {
    llvm::Type *const pointer = statement.getArg(0)->getType();
    llvm::Function *const run = make(module, statement, {pointer, pointer}, "weft_oss_share.");
    llvm::IRBuilder<> in(llvm::BasicBlock::Create(module.getContext(), "", run));
    llvm::Type *const word = in.getInt64Ty();
    const auto at = [&](unsigned argument, unsigned i) {
      return in.CreateConstGEP1_32(word, run->getArg(argument), i);
    };
    llvm::Value *const first = in.CreateLoad(word, at(0, 0));
    llvm::Value *const limit = in.CreateLoad(word, at(0, 1));
    in.CreateStore(first, at(1, 0));
    in.CreateStore(in.CreateSub(limit, first), at(1, 1));
    finish(in, statement, run->getArg(1));
    return run;
  }

  static void spawn(llvm::Module &module, llvm::CallBase &prepare, llvm::CallBase &body) {
    llvm::Function *const statement = body.getCalledFunction();
    auto *const variables =
        llvm::cast<llvm::AllocaInst>(body.getArgOperand(0)->stripPointerCasts());
    const std::uint64_t bytes =
        module.getDataLayout().getTypeAllocSize(variables->getAllocatedType()).getFixedValue();
    const bool shares = prepare.getCalledFunction()->getName() == k_prepare_loop_name;
    llvm::Function *const run = body_of(module, *statement);
    prepare.setArgOperand(1, shares ? body_of_chunk(module, *statement) : run);
    if (shares)
      prepare.setArgOperand(4, run);
    prepare.setArgOperand(2, llvm::ConstantInt::get(prepare.getArgOperand(2)->getType(), bytes));
    variables->replaceAllUsesWith(&prepare);
    variables->eraseFromParent();
    if (auto *const invoke = llvm::dyn_cast<llvm::InvokeInst>(&body)) { // -fexceptions
      invoke->getUnwindDest()->removePredecessor(invoke->getParent());
      llvm::BranchInst::Create(invoke->getNormalDest(), invoke);
    }
    body.eraseFromParent();
  }

  bool m_optimizes;
};

} // namespace

std::unique_ptr<ASTConsumer> make_capture_consumer() {
  return std::make_unique<capture_consumer>();
}

} // namespace weft_oss

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "weft-oss", "1", [](llvm::PassBuilder &builder) {
            builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager &passes, llvm::OptimizationLevel level) {
                  passes.addPass(weft_oss::spawn_pass(level != llvm::OptimizationLevel::O0));
                });
          }};
}
