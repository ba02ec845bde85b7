//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Text/Printer.h"

#include "KernelPrinter.h"

#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Backend/RefuseOp.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zyx::target {

using namespace zyx::kernel;
using std::string;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

Status KernelPrinter::typesOf(Operation *op, TypeRange types, SmallVectorImpl<string> &names) {
  for (Type type : types) {
    ZYX_ASSIGN_OR_RETURN(Element element, elementOf(op, type));
    names.push_back(valueType(element, lanesOf(type)));
  }
  return {};
}

void KernelPrinter::declare(const char *form, Value value, Value other, Value init, const string &type,
                            SmallVectorImpl<string> &variables) {
  const string &variable = variables.emplace_back(fresh("a"));
  width = lanesOf(value.getType());
  line(expand(form, {{'T', type}, {'v', variable}, {'e', init ? name(init) : ""}}));
  width = 1;
  bind(value, variable);
  if (other)
    bind(other, variable);
}

/// True where the text has the name as a word.
static bool mentions(StringRef text, StringRef name) {
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !llvm::isAlnum(text[at - 1])) && (end == text.size() || !llvm::isAlnum(text[end])))
      return true;
  }
  return false;
}

void KernelPrinter::assign(ArrayRef<string> variables, ArrayRef<string> values, ArrayRef<string> types) {
  SmallVector<string> sources(values);
  for (size_t i = 0; i < variables.size(); ++i)
    // A variable that is read after it is written needs its old value.
    for (size_t j = i + 1; j < variables.size(); ++j)
      if (mentions(sources[j], variables[i])) {
        string old = fresh("t");
        line(expand(lang.constant, {{'T', types[j]}, {'v', old}, {'e', sources[j]}}));
        sources[j] = old;
      }
  for (auto [variable, source] : llvm::zip(variables, sources))
    if (variable != source)
      line(expand(lang.assignment, {{'v', variable}, {'e', source}}));
}

/// Ops whose results, and arguments of whose regions, what is in memory is part of. Each use is looked at once.
static llvm::DenseSet<Operation *> findOfMemory(FuncOp func) {
  SmallVector<Operation *> left;
  func.walk([&](LoadOp load) { left.push_back(load); });
  llvm::DenseSet<Operation *> found;
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (isa<FuncOp, GridOp, ViewOp, AllocOp>(op) || !found.insert(op).second)
      continue;
    const auto follow = [&](ValueRange values) {
      for (Value value : values)
        for (Operation *user : value.getUsers())
          // What a region yields is what its op has.
          left.push_back(user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user);
    };
    follow(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        follow(block.getArguments());
  }
  return found;
}

