//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The host's side: a plan per function.
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"

#include "Elements.h"

#include "zyx/Conversion/GraphToKernel/Passes.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Dialect/Graph/Transport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace zyx {
#define GEN_PASS_DEF_CONVERTGRAPHTOKERNELPASS
#include "zyx/Conversion/GraphToKernel/Passes.h.inc"
} // namespace zyx

using namespace mlir;
using namespace zyx;
using namespace zyx::graph::ir;

namespace {

/// Builds the plan of one function.
class Planner {
public:
  Planner(func::FuncOp entry, SymbolTable &symbols, Workgroups machine)
      : entry(entry), symbols(symbols), machine(machine), builder(entry.getContext()) {}

  LogicalResult plan();

private:
  LogicalResult wrapOps(Block &block);
  LogicalResult checkSizes();
  plan::FuncOp createFunction();
  LogicalResult planBlock(Block &block);
  LogicalResult launch(GroupOp group);
  LogicalResult repeat(LoopOp loop);
  LogicalResult planBody(LoopOp loop, ArrayRef<Value> carried);
  Value createAlloc(Location loc, Type tensor);
  void createCopy(Location loc, Value from, Value to);
  Value createConstant(Location loc, DenseElementsAttr value);
  plan::BufferType getBufferType(Type tensor);

  func::FuncOp entry;
  SymbolTable &symbols;
  Workgroups machine;
  OpBuilder builder;
  SmallVector<ParameterOp> parameters;
  DenseMap<Value, Value> buffers;
  unsigned numKernels = 0;
};

struct ConvertGraphToKernelPass
    : public zyx::impl::ConvertGraphToKernelPassBase<ConvertGraphToKernelPass> {
  using ConvertGraphToKernelPassBase::ConvertGraphToKernelPassBase;

  void runOnOperation() override;
};

} // namespace

static bool isAlias(Operation *op) { return isa_and_nonnull<ReshapeOp>(op); }

