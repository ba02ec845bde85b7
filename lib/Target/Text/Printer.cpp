//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Printer.h"

#include "KernelPrinter.h"

#include "zyx/Dialect/Kernel/IR/CrashNote.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zyx::target {

using namespace zyx::kernel;
using std::string;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

Status KernelPrinter::elementsOf(Operation *op, TypeRange types, SmallVectorImpl<Element> &elements) {
  for (Type type : types) {
    ZYX_ASSIGN_OR_RETURN(Element element, elementOf(op, type));
    elements.push_back(element);
  }
  return {};
}

void KernelPrinter::assign(ArrayRef<string> variables, ArrayRef<string> values, ArrayRef<Element> elements) {
  SmallVector<string> sources(values);
  for (size_t i = 0; i < variables.size(); ++i)
    // A variable that is read after it is written needs its old value.
    for (size_t j = i + 1; j < variables.size(); ++j)
      if (sources[j] == variables[i]) {
        string old = fresh("t");
        line(expand(lang.constant, {{'T', valueType(elements[j])}, {'v', old}, {'e', sources[j]}}));
        sources[j] = old;
      }
  for (auto [variable, source] : llvm::zip(variables, sources))
    if (variable != source)
      line(expand(lang.assignment, {{'v', variable}, {'e', source}}));
}

Status KernelPrinter::print(scf::ForOp loop) {
  SmallVector<Element> elements;
  ZYX_RETURN_IF_ERROR(elementsOf(loop, loop.getResultTypes(), elements));
  SmallVector<string> variables;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    variables.push_back(fresh("a"));
    bind(loop.getRegionIterArg(i), variables[i]);
    bind(loop.getResult(i), variables[i]);
    line(expand(lang.variable, {{'T', valueType(elements[i])}, {'v', variables[i]}, {'e', name(init)}}));
  }
  ZYX_ASSIGN_OR_RETURN(Element counter, elementOf(loop, loop.getInductionVar().getType()));
  string induction = bind(loop.getInductionVar(), fresh("i"));
  const char *signedType = lang.signedValues[static_cast<size_t>(counter)];
  line(expand(lang.forBegin, {{'T', valueType(counter)},
                              {'S', signedType ? signedType : ""},
                              {'v', induction},
                              {'a', name(loop.getLowerBound())},
                              {'b', name(loop.getUpperBound())},
                              {'c', name(loop.getStep())}}));
  ++depth;
  ZYX_RETURN_IF_ERROR(print(*loop.getBody()));
  SmallVector<string> values;
  for (Value value : loop.getYieldedValues())
    values.push_back(name(value));
  assign(variables, values, elements);
  --depth;
  line(lang.blockEnd);
  return {};
}

Status KernelPrinter::print(scf::IfOp branch) {
  SmallVector<Element> elements;
  ZYX_RETURN_IF_ERROR(elementsOf(branch, branch.getResultTypes(), elements));
  SmallVector<string> variables;
  for (auto [result, element] : llvm::zip(branch.getResults(), elements)) {
    variables.push_back(bind(result, fresh("a")));
    line(expand(lang.uninitialised, {{'T', valueType(element)}, {'v', name(result)}}));
  }
  auto side = [&](Block &block) -> Status {
    ++depth;
    ZYX_RETURN_IF_ERROR(print(block));
    for (auto [variable, value] : llvm::zip(variables, block.getTerminator()->getOperands()))
      line(expand(lang.assignment, {{'v', variable}, {'e', name(value)}}));
    --depth;
    return {};
  };
  line(expand(lang.ifBegin, {{'e', name(branch.getCondition())}}));
  ZYX_RETURN_IF_ERROR(side(*branch.thenBlock()));
  if (branch.elseBlock()) {
    line(lang.elseBegin);
    ZYX_RETURN_IF_ERROR(side(*branch.elseBlock()));
  }
  line(lang.blockEnd);
  return {};
}

Status KernelPrinter::print(scf::WhileOp loop) {
  SmallVector<Element> carried, results;
  ZYX_RETURN_IF_ERROR(elementsOf(loop, loop.getInits().getTypes(), carried));
  ZYX_RETURN_IF_ERROR(elementsOf(loop, loop.getResultTypes(), results));
  SmallVector<string> before, after, values;
  for (auto [argument, init, element] : llvm::zip(loop.getBeforeArguments(), loop.getInits(), carried)) {
    before.push_back(bind(argument, fresh("a")));
    line(expand(lang.variable, {{'T', valueType(element)}, {'v', name(argument)}, {'e', name(init)}}));
  }
  for (auto [argument, result, element] : llvm::zip(loop.getAfterArguments(), loop.getResults(), results)) {
    after.push_back(bind(argument, bind(result, fresh("a"))));
    line(expand(lang.uninitialised, {{'T', valueType(element)}, {'v', name(result)}}));
  }
  line(lang.foreverBegin);
  ++depth;
  ZYX_RETURN_IF_ERROR(print(*loop.getBeforeBody()));
  for (Value value : loop.getConditionOp().getArgs())
    values.push_back(name(value));
  assign(after, values, results);
  line(expand(lang.breakUnless, {{'e', name(loop.getConditionOp().getCondition())}}));
  ZYX_RETURN_IF_ERROR(print(*loop.getAfterBody()));
  values.clear();
  for (Value value : loop.getYieldOp().getOperands())
    values.push_back(name(value));
  assign(before, values, carried);
  --depth;
  line(lang.blockEnd);
  return {};
}

