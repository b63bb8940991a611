// SPDX-License-Identifier: Apache-2.0
// The variables of tasks in C. Clang makes a function of a captured statement, which has the addresses of the variables
// that the statement uses. The consumer turns those that a task copies into values, and the pass turns the call of the
// function into the body of a task whose variables are written where the task keeps them.
#include "c.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/Sema/Sema.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include <utility>

namespace weft_oss {

using namespace clang;

namespace {

constexpr llvm::StringRef k_task_name = "weft_oss_task_";
constexpr llvm::StringRef k_prepare_name = "weft_oss_prepare";
constexpr llvm::StringRef k_behind_name = "weft_oss_behind";
constexpr unsigned k_alignment = 16; // of a task's variables

/// Functions whose calls are tasks, and what spawns these: the last pragma counts.
using task_functions = std::map<const FunctionDecl *, FunctionDecl *>;

/// Looks for the tasks of a function, the outer ones first. No RecursiveASTVisitor: that takes longer to compile than the rest of the plugin.
class task_reader {
 public:
  task_reader(CompilerInstance &of, const task_functions &all)
      : compiler(of), context(of.getASTContext()), sema(of.getSema()), functions(all) {}

  void walk(Stmt *statement) {
    if (!statement)
      return;
    if (auto *const block = llvm::dyn_cast<CompoundStmt>(statement))
      look(block);
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
    for (Stmt *one : block->body()) {
      if (auto *const declared = llvm::dyn_cast<DeclStmt>(one)) {
        for (Decl *d : declared->decls()) {
          auto *const variable = llvm::dyn_cast<VarDecl>(d);
          if (!variable)
            continue;
          if (variable->getName().starts_with(k_task_name))
            task = variable;
          if (variable->hasInit())
            if (auto *const call =
                    llvm::dyn_cast<CallExpr>(variable->getInit()->IgnoreParenImpCasts()))
              if (const FunctionDecl *const f = call->getDirectCallee()) {
                if (f->getName() == k_prepare_name)
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
            decide(*captured, *rules, *prepare, *behind, *free);
        task = nullptr;
      }
    }
  }

  void error(SourceLocation where, const std::string &text) {
    report_error(compiler.getPreprocessor(), where, text);
  }

  [[nodiscard]] static bool is_pointer(QualType type) { return type->isPointerType(); }

  void decide(CapturedStmt &captured, const sharing_rules &rules, CallExpr &prepare,
              CallExpr &behind, VarDecl &free) {
    auto init = captured.capture_init_begin();
    auto field = captured.getCapturedRecordDecl()->field_begin();
    Expr *extra = nullptr;
    for (const CapturedStmt::Capture &c : captured.captures()) {
      FieldDecl &at = **field++;
      Expr *&value = *init++;
      if (!c.capturesVariable())
        continue; // the extent of an array: a value
      const VarDecl &variable = *c.getCapturedVar();
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
      } else if (rules.by_default == defaults::none &&
                 !llvm::StringRef(name).starts_with("weft_oss_")) {
        error(c.getLocation(), "variable '" + name + "' is in no clause of " + rules.pragma +
                                   ", which has default(none)");
      }
      if (how == reference)
        continue;
      if (context.getAsVariableArrayType(type)) {
        extra = keep(value, type, extra, free);
        continue;
      }
      if (context.getDeclAlign(&variable).getQuantity() > k_alignment) {
        error(c.getLocation(), "variable '" + name + "' has an alignment of " +
                                   std::to_string(context.getDeclAlign(&variable).getQuantity()) +
                                   " bytes, and the copy of a task in C has 16: share it");
        continue;
      }
      at.setType(type.getUnqualifiedType());
      if (!type->isArrayType())
        value = ImplicitCastExpr::Create(context, type.getUnqualifiedType(), CK_LValueToRValue,
                                         value, nullptr, VK_PRValue, FPOptionsOverride());
    }
    if (extra) {
      prepare.setArg(3, extra);
      // The arrays are behind the other variables.
      behind.setArg(1, size_of_variables(captured));
    }
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

  /// Turns the array that a capture refers to into a copy of it, and returns the bytes of all such arrays.
  Expr *keep(Expr *&value, QualType type, Expr *extra, VarDecl &free) {
    const SourceLocation where = value->getExprLoc();
    Expr *const array = value;
    const auto number = [&](unsigned n) -> Expr * {
      return IntegerLiteral::Create(
          context,
          llvm::APInt(static_cast<unsigned>(context.getTypeSize(context.getSizeType())), n),
          context.getSizeType(), where);
    };
    const auto operation = [&](Expr *a, BinaryOperatorKind which, Expr *b) -> Expr * {
      return BinaryOperator::Create(context, a, b, which, context.getSizeType(), VK_PRValue,
                                    OK_Ordinary, where, FPOptionsOverride());
    };
    Expr *const rounded =
        operation(operation(operation(size_of(array), BO_Add, number(15)), BO_Div, number(16)),
                  BO_Mul, number(16));
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
    FunctionDecl *const copy = function("weft_oss_keep");
    if (!copy) {
      error(where, "'#pragma oss' in C needs <weft/oss.h> in front: compile with weft-cc");
      return extra;
    }
    Expr *const callee = ImplicitCastExpr::Create(
        context, context.getPointerType(copy->getType()), CK_FunctionToPointerDecay,
        DeclRefExpr::Create(context, NestedNameSpecifierLoc(), SourceLocation(), copy, false, where,
                            copy->getType(), VK_LValue),
        nullptr, VK_PRValue, FPOptionsOverride());
    sema.MarkFunctionReferenced(where, copy);
    Expr *const call = CallExpr::Create(context, callee, {place, from, size_of(array)},
                                        context.VoidPtrTy, VK_PRValue, where, FPOptionsOverride());
    Expr *const typed = ImplicitCastExpr::Create(context, context.getPointerType(type), CK_BitCast,
                                                 call, nullptr, VK_PRValue, FPOptionsOverride());
    value = UnaryOperator::Create(context, typed, UO_Deref, type, VK_LValue, OK_Ordinary, where,
                                  false, FPOptionsOverride());
    return extra ? operation(extra, BO_Add, rounded) : rounded;
  }

  FunctionDecl *function(llvm::StringRef name) {
    for (NamedDecl *found : context.getTranslationUnitDecl()->lookup(&context.Idents.get(name)))
      if (auto *const f = llvm::dyn_cast<FunctionDecl>(found))
        return f;
    return nullptr;
  }

  CompilerInstance &compiler;
  ASTContext &context;
  Sema &sema;
  const task_functions &functions;
};

class capture_consumer : public ASTConsumer {
 public:
  explicit capture_consumer(CompilerInstance &of) : compiler(of) {}
  // NOLINTNEXTLINE: the name is Clang's
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl *d : group) {
      task_reader tasks(compiler, m_functions);
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
    }
    return true;
  }

