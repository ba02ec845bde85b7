//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Detail.h"

#include "zyx/Dialect/Plan/IR/PlanDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace zyx::kernel {

std::string freshName(ModuleOp module, StringRef wanted) {
  std::string name = wanted.str();
  for (unsigned i = 0; module.lookupSymbol(name); ++i)
    name = (wanted + "." + Twine(i)).str();
  return name;
}

LLVM::LLVMFuncOp createFunction(OpBuilder &builder, Location loc, StringRef name, ArrayRef<Type> arguments,
                                LLVM::Linkage linkage) {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), arguments);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type, linkage);
  // Keeps unwind tables out of the object.
  function.setPassthroughAttr(builder.getArrayAttr(builder.getStringAttr("nounwind")));
  return function;
}

void keepArgumentCount(FuncOp func, LLVM::LLVMFuncOp code) {
  code->setAttr(plan::PlanDialect::argumentsAttr,
                IntegerAttr::get(IntegerType::get(func.getContext(), 64), func.getNumArguments()));
}

namespace {

/// `@k`: unpacks the arguments, and returns at once where the range is empty.
void createEntry(OpBuilder &builder, FuncOp func, LLVM::LLVMFuncOp body, StringRef name) {
  Location loc = func.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  LLVM::LLVMFuncOp entry = createFunction(builder, loc, name, {pointer, i64, i64}, LLVM::Linkage::External);
  OpBuilder::InsertionGuard guard(builder);
  Block *start = entry.addEntryBlock(builder);
  Block *run = builder.createBlock(&entry.getBody(), entry.getBody().end());
  Block *end = builder.createBlock(&entry.getBody(), entry.getBody().end());
  Value begin = start->getArgument(1), limit = start->getArgument(2);

  builder.setInsertionPointToEnd(start);
  Value any = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, begin, limit);
  LLVM::CondBrOp::create(builder, loc, any, run, end);

  builder.setInsertionPointToEnd(run);
  // struct KernelArgs { void *const *buffers; const int64_t *scalars; }
  auto field = [&](Value base, Type element, int64_t index) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, element, base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  };
  Value args = start->getArgument(0);
  Value buffers = LLVM::LoadOp::create(builder, loc, pointer, args);
  Value scalars = LLVM::LoadOp::create(builder, loc, pointer, field(args, pointer, 1));
  SmallVector<Value> operands;
  int64_t numBuffers = 0, numScalars = 0;
  for (Type type : func.getArgumentTypes()) {
    if (isa<BufferType>(type)) {
      Value slot = field(buffers, pointer, numBuffers++);
      operands.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
      continue;
    }
    Value slot = field(scalars, i64, numScalars++);
    Value scalar = LLVM::LoadOp::create(builder, loc, i64, slot);
    if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() < 64)
      scalar = LLVM::TruncOp::create(builder, loc, type, scalar);
    operands.push_back(scalar);
  }
  operands.append({begin, limit});
  LLVM::CallOp::create(builder, loc, body, operands);
  LLVM::BrOp::create(builder, loc, end);

  builder.setInsertionPointToEnd(end);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

Value cast(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (type.isIndex() && value.getType().isInteger())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return UnrealizedConversionCastOp::create(builder, loc, type, value).getResult(0);
}

/// Programs of a grid; none where data says how many there are, or these are more than 31 bits count.
std::optional<int64_t> countPrograms(GridOp grid) {
  int64_t programs = 1;
  for (auto [extent, step] : llvm::zip(grid.getMixedExtents(), grid.getSteps())) {
    std::optional<int64_t> value = getConstantIntValue(extent);
    if (!value || llvm::MulOverflow(programs, static_cast<int64_t>(llvm::divideCeil(*value, step)), programs) ||
        programs > std::numeric_limits<int32_t>::max())
      return std::nullopt;
  }
  return programs;
}

/// Whether a dimension of a grid is known to have a single program.
bool hasOneProgram(GridOp grid, int64_t dim) {
  std::optional<int64_t> extent = getConstantIntValue(grid.getMixedExtents()[dim]);
  return extent && *extent > 0 && *extent <= grid.getSteps()[dim];
}

/// The first dimension of a grid with several programs, or else the last one.
int64_t findOuterDim(GridOp grid) {
  const auto last = static_cast<int64_t>(grid.getSteps().size()) - 1;
  int64_t dim = 0;
  while (dim < last && hasOneProgram(grid, dim))
    ++dim;
  return dim;
}