Status KernelPrinter::print(GridOp grid) {
  string program = fresh("g");
  SmallVector<string> counts;
  for (auto [extent, step] : llvm::zip(grid.getMixedExtents(), grid.getSteps())) {
    if (auto value = getConstantIntValue(extent)) {
      counts.push_back(indexLiteral(llvm::divideCeil(*value, step)));
      continue;
    }
    const string &size = name(cast<Value>(extent));
    counts.push_back(step == 1 ? size
                               : "((" + size + " + " + indexLiteral(step - 1) + ") / " + indexLiteral(step) + ")");
  }
  line(expand(lang.programs, {{'T', valueType(lang.index)}, {'v', program}}));
  ++depth;
  string rest = program;
  for (int64_t dim = counts.size() - 1; dim >= 0; --dim) {
    string position = dim == 0 ? rest : "(" + rest + " % " + counts[dim] + ")";
    rest = "(" + rest + " / " + counts[dim] + ")";
    Value index = grid.getIndices()[dim];
    if (!index.use_empty())
      define(index, lang.index, product(position, indexLiteral(grid.getSteps()[dim])));
  }
  ZYX_RETURN_IF_ERROR(print(grid.getBody().front()));
  --depth;
  line(lang.blockEnd);
  return {};
}

Status KernelPrinter::print(Operation *op) {
  if (isDead(op))
    return {};
  if (auto view = dyn_cast<ViewOp>(op))
    return print(view);
  if (auto alloc = dyn_cast<AllocOp>(op))
    return print(alloc);
  if (auto subview = dyn_cast<SubviewOp>(op))
    return print(subview);
  if (auto load = dyn_cast<LoadOp>(op))
    return print(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return print(store);
  if (auto grid = dyn_cast<GridOp>(op))
    return print(grid);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return print(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return print(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return print(loop);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return print(constant);
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op))
    return printExtended(op);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return printConversion(op);
  return printExpression(op);
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

/// True where the text has the name as a word.
static bool mentions(StringRef text, StringRef name) {
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !llvm::isAlnum(text[at - 1])) && (end == text.size() || !llvm::isAlnum(text[end])))
      return true;
  }
  return false;
}

Status KernelPrinter::print(FuncOp func) {
  if (func.getThreads().value_or(1) != 1 || func.getCluster().value_or(1) != 1)
    return refuse(func, "asks for several threads a program; it is printed for one");
  if (!isIdentifier(func.getName()) ||
      llvm::any_of(lang.reserved, [&](const char *word) { return func.getName() == word; }))
    return refuse(func, Twine("is named '") + func.getName() + "', which no function in " + lang.name + " may be");
  llvm::SmallDenseSet<Value, 8> written;
  func.walk([&](StoreOp store) {
    if (auto view = store.getView().getDefiningOp<ViewOp>())
      written.insert(view.getBuffer());
  });
  Block &body = func.getBody().front();
  SmallVector<std::pair<string, string>> declarations;
  unsigned buffers = 0, scalars = 0;
  for (Value argument : body.getArguments()) {
    auto buffer = dyn_cast<BufferType>(argument.getType());
    if (!buffer && !argument.getType().isIntOrIndex())
      return refuse(func, "takes a scalar that is no integer; scalars are passed as 64-bit integers");
    ZYX_ASSIGN_OR_RETURN(Element element, elementOf(func, buffer ? buffer.getElementType() : argument.getType()));
    unsigned number = buffer ? buffers++ : scalars++;
    const string &name = bind(argument, (buffer ? "b" : "n") + std::to_string(number));
    const char *form = !buffer ? lang.scalar : written.contains(argument) ? lang.bufferWritten : lang.bufferRead;
    declarations.emplace_back(name, expand(form, {{'T', buffer ? memoryType(element) : valueType(element)},
                                                  {'v', name},
                                                  {'n', std::to_string(number)}}));
  }
  bool hasGrid = !body.getOps<GridOp>().empty();
  depth = hasGrid ? 1 : 2;
  ZYX_RETURN_IF_ERROR(print(body));
  string code = std::move(text);
  // Arguments that only the caller's grid depends on are left out.
  text.clear();
  depth = 0;
  line(expand(lang.kernelBegin, {{'v', func.getName().str()}}));
  ++depth;
  for (const auto &[name, declaration] : declarations)
    if (mentions(code, name))
      line(declaration);
  if (!hasGrid)
    line(lang.oneProgram);
  text += code;
  if (!hasGrid)
    line(lang.blockEnd);
  --depth;
  line(lang.blockEnd);
  return {};
}

Result<std::string> printKernels(ModuleOp module, const Language &language) {
  string kernels;
  for (FuncOp func : module.getOps<FuncOp>()) {
    CrashNote note(func);
    KernelPrinter printer(language);
    ZYX_RETURN_IF_ERROR(printer.print(func));
    kernels += "\n" + printer.text;
  }
  // A helper is printed before what uses it, and after what it uses.
  for (const Helper &helper : llvm::reverse(language.helpers))
    if (StringRef(kernels).contains(helper.name))
      kernels = "\n" + string(helper.text) + kernels;
  return language.head + kernels;
}

} // namespace zyx::target