string KernelPrinter::uniform(Operation *around, Value value) {
  const auto meets = [](Operation *op) {
    return isa<BarrierOp, SubgroupReduceOp, SubgroupScanOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (!lang.threads || !lang.threads->uniform[0] || use.groupThreads == 1 || !around->walk(meets).wasInterrupted())
    return name(value);
  if (!ofMemory)
    ofMemory = findOfMemory(around->getParentOfType<FuncOp>());
  Operation *op = value.getDefiningOp();
  if (!ofMemory->contains(op ? op : cast<BlockArgument>(value).getOwner()->getParentOp()))
    return name(value);
  // All threads come to barriers and ops of subgroups (findThreadUse), so that they have this value in common.
  const bool isBool = value.getType().isInteger(1);
  const string shared = fresh("u"), mine = isBool ? expand(lang.storeBool, {{'e', name(value)}}) : name(value);
  for (const char *form : lang.threads->uniform)
    line(expand(form, {{'v', shared}, {'e', mine}}));
  return isBool ? expand(lang.loadBool, {{'e', shared}}) : shared;
}

Status KernelPrinter::print(scf::ForOp loop) {
  SmallVector<string> types;
  ZYX_RETURN_IF_ERROR(typesOf(loop, loop.getResultTypes(), types));
  SmallVector<string> variables;
  for (auto [argument, result, init] : llvm::zip(loop.getRegionIterArgs(), loop.getResults(), loop.getInitArgs()))
    declare(lang.variable, argument, result, init, types[variables.size()], variables);
  ZYX_ASSIGN_OR_RETURN(Element counter, elementOf(loop, loop.getInductionVar().getType()));
  string induction = bind(loop.getInductionVar(), fresh("k"));
  const char *signedType = lang.signedValues[static_cast<size_t>(counter)];
  if (!signedType)
    return refuse(loop, Twine("counts in a type that has no loops in ") + lang.name);
  const string lower = uniform(loop, loop.getLowerBound()), upper = uniform(loop, loop.getUpperBound());
  line(expand(lang.forBegin, {{'T', valueType(counter)},
                              {'S', signedType},
                              {'v', induction},
                              {'a', lower},
                              {'b', upper},
                              {'c', uniform(loop, loop.getStep())}}));
  ++depth;
  ZYX_RETURN_IF_ERROR(print(*loop.getBody()));
  SmallVector<string> values;
  for (Value value : loop.getYieldedValues())
    values.push_back(names[value.getAsOpaquePointer()]);
  assign(variables, values, types);
  --depth;
  line(lang.blockEnd);
  return {};
}

Status KernelPrinter::print(scf::IfOp branch) {
  SmallVector<string> types;
  ZYX_RETURN_IF_ERROR(typesOf(branch, branch.getResultTypes(), types));
  SmallVector<string> variables;
  for (Value result : branch.getResults())
    declare(lang.uninitialised, result, {}, {}, types[variables.size()], variables);
  auto side = [&](Block &block) -> Status {
    ++depth;
    ZYX_RETURN_IF_ERROR(print(block));
    SmallVector<string> values;
    for (Value value : block.getTerminator()->getOperands())
      values.push_back(names[value.getAsOpaquePointer()]);
    for (auto [variable, value] : llvm::zip(variables, values))
      line(expand(lang.assignment, {{'v', variable}, {'e', value}}));
    --depth;
    return {};
  };
  line(expand(lang.ifBegin, {{'e', uniform(branch, branch.getCondition())}}));
  ZYX_RETURN_IF_ERROR(side(*branch.thenBlock()));
  if (branch.elseBlock()) {
    line(lang.elseBegin);
    ZYX_RETURN_IF_ERROR(side(*branch.elseBlock()));
  }
  line(lang.blockEnd);
  return {};
}

Status KernelPrinter::print(scf::WhileOp loop) {
  SmallVector<string> carried, results;
  ZYX_RETURN_IF_ERROR(typesOf(loop, loop.getInits().getTypes(), carried));
  ZYX_RETURN_IF_ERROR(typesOf(loop, loop.getResultTypes(), results));
  SmallVector<string> before, after, values;
  for (auto [argument, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits()))
    declare(lang.variable, argument, {}, init, carried[before.size()], before);
  for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults()))
    declare(lang.uninitialised, result, argument, {}, results[after.size()], after);
  line(lang.foreverBegin);
  ++depth;
  ZYX_RETURN_IF_ERROR(print(*loop.getBeforeBody()));
  for (Value value : loop.getConditionOp().getArgs())
    values.push_back(names[value.getAsOpaquePointer()]);
  assign(after, values, results);
  line(expand(lang.breakUnless, {{'e', uniform(loop, loop.getConditionOp().getCondition())}}));
  ZYX_RETURN_IF_ERROR(print(*loop.getAfterBody()));
  values.clear();
  for (Value value : loop.getYieldOp().getOperands())
    values.push_back(names[value.getAsOpaquePointer()]);
  assign(before, values, carried);
  --depth;
  line(lang.blockEnd);
  return {};
}

Status KernelPrinter::print(GridOp grid) {
  const string &program = bind(grid.getIndices().front(), fresh("g"));
  line(expand(lang.programs, {{'T', valueType(lang.index)}, {'v', program}}));
  ++depth;
  ZYX_RETURN_IF_ERROR(print(grid.getBody().front()));
  // The next program writes what some threads may still read.
  if (!sharedArrays.empty())
    line(lang.threads->barrier);
  --depth;
  line(lang.blockEnd);
  return {};
}

void KernelPrinter::print(IdOp id) {
  if (use.groupThreads == 1) {
    bind(id, indexLiteral(0));
    return;
  }
  const char *text = id.getKind() == IdKind::Lane           ? lang.threads->lane
                     : id.getKind() == IdKind::Subgroup     ? lang.threads->subgroup
                     : id.getKind() == IdKind::NumSubgroups ? lang.threads->subgroups
                                                            : lang.threads->thread;
  define(id, lang.index, text);
}