 private:
  void note(unsigned number, FunctionDecl &spawns) {
    const std::string *const name = task_function(number);
    if (!name)
      return;
    ASTContext &context = compiler.getASTContext();
    for (const NamedDecl *found :
         context.getTranslationUnitDecl()->lookup(&context.Idents.get(*name)))
      if (const auto *const f = llvm::dyn_cast<FunctionDecl>(found))
        m_functions[f->getCanonicalDecl()] = &spawns;
  }

  CompilerInstance &compiler;
  task_functions m_functions;
};

/// Turns the call of each captured statement of a task into the task's body.
class spawn_pass : public llvm::PassInfoMixin<spawn_pass> {
 public:
  // NOLINTNEXTLINE: the name is LLVM's
  static llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
    bool changed = false;
    for (llvm::Function &f : module)
      changed |= run_on(module, f);
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
  // NOLINTNEXTLINE: the name is LLVM's
  static bool isRequired() { return true; }

 private:
  static bool run_on(llvm::Module &module, llvm::Function &f) {
    std::vector<std::pair<llvm::CallBase *, llvm::CallBase *>> found;
    llvm::CallBase *prepare = nullptr;
    for (llvm::BasicBlock &block : f)
      for (llvm::Instruction &one : block) {
        auto *const call = llvm::dyn_cast<llvm::CallBase>(&one);
        if (!call || !call->getCalledFunction())
          continue;
        const llvm::StringRef name = call->getCalledFunction()->getName();
        if (name == k_prepare_name) {
          prepare = call;
        } else if (prepare && name.starts_with("__captured_stmt")) {
          found.emplace_back(prepare, call);
          prepare = nullptr;
        }
      }
    for (const auto &[begin, body] : found)
      spawn(module, *begin, *body);
    return !found.empty();
  }

  static void spawn(llvm::Module &module, llvm::CallBase &prepare, llvm::CallBase &body) {
    llvm::LLVMContext &context = module.getContext();
    llvm::Function *const statement = body.getCalledFunction();
    auto *const variables =
        llvm::cast<llvm::AllocaInst>(body.getArgOperand(0)->stripPointerCasts());
    const std::uint64_t bytes =
        module.getDataLayout().getTypeAllocSize(variables->getAllocatedType()).getFixedValue();
    // A body returns 0: the task has not failed.
    auto *const type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                               {statement->getArg(0)->getType()}, false);
    auto *const run = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                             "weft_oss_run." + statement->getName(), module);
    run->setAttributes(llvm::AttributeList().addFnAttributes(
        context, llvm::AttrBuilder(context, statement->getAttributes().getFnAttrs())));
    llvm::IRBuilder<> in(llvm::BasicBlock::Create(context, "", run));
    in.CreateCall(statement, {run->getArg(0)});
    in.CreateRet(in.getInt32(0));
    prepare.setArgOperand(1, run);
    prepare.setArgOperand(2, llvm::ConstantInt::get(prepare.getArgOperand(2)->getType(), bytes));
    variables->replaceAllUsesWith(&prepare);
    variables->eraseFromParent();
    if (auto *const invoke = llvm::dyn_cast<llvm::InvokeInst>(&body)) { // -fexceptions
      invoke->getUnwindDest()->removePredecessor(invoke->getParent());
      llvm::BranchInst::Create(invoke->getNormalDest(), invoke);
    }
    body.eraseFromParent();
  }
};

} // namespace

std::unique_ptr<ASTConsumer> make_capture_consumer(CompilerInstance &compiler) {
  return std::make_unique<capture_consumer>(compiler);
}

} // namespace weft_oss

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "weft-oss", "1", [](llvm::PassBuilder &builder) {
            builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
                  passes.addPass(weft_oss::spawn_pass());
                });
          }};
}