/// The grid becomes a loop over linear program numbers, in steps of `step`. Threads of a GPU divide numbers of 32 bits
/// in a fifth of the instructions that 64 bits take. A number that is divided by nothing stays as wide as addresses,
/// and LLVM is told its range: that a number which is cut and widened grows by steps it does not see, and a thread
/// would keep both.
void lowerGrid(GridOp grid, Value begin, Value end, Value step) {
  OpBuilder builder(grid);
  Location loc = grid.getLoc();
  Type index = builder.getIndexType();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  const int64_t outer = findOuterDim(grid), rank = static_cast<int64_t>(grid.getSteps().size());
  bool isDivided = false;
  for (int64_t dim = outer + 1; dim < rank; ++dim)
    isDivided |= !hasOneProgram(grid, dim);
  const std::optional<int64_t> programs = step ? countPrograms(grid) : std::nullopt;
  const bool isNarrow = programs && isDivided;
  const Type number = isNarrow ? builder.getI32Type() : index;
  auto narrow = [&](Value value) -> Value {
    return isNarrow ? arith::IndexCastUIOp::create(builder, loc, number, value).getResult() : value;
  };
  auto widen = [&](Value value) -> Value {
    return isNarrow ? arith::IndexCastUIOp::create(builder, loc, index, value).getResult() : value;
  };

  // Programs along each dimension.
  SmallVector<Value> counts;
  for (auto [extent, step] : llvm::zip(grid.getMixedExtents(), grid.getSteps())) {
    if (auto value = getConstantIntValue(extent)) {
      counts.push_back(constant(llvm::divideCeil(*value, step)));
      continue;
    }
    Value rounded = arith::AddIOp::create(builder, loc, cast<Value>(extent), constant(step - 1));
    counts.push_back(arith::DivUIOp::create(builder, loc, rounded, constant(step)));
  }
  auto loop = scf::ForOp::create(builder, loc, cast(builder, loc, begin, index), cast(builder, loc, end, index),
                                 step ? cast(builder, loc, step, index) : constant(1));
  builder.setInsertionPointToStart(loop.getBody());
  if (programs && !isDivided)
    LLVM::AssumeOp::create(
        builder, loc,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, loop.getInductionVar(), constant(*programs)));
  Value rest = narrow(loop.getInductionVar());
  Block *body = &grid.getBody().front();
  SmallVector<Value> indices(counts.size());
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    if (dim < outer) {
      indices[dim] = constant(0);
      continue;
    }
    Value position = rest;
    if (dim > outer) {
      Value count = narrow(counts[dim]);
      position = arith::RemUIOp::create(builder, loc, rest, count);
      rest = arith::DivUIOp::create(builder, loc, rest, count);
    }
    position = widen(position);
    int64_t step = grid.getSteps()[dim];
    indices[dim] = step == 1 ? position : arith::MulIOp::create(builder, loc, position, constant(step));
  }
  body->getTerminator()->erase();
  IRRewriter rewriter(builder);
  rewriter.inlineBlockBefore(body, loop.getBody()->getTerminator(), indices);
  grid.erase();
}

} // namespace

LogicalResult checkFunction(FuncOp func, int64_t mostThreads, int64_t mostCluster) {
  if (static_cast<int64_t>(func.getThreads().value_or(1)) > mostThreads ||
      static_cast<int64_t>(func.getCluster().value_or(1)) > mostCluster)
    return func.emitOpError() << "asks for " << func.getThreads().value_or(1) << " threads in a cluster of "
                              << func.getCluster().value_or(1) << ", where a program is one thread";
  for (Type type : func.getArgumentTypes())
    if (isa<FloatType>(type))
      return func.emitOpError() << "takes a scalar of type " << type << "; scalars are passed as 64-bit integers";
  return success();
}

void moveCode(FuncOp func, ValueRange given, LLVM::LLVMFuncOp body, Value begin, Value end, Value step) {
  Location loc = func.getLoc();
  Block *start = &body.getBody().front();
  OpBuilder builder(start, start->end());
  SmallVector<Value> arguments;
  for (auto [value, type] : llvm::zip(given, func.getArgumentTypes()))
    arguments.push_back(cast(builder, loc, value, type));
  Block *code = &func.getBody().front();
  code->getTerminator()->erase();
  IRRewriter rewriter(builder);
  rewriter.setInsertionPointToEnd(start);
  LLVM::ReturnOp::create(rewriter, loc, ValueRange());
  Operation *before = start->getTerminator();
  // Of threads, which run what stands outside of a grid, one is to compute what has none.
  if (step && code->getOps<GridOp>().empty()) {
    rewriter.setInsertionPoint(before);
    Type index = builder.getIndexType();
    auto cast = [&](Value value) -> Value { return arith::IndexCastOp::create(rewriter, loc, index, value); };
    auto loop = scf::ForOp::create(rewriter, loc, cast(begin), cast(end), cast(step));
    before = loop.getBody()->getTerminator();
  }
  rewriter.inlineBlockBefore(code, before, arguments);
  for (GridOp grid : llvm::make_early_inc_range(start->getOps<GridOp>()))
    lowerGrid(grid, begin, end, step);
}

FailureOr<LLVM::LLVMFuncOp> lowerFunction(FuncOp func) {
  Location loc = func.getLoc();
  if (failed(checkFunction(func)))
    return failure();
  OpBuilder builder(func);
  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  Type i64 = builder.getI64Type();
  SmallVector<Type> types;
  for (Type type : func.getArgumentTypes())
    types.push_back(isa<BufferType>(type) ? Type(pointer) : type.isIndex() ? i64 : type);
  types.append({i64, i64});

  std::string name = func.getName().str();
  ModuleOp module = func->getParentOfType<ModuleOp>();
  LLVM::LLVMFuncOp body =
      createFunction(builder, loc, freshName(module, name + ".body"), types, LLVM::Linkage::Internal);
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (isa<BufferType>(type)) {
      body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
      body.setArgAttr(i, LLVM::LLVMDialect::getNoCaptureAttrName(), builder.getUnitAttr());
    }
  createEntry(builder, func, body, freshName(module, name + ".entry"));
  auto entry = cast<LLVM::LLVMFuncOp>(*std::prev(builder.getInsertionPoint()));
  keepArgumentCount(func, entry);

  ValueRange arguments = body.addEntryBlock(builder)->getArguments();
  moveCode(func, arguments, body, arguments[types.size() - 2], arguments[types.size() - 1]);
  func.erase();
  entry.setSymName(name);
  return body;
}

} // namespace zyx::kernel