void KernelPrinter::print(BarrierOp) {
  if (use.groupThreads != 1)
    line(use.readBack.empty() ? lang.threads->barrier : lang.threads->barrierOfAll);
}

void KernelPrinter::comeTo(Operation *op) {
  if (!hasPlaces)
    return;
  if (auto from = op->getLoc()->findInstanceOf<FileLineColLoc>())
    place = (llvm::sys::path::filename(from.getFilename().getValue()) + ":" + Twine(from.getLine())).str();
}

Status KernelPrinter::print(Operation *op) {
  if (isDead(op))
    return {};
  comeTo(op);
  if (op->hasAttr(wideIndexAttr))
    return refuse(op, Twine("may have an index of more than 32 bits, which ") + lang.name + " does not compute with");
  if (auto view = dyn_cast<ViewOp>(op))
    return print(view);
  if (auto alloc = dyn_cast<AllocOp>(op))
    return print(alloc);
  if (auto id = dyn_cast<IdOp>(op))
    return print(id), Status::ok();
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return print(barrier), Status::ok();
  if (auto grid = dyn_cast<GridOp>(op))
    return print(grid);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return print(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return print(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return print(loop);
  if (auto load = dyn_cast<LoadOp>(op))
    return print(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return print(store);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return print(constant);
  if (isa<vector::VectorDialect>(op->getDialect()))
    return printLanes(op);
  return printResults(op);
}

Status KernelPrinter::print(Block &block) {
  for (Operation &op : block.without_terminator())
    ZYX_RETURN_IF_ERROR(print(&op));
  return {};
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// Where a kernel is written that finds `buffer` by a view.
static bool isOf(Value view, Value buffer) {
  auto whole = view.getDefiningOp<ViewOp>();
  return whole && whole.getBuffer() == buffer;
}

Status KernelPrinter::print(FuncOp func) {
  if ((func.getThreads().value_or(1) != 1 && !lang.threads) || func.getCluster().value_or(1) != 1)
    return refuse(func, "asks for several threads a program; it is printed for one");
  if (!isIdentifier(func.getName()) ||
      llvm::any_of(lang.reserved, [&](const char *word) { return func.getName() == word; }))
    return refuse(func, Twine("is named '") + func.getName() + "', which no function in " + lang.name + " may be");
  kernelName = func.getName().str();
  ZYX_ASSIGN_OR_RETURN(use, findThreadUse(func, lang.name, mostPrivateBytes, lang.threads));
  Block &body = func.getBody().front();
  func.walk([&](StoreOp store) {
    for (Value argument : body.getArguments())
      if (isOf(store.getView(), argument))
        written.insert(argument);
  });
  SmallVector<string> parameters, scalarParameters;
  struct Declaration {
    string name, text;
    bool isOutside;
  };
  SmallVector<Declaration> declarations;
  unsigned buffers = 0, scalars = 0;
  for (Value argument : body.getArguments()) {
    auto buffer = dyn_cast<BufferType>(argument.getType());
    ZYX_ASSIGN_OR_RETURN(Element element, elementOf(func, buffer ? buffer.getElementType() : argument.getType()));
    if (!buffer && lang.packed && element != lang.index)
      return refuse(func, Twine("takes a scalar that has no 32 bits, which ") + lang.name + " is not given");
    unsigned number = buffer ? buffers++ : scalars++;
    const bool isOutside = buffer && lang.threads && lang.threads->isDeclaredOutside;
    // Behind its own name: a kernel's may begin with underscores, of which WGSL takes no two in front.
    const string &name =
        bind(argument, (buffer ? "b" : "n") + std::to_string(number) + (isOutside ? "_" + kernelName : ""));
    const char *form = !buffer                           ? lang.scalar
                       : use.readBack.contains(argument) ? lang.threads->bufferShared
                       : written.contains(argument)      ? lang.bufferWritten
                                                         : lang.bufferRead;
    if (lang.threads && !lang.threads->isDeclaredOutside)
      (buffer ? parameters : scalarParameters)
          .push_back(expand(buffer ? lang.threads->bufferParameter : lang.threads->scalarParameter,
                            {{'n', std::to_string(number)}}));
    if (buffer && !memoryType(element))
      return refuse(func, notKept(element));
    declarations.push_back(
        {name,
         expand(form, {{'T', buffer ? elementType(argument, element, written.contains(argument)) : valueType(element)},
                       {'v', name},
                       {'n', std::to_string(number)}}),
         isOutside});
  }
  if (lang.threads && scalars > lang.threads->mostScalars)
    return refuse(func, Twine("has ") + Twine(scalars) + " scalars; a launch has room for " +
                            Twine(lang.threads->mostScalars));
  bool hasGrid = !body.getOps<GridOp>().empty();
  depth = hasGrid ? 1 : 2;
  ZYX_RETURN_IF_ERROR(print(body));
  string code = std::move(text);
  // Arguments that only the caller's grid depends on are left out.
  text.clear();
  place.clear(), toldPlace.clear();
  comeTo(func);
  depth = 0;
  const bool isOutside = lang.threads && lang.threads->isDeclaredOutside;
  if (isOutside)
    text += sharedArrays;
  const auto declare = [&](bool outside) {
    for (const Declaration &each : declarations)
      if (each.isOutside == outside && mentions(code, each.name))
        line(each.text);
  };
  declare(/*outside=*/true);
  parameters.append(scalarParameters);
  line(expand(use.groupThreads != 1 ? lang.threads->groupBegin : lang.kernelBegin,
              {{'v', func.getName().str()},
               {'n', std::to_string(use.groupThreads)},
               {'g', use.hasSubgroups ? lang.threads->subgroupParameters : ""},
               {'p', llvm::join(parameters, ", ") + (parameters.empty() ? "" : ", ")}}));
  ++depth;
  if (!isOutside)
    text += sharedArrays;
  declare(/*outside=*/false);
  if (!hasGrid)
    line(lang.oneProgram);
  text += code;
  if (!hasGrid)
    line(lang.blockEnd);
  --depth;
  line(lang.blockEnd);
  return {};
}

/// Stack that a kernel may use where no record names a machine: threads may have 1 MiB.
static constexpr int64_t unknownStackBytes = 512 << 10;

Result<std::string> printKernels(ModuleOp module, const Language &language, bool hasPlaces) {
  string kernels;
  const TargetInfo *machine = findTarget(module);
  ZYX_ASSERT(machine || !language.threads, "a module of threads names its machine");
  for (FuncOp func : module.getOps<FuncOp>()) {
    if (func.getExternal())
      continue;
    CrashNote note(func);
    OwningOpRef<FuncOp> spelledOut;
    if (language.isSpelledOut) {
      spelledOut = func.clone();
      func = *spelledOut;
      if (failed(lowerFloats(func)))
        return refuseOp(func, "has an op of small floats that is rounded twice");
      spellOut(func);
      if (language.hasWordsAlone)
        splitWideIntegers(func);
      if (language.vectors && language.vectors->isOfMemory)
        keepWholeVectors(func);
      IRRewriter rewriter(func);
      DominanceInfo dominance(func);
      eliminateCommonSubExpressions(rewriter, dominance, func);
    }
    KernelPrinter printer(language, machine ? machine->memory.stackBytes : unknownStackBytes, hasPlaces);
    ZYX_RETURN_IF_ERROR(printer.print(func));
    kernels += "\n" + printer.text;
  }
  return kernels;
}

string completeText(string kernels, const Language &language) {
  // A helper is printed before what uses it, and after what it uses.
  for (size_t list = language.helpers.size(); list-- != 0;)
    for (const Helper &helper : llvm::reverse(language.helpers[list])) {
      const bool isReplaced = llvm::any_of(ArrayRef(language.helpers).take_front(list), [&](ArrayRef<Helper> others) {
        return llvm::any_of(others, [&](const Helper &other) { return StringRef(other.name) == helper.name; });
      });
      if (!isReplaced && StringRef(kernels).contains(helper.name))
        kernels = "\n" + string(helper.text) + kernels;
    }
  unsigned scalars = language.headScalar ? language.threads->mostScalars : 0;
  const auto ofScalar = [&](const char *form, unsigned i) { return expand(form, {{'n', std::to_string(i)}}); };
  while (scalars != 0 && !StringRef(kernels).contains(ofScalar(language.scalarUse, scalars - 1)))
    --scalars;
  string given;
  for (unsigned i = 0; i != scalars; ++i)
    given += ofScalar(language.headScalar, i);
  return expand(language.head, {{'n', given}}) + kernels;
}

} // namespace zyx::target