/// The value whose bytes a chain of reshapes shows.
static Value getRoot(Value value) {
  while (isAlias(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Puts what computes outside of groups into groups of one op.
LogicalResult Planner::wrapOps(Block &outer) {
  for (Operation &op : llvm::make_early_inc_range(outer.without_terminator())) {
    if (isa<GroupOp, ConstantOp, ParameterOp>(op) || isAlias(&op))
      continue;
    if (auto loop = dyn_cast<LoopOp>(op)) {
      if (failed(wrapOps(loop.getBlock())))
        return failure();
      continue;
    }
    if (!isa<NodeOpInterface>(op))
      return op.emitOpError("cannot be part of a plan");
    if (isa<RandomBitsOp>(op))
      return op.emitOpError("must have become element-wise ops: -zyx-search-form-groups does that");
    builder.setInsertionPoint(&op);
    auto group = GroupOp::create(builder, op.getLoc(), op.getResultTypes(), op.getOperands());
    Block &block = group.getBody().empty() ? group.getBody().emplaceBlock() : group.getBlock();
    for (Value operand : op.getOperands())
      block.addArgument(operand.getType(), operand.getLoc());
    op.replaceAllUsesWith(group.getResults());
    op.setOperands(block.getArguments());
    op.moveBefore(&block, block.end());
    builder.setInsertionPointToEnd(&block);
    YieldOp::create(builder, op.getLoc(), op.getResults());
  }
  return success();
}

/// Views and the products of a contraction may be larger than any memory; what becomes a buffer may
/// not.
LogicalResult Planner::checkSizes() {
  auto refusal = [](Type tensor) { return byteSize(*toPlainType(tensor)).status(); };
  for (unsigned i = 0; i != entry.getNumResults(); ++i)
    if (Status status = refusal(entry.getResultTypes()[i]); !status.isOk())
      return entry.emitError() << "result '" << getResultName(entry, i)
                               << "': " << status.message();
  WalkResult walked = entry.walk([&](Operation *op) -> WalkResult {
    if (isa<GroupOp, LoopOp>(op))
      for (Type type : op->getResultTypes())
        if (Status status = refusal(type); !status.isOk())
          return op->emitError() << "a result of this " << (isa<LoopOp>(op) ? "loop" : "kernel")
                                 << ": " << status.message();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

plan::BufferType Planner::getBufferType(Type tensor) {
  // checkSizes has accepted it.
  return plan::BufferType::get(builder.getContext(), *toPlainType(tensor));
}

plan::FuncOp Planner::createFunction() {
  Block &block = entry.getBody().front();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  auto add = [&](Type tensor, StringRef kind, StringRef name, bool isWeight = false) {
    types.push_back(getBufferType(tensor));
    SmallVector<NamedAttribute> named{builder.getNamedAttr(kind, builder.getStringAttr(name))};
    if (isWeight)
      named.push_back(builder.getNamedAttr(plan::FuncOp::weightAttr, builder.getUnitAttr()));
    attributes.push_back(builder.getDictionaryAttr(named));
  };
  for (unsigned i = 0; i != block.getNumArguments(); ++i)
    add(block.getArgument(i).getType(), plan::FuncOp::inputAttr, getArgumentName(entry, i),
        isWeight(entry, i));
  llvm::StringMap<unsigned> known;
  for (auto parameter : block.getOps<ParameterOp>())
    if (known.try_emplace(parameter.getName(), types.size()).second)
      add(parameter.getResult().getType(), plan::FuncOp::inputAttr, parameter.getName(),
          /*isWeight=*/true);
  for (unsigned i = 0; i != entry.getNumResults(); ++i)
    add(entry.getResultTypes()[i], plan::FuncOp::outputAttr, getResultName(entry, i));

  builder.setInsertionPoint(entry);
  auto function = plan::FuncOp::create(builder, entry.getLoc(), entry.getName(),
                                       builder.getFunctionType(types, {}), attributes);
  Block &body = function.getBody().front();
  for (unsigned i = 0; i != block.getNumArguments(); ++i)
    buffers[block.getArgument(i)] = body.getArgument(i);
  for (auto parameter : block.getOps<ParameterOp>())
    buffers[parameter.getResult()] = body.getArgument(known[parameter.getName()]);
  return function;
}

Value Planner::createConstant(Location loc, DenseElementsAttr value) {
  plan::BufferType type = getBufferType(value.getType());
  uint64_t size = type.getByteSize();
  if (size > plan::maxConstantBytes) {
    // Only a repeated element is allowed to be this large.
    TypedAttr element = lowering::getSplatElement(value);
    APInt bits = isa<FloatAttr>(element) ? cast<FloatAttr>(element).getValue().bitcastToAPInt()
                                         : cast<IntegerAttr>(element).getValue();
    Type event = plan::EventType::get(builder.getContext());
    Value buffer = plan::AllocOp::create(builder, loc, type);
    plan::FillOp::create(builder, loc, event, buffer,
                         builder.getI64IntegerAttr(bits.getZExtValue()), ValueRange());
    return buffer;
  }
  SmallVector<int8_t> bytes;
  unsigned width = size == 0 ? 0 : size / value.getNumElements();
  auto append = [&](const APInt &bits) {
    for (unsigned i = 0; i != width; ++i)
      bytes.push_back(static_cast<int8_t>(bits.lshr(8 * i).zextOrTrunc(8).getZExtValue()));
  };
  if (isa<FloatType>(value.getElementType()))
    for (const APFloat &element : value.getValues<APFloat>())
      append(element.bitcastToAPInt());
  else
    for (const APInt &element : value.getValues<APInt>())
      append(element.zext(std::max(8u, element.getBitWidth())));
  return plan::ConstantOp::create(builder, loc, type, builder.getDenseI8ArrayAttr(bytes));
}

LogicalResult Planner::launch(GroupOp group) {
  OpBuilder::InsertionGuard guard(builder);
  std::string name = (entry.getName() + "_" + Twine(numKernels++)).str();
  OpBuilder kernelBuilder(entry);
  FailureOr<ConvertedGroup> converted = convertGroup(group, name, kernelBuilder, machine);
  if (failed(converted))
    return failure();
  symbols.insert(converted->kernel);
  // What is said of a group before has its place, and no name yet.
  remark::passed(group.getLoc(), remark::RemarkOpts::name("Kernel").category("zyx-kernel").function(entry.getName()))
      << (converted->kernel.getName() + " is the kernel of the group that ends here").str();
  SmallVector<Value> ins, outs;
  for (Value input : group.getInputs())
    ins.push_back(buffers.lookup(getRoot(input)));
  for (DenseElementsAttr constant : converted->constants)
    ins.push_back(createConstant(group.getLoc(), constant));
  for (Value output : group.getResults()) {
    Value &buffer = buffers[output];
    if (!buffer)
      buffer = createAlloc(group.getLoc(), output.getType());
    outs.push_back(buffer);
  }
  for (const zyx::TensorType &scratch : converted->scratch)
    outs.push_back(plan::AllocOp::create(builder, group.getLoc(),
                                         plan::BufferType::get(builder.getContext(), scratch)));
  plan::LaunchOp::create(builder, group.getLoc(), plan::EventType::get(builder.getContext()),
                         FlatSymbolRefAttr::get(converted->kernel.getSymNameAttr()), ins, outs,
                         builder.getDenseI64ArrayAttr({}),
                         builder.getI64IntegerAttr(converted->flops), ValueRange());
  return success();
}

Value Planner::createAlloc(Location loc, Type tensor) {
  return plan::AllocOp::create(builder, loc, getBufferType(tensor));
}

void Planner::createCopy(Location loc, Value from, Value to) {
  plan::CopyOp::create(builder, loc, plan::EventType::get(builder.getContext()), from, to,
                       ValueRange());
}

/// A loop of the host. What it carries lies in the buffers of its results; what the body hands on as it is
/// stays where it was. A body that hands on everything is no loop, only an order.
LogicalResult Planner::repeat(LoopOp loop) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = loop.getLoc();
  Block &block = loop.getBlock();
  SmallVector<Value> carried;
  bool isLoop = false;
  for (auto [result, initial, argument, next] :
       llvm::zip_equal(loop.getResults(), loop.getInitial(),
                       block.getArguments().slice(1, loop.getInitial().size()),
                       block.getTerminator()->getOperands())) {
    Value &buffer = buffers[result];
    isLoop |= next != argument;
    Value first = buffers.lookup(getRoot(initial));
    if (!buffer && next == argument) {
      carried.push_back(buffer = first);
      continue;
    }
    if (!buffer)
      buffer = createAlloc(loc, result.getType());
    carried.push_back(buffer);
    createCopy(loc, first, buffer);
  }
  if (!isLoop)
    return success();
  SmallVector<Value> inside = carried;
  for (Value invariant : loop.getInvariants())
    inside.push_back(buffers.lookup(getRoot(invariant)));
  for (auto [argument, buffer] : llvm::zip_equal(block.getArguments().drop_front(), inside))
    buffers[argument] = buffer;
  Value index, count;
  if (!block.getArgument(0).use_empty())
    index = buffers[block.getArgument(0)] = createAlloc(loc, block.getArgument(0).getType());
  if (loop.getCount())
    count = buffers.lookup(getRoot(loop.getCount()));

  auto repeated =
      plan::LoopOp::create(builder, loc, plan::EventType::get(builder.getContext()),
                           loop.getTripsAttr(), count, index, ValueRange());
  Block &body = repeated.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&body);
  if (failed(planBody(loop, carried)))
    return failure();
  plan::ReturnOp::create(builder, loc);
  return success();
}

/// The body, and what it yields into the buffers of what is carried.
LogicalResult Planner::planBody(LoopOp loop, ArrayRef<Value> carried) {
  if (failed(planBlock(loop.getBlock())))
    return failure();
  Operation *yield = loop.getBlock().getTerminator();
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [value, buffer] : llvm::zip_equal(yield->getOperands(), carried)) {
    Value from = buffers.lookup(getRoot(value));
    if (from == buffer)
      continue;
    // Another carried value might be overwritten before it is read.
    if (llvm::is_contained(carried, from)) {
      Value kept = createAlloc(loop.getLoc(), value.getType());
      createCopy(loop.getLoc(), from, kept);
      from = kept;
    }
    copies.push_back({from, buffer});
  }
  for (auto [from, to] : copies)
    createCopy(loop.getLoc(), from, to);
  return success();
}

LogicalResult Planner::planBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      buffers[constant.getResult()] = createConstant(op.getLoc(), constant.getValue());
    else if (auto group = dyn_cast<GroupOp>(op); group && failed(launch(group)))
      return failure();
    else if (auto loop = dyn_cast<LoopOp>(op); loop && failed(repeat(loop)))
      return failure();
  }
  return success();
}

LogicalResult Planner::plan() {
  if (failed(wrapOps(entry.getBody().front())) || failed(checkSizes()))
    return failure();
  plan::FuncOp function = createFunction();
  symbols.remove(entry);
  symbols.insert(function);
  Block &block = entry.getBody().front(), &body = function.getBody().front();
  auto outputs = body.getArguments().take_back(entry.getNumResults());
  Operation *terminator = block.getTerminator();
  // A result of a group or of a loop is written where the caller wants it.
  for (auto [value, output] : llvm::zip_equal(terminator->getOperands(), outputs))
    if (Value root = getRoot(value); isa_and_nonnull<GroupOp, LoopOp>(root.getDefiningOp()))
      buffers.try_emplace(root, output);

  builder.setInsertionPointToEnd(&body);
  if (failed(planBlock(block)))
    return failure();
  for (auto [value, output] : llvm::zip_equal(terminator->getOperands(), outputs))
    if (Value buffer = buffers.lookup(getRoot(value)); buffer != output)
      createCopy(terminator->getLoc(), buffer, output);
  plan::ReturnOp::create(builder, terminator->getLoc());
  entry.erase();
  return success();
}

void ConvertGraphToKernelPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto entry : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    if (!entry.getBody().hasOneBlock()) {
      entry.emitOpError("needs a body of one block to become a plan");
      return signalPassFailure();
    }
    if (failed(graph::ir::requireNumbers(entry)))
      return signalPassFailure();
    if (failed(Planner(entry, symbols, {threads, sharedBytes, warpSize}).plan()))
      return signalPassFailure();
  }
}
