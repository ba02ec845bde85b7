//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The host's side: a plan per function.
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"

#include "CarriedValues.h"
#include "Elements.h"
#include "LoopKernel.h"
#include "OrderKernels.h"

#include "zyx/Conversion/GraphToKernel/Passes.h"
#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/Analysis/RecurrentShape.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Target/Info/Budgets.h"

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
  LogicalResult launchElements(GroupOp group);
  LogicalResult repeat(LoopOp loop);
  LogicalResult planBody(LoopOp loop, int64_t number, ArrayRef<SmallVector<Value>> cells);
  FailureOr<ConvertedGroup> convert(GroupOp group, bool isUpdate);
  bool isStored(ConstantOp constant) const;
  Value getBuffer(Value value) { return buffers.lookup(reuse.getRoot(value)); }
  Value createAlloc(Location loc, Type tensor);
  void createCopy(Location loc, Value from, Value to);
  void put(Location loc, Value value, Value to);
  void createFill(Location loc, DenseElementsAttr splat, Value to);
  Value createConstant(Location loc, DenseElementsAttr value);
  plan::BufferType getBufferType(Type tensor);

  func::FuncOp entry;
  SymbolTable &symbols;
  Workgroups machine;
  OpBuilder builder;
  SmallVector<ParameterOp> parameters;
  DenseMap<Value, Value> buffers;
  lowering::MemoryReuse reuse;
  /// By group, and whether it updates: a loop of several bodies launches its kernels in each.
  std::map<std::pair<Operation *, bool>, ConvertedGroup> converted;
  unsigned numKernels = 0;
};

struct ConvertGraphToKernelPass : public zyx::impl::ConvertGraphToKernelPassBase<ConvertGraphToKernelPass> {
  using ConvertGraphToKernelPassBase::ConvertGraphToKernelPassBase;

  void runOnOperation() override;
};

} // namespace

static bool isAlias(Operation *op) { return isa_and_nonnull<ReshapeOp>(op); }

/// Puts what computes outside of groups into groups of one op.
LogicalResult Planner::wrapOps(Block &outer) {
  for (Operation &op : llvm::make_early_inc_range(outer.without_terminator())) {
    if (isa<GroupOp, ConstantOp, ParameterOp>(op) || isAlias(&op))
      continue;
    if (auto loop = dyn_cast<LoopOp>(op)) {
      if (loop->hasAttr(oneKernelAttrName)) {
        lowering::wrapLoop(loop, builder);
        continue;
      }
      if (failed(wrapOps(loop.getBlock())))
        return failure();
      continue;
    }
    if (!isa<NodeOpInterface, ExternalOp>(op))
      return op.emitOpError("cannot be part of a plan");
    if (isa<RandomBitsOp>(op))
      return op.emitOpError("must have become element-wise ops: -zyx-fusion-expand-random-bits does that");
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
  reuse.delayUpdates(outer);
  return success();
}

/// Views and the products of a contraction may be larger than any memory; what becomes a buffer may
/// not.
LogicalResult Planner::checkSizes() {
  auto refusal = [](Type tensor) { return byteSize(*toPlainType(tensor)).status(); };
  for (unsigned i = 0; i != entry.getNumResults(); ++i)
    if (Status status = refusal(entry.getResultTypes()[i]); !status.isOk())
      return entry.emitError() << "result '" << getResultName(entry, i) << "': " << status.message();
  WalkResult walked = entry.walk([&](Operation *op) -> WalkResult {
    if (isa<GroupOp, LoopOp>(op))
      for (Type type : op->getResultTypes())
        if (Status status = refusal(type); !status.isOk())
          return op->emitError() << "a result of this " << (isa<LoopOp>(op) ? "loop" : "kernel") << ": "
                                 << status.message();
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
    add(block.getArgument(i).getType(), plan::FuncOp::inputAttr, getArgumentName(entry, i), isWeight(entry, i));
  llvm::StringMap<unsigned> known;
  for (auto parameter : block.getOps<ParameterOp>())
    if (known.try_emplace(parameter.getName(), types.size()).second)
      add(parameter.getResult().getType(), plan::FuncOp::inputAttr, parameter.getName(),
          /*isWeight=*/true);
  for (unsigned i = 0; i != entry.getNumResults(); ++i)
    add(entry.getResultTypes()[i], plan::FuncOp::outputAttr, getResultName(entry, i));

  builder.setInsertionPoint(entry);
  auto function =
      plan::FuncOp::create(builder, entry.getLoc(), entry.getName(), builder.getFunctionType(types, {}), attributes);
  Block &body = function.getBody().front();
  for (unsigned i = 0; i != block.getNumArguments(); ++i)
    buffers[block.getArgument(i)] = body.getArgument(i);
  for (auto parameter : block.getOps<ParameterOp>())
    buffers[parameter.getResult()] = body.getArgument(known[parameter.getName()]);
  return function;
}

void Planner::createFill(Location loc, DenseElementsAttr splat, Value to) {
  TypedAttr element = lowering::getSplatElement(splat);
  APInt bits = isa<FloatAttr>(element) ? cast<FloatAttr>(element).getValue().bitcastToAPInt()
                                       : cast<IntegerAttr>(element).getValue();
  plan::FillOp::create(builder, loc, plan::EventType::get(builder.getContext()), to,
                       builder.getI64IntegerAttr(bits.getZExtValue()), ValueRange());
}

/// Writes a value to a buffer, unless it lies there.
void Planner::put(Location loc, Value value, Value to) {
  Value root = reuse.getRoot(value), from = buffers.lookup(root);
  if (from == to)
    return;
  auto constant = root.getDefiningOp<ConstantOp>();
  if (!constant)
    return createCopy(loc, from, to);
  if (constant.getValue().isSplat())
    return createFill(loc, constant.getValue(), to);
  createCopy(loc, from ? from : createConstant(loc, constant.getValue()), to);
}

Value Planner::createConstant(Location loc, DenseElementsAttr value) {
  plan::BufferType type = getBufferType(value.getType());
  uint64_t size = type.getByteSize();
  if (size > plan::maxConstantBytes) {
    // Only a repeated element is allowed to be this large.
    Value buffer = plan::AllocOp::create(builder, loc, type);
    createFill(loc, value, buffer);
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

FailureOr<ConvertedGroup> Planner::convert(GroupOp group, bool isUpdate) {
  if (auto known = converted.find({group, isUpdate}); known != converted.end())
    return known->second;
  std::string name = (entry.getName() + "_" + Twine(numKernels++)).str();
  // Whoever reads times sees that it has all trips of a loop, each of which waits for the one before.
  if (LoopOp loop = lowering::findLoop(group); loop && RecurrentShape::of(loop))
    name += "_recurrent";
  // And that it reads what it sorts more than once.
  if (!group.getBlock().getOps<SortOp>().empty())
    name += "_sort";
  OpBuilder kernelBuilder(entry);
  FailureOr<ConvertedGroup> made = convertGroup(group, name, kernelBuilder, machine, isUpdate);
  if (failed(made))
    return failure();
  symbols.insert(made->kernel);
  // What is said of a group before has its place, and no name yet.
  remark::passed(group.getLoc(), remark::RemarkOpts::name("Kernel").category("zyx-kernel").function(entry.getName()))
      << (made->kernel.getName() + " is the kernel of the group that ends here").str();
  return converted.try_emplace({group, isUpdate}, std::move(*made)).first->second;
}

LogicalResult Planner::launch(GroupOp group) {
  OpBuilder::InsertionGuard guard(builder);
  if (group->hasAttr(elementsAttrName))
    return launchElements(group);
  // A scatter whose operand nobody reads any more updates it.
  Value taken = reuse.findTaken(group.getResult(0));
  bool isUpdate = false;
  if (taken) {
    Value memory = buffers.lookup(taken);
    isUpdate = buffers.try_emplace(group.getResult(0), memory).first->second == memory;
  }
  if (OpOperand *begin = !isUpdate && reuse.isCopied(group) ? lowering::findUpdated(group) : nullptr) {
    Value &buffer = buffers[group.getResult(0)];
    if (!buffer)
      buffer = createAlloc(group.getLoc(), group.getResult(0).getType());
    if (Value from = getBuffer(begin->get()); from && from != buffer) {
      createCopy(group.getLoc(), from, buffer);
      isUpdate = true;
    }
  }
  FailureOr<ConvertedGroup> made = convert(group, isUpdate);
  if (failed(made))
    return failure();
  OpOperand *updated = isUpdate ? lowering::findUpdated(group) : nullptr;
  SmallVector<Value> ins, outs;
  for (OpOperand &input : group->getOpOperands())
    if (&input != updated)
      ins.push_back(getBuffer(input.get()));
  for (DenseElementsAttr constant : made->constants)
    ins.push_back(createConstant(group.getLoc(), constant));
  for (Value output : group.getResults()) {
    Value &buffer = buffers[output];
    if (!buffer)
      buffer = createAlloc(group.getLoc(), output.getType());
    outs.push_back(buffer);
  }
  for (const zyx::TensorType &scratch : made->scratch)
    outs.push_back(
        plan::AllocOp::create(builder, group.getLoc(), plan::BufferType::get(builder.getContext(), scratch)));
  plan::LaunchOp::create(builder, group.getLoc(), plan::EventType::get(builder.getContext()),
                         FlatSymbolRefAttr::get(made->kernel.getSymNameAttr()), ins, outs,
                         builder.getDenseI64ArrayAttr({}), builder.getI64IntegerAttr(made->flops), ValueRange(),
                         isUpdate ? builder.getUnitAttr() : UnitAttr(), builder.getI64IntegerAttr(made->bytes));
  return success();
}

/// A group of a trip's elements updates the rows that it scatters, which are rather copied first where others read
/// them.
LogicalResult Planner::launchElements(GroupOp group) {
  FailureOr<ConvertedGroup> made = convert(group, /*isUpdate=*/true);
  if (failed(made))
    return failure();
  SmallVector<OpOperand *> updated;
  SmallVector<Value> ins, outs;
  for (OpResult output : group->getResults()) {
    OpOperand *begin = lowering::findUpdated(output);
    Value taken = begin ? reuse.findTaken(output) : Value();
    Value &buffer = buffers[output];
    if (!buffer)
      buffer = taken ? buffers.lookup(taken) : createAlloc(group.getLoc(), output.getType());
    outs.push_back(buffer);
    if (!begin)
      continue;
    updated.push_back(begin);
    put(group.getLoc(), begin->get(), buffer);
  }
  for (OpOperand &input : group->getOpOperands())
    if (!llvm::is_contained(updated, &input))
      ins.push_back(getBuffer(input.get()));
  plan::LaunchOp::create(builder, group.getLoc(), plan::EventType::get(builder.getContext()),
                         FlatSymbolRefAttr::get(made->kernel.getSymNameAttr()), ins, outs,
                         builder.getDenseI64ArrayAttr({}), builder.getI64IntegerAttr(made->flops), ValueRange(),
                         updated.empty() ? UnitAttr() : builder.getUnitAttr(), builder.getI64IntegerAttr(made->bytes));
  return success();
}

Value Planner::createAlloc(Location loc, Type tensor) {
  return plan::AllocOp::create(builder, loc, getBufferType(tensor));
}

void Planner::createCopy(Location loc, Value from, Value to) {
  plan::CopyOp::create(builder, loc, plan::EventType::get(builder.getContext()), from, to, ValueRange());
}

static int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

/// A loop of the host. What it carries moves from buffer to buffer, in such a way that it ends in those of the results.
/// What the body hands on as it is stays where it was; a body that hands on everything is no loop, only an order.
LogicalResult Planner::repeat(LoopOp loop) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = loop.getLoc();
  const lowering::CarriedValues &carried = reuse.get(loop);
  if (carried.shiftRegisters.empty())
    return success();
  const int64_t trips = loop.getTripsAttr() ? loop.getTripsAttr().getInt() : 0;
  SmallVector<SmallVector<Value>> cells;
  for (const lowering::ShiftRegister &shift : carried.shiftRegisters) {
    const int64_t size = shift.cells();
    SmallVector<Value> &own = cells.emplace_back(size);
    for (auto [k, position] : llvm::enumerate(shift.positions)) {
      Value result = loop.getResult(position);
      if (Value taken = reuse.findTaken(result); taken && !buffers.lookup(result))
        buffers[result] = buffers.lookup(taken);
      Value &buffer = buffers[result];
      if (!buffer)
        buffer = createAlloc(loc, result.getType());
      own[modulo(static_cast<int64_t>(k) - trips, size)] = buffer;
    }
    if (Value free = !own[0] ? reuse.findFree(loop, shift.positions.front()) : Value())
      own[0] = buffers.lookup(free);
    for (Value &cell : own)
      if (!cell)
        cell = createAlloc(loc, loop.getResult(shift.positions.front()).getType());
  }
  for (auto [shift, own] : llvm::zip_equal(carried.shiftRegisters, cells))
    for (auto [k, position] : llvm::enumerate(shift.positions))
      put(loc, loop.getInitial()[position], own[k]);

  Block &block = loop.getBlock();
  Value index, count;
  if (!block.getArgument(0).use_empty())
    index = buffers[block.getArgument(0)] = createAlloc(loc, block.getArgument(0).getType());
  if (loop.getCount())
    count = getBuffer(loop.getCount());
  // Each pass leaves there whether another one follows.
  else if (loop.isWhile())
    count = getBuffer(loop.getResult(0));
  for (auto [i, outside] : llvm::enumerate(llvm::concat<Value>(loop.getInitial(), loop.getInvariants())))
    buffers[block.getArgument(i + 1)] = getBuffer(outside);

  const int64_t numBodies = std::min(carried.numBodies, std::max<int64_t>(trips, 1));
  auto repeated = plan::LoopOp::create(builder, loc, plan::EventType::get(builder.getContext()), loop.getTripsAttr(),
                                       count, index, ValueRange(), static_cast<unsigned>(numBodies));
  for (int64_t number = 0; number < numBodies; ++number) {
    builder.setInsertionPointToEnd(&repeated.getBodies()[number].emplaceBlock());
    if (failed(planBody(loop, number, cells)))
      return failure();
    plan::ReturnOp::create(builder, loc);
  }
  // Where values only change places, all is done by where they begin and end.
  if (llvm::all_of(repeated.getBodies(), [](Region &body) { return body.getOps<plan::CommandOpInterface>().empty(); }))
    repeated.erase();
  return success();
}

/// What the passes of that number do, of those that differ in where what they carry lies.
LogicalResult Planner::planBody(LoopOp loop, int64_t number, ArrayRef<SmallVector<Value>> cells) {
  Block &block = loop.getBlock();
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [shift, own] : llvm::zip_equal(reuse.get(loop).shiftRegisters, cells)) {
    for (auto [k, position] : llvm::enumerate(shift.positions))
      buffers[block.getArgument(position + 1)] = own[modulo(static_cast<int64_t>(k) - number, shift.cells())];
    Value target = own[modulo(-number - 1, shift.cells())];
    if (!shift.isMade) {
      if (shift.source)
        copies.push_back({shift.source, target});
      continue;
    }
    buffers[shift.source] = target;
    if (Value first = reuse.getFirst(shift.source); isa_and_nonnull<GroupOp, LoopOp>(first.getDefiningOp()))
      buffers[first] = target;
  }
  if (failed(planBlock(block)))
    return failure();
  // What is copied might be overwritten before it is read.
  SmallVector<Value> kept(copies.size());
  for (auto [i, copy] : llvm::enumerate(copies)) {
    Value from = buffers.lookup(copy.first), to = copy.second;
    if (!from || from == to || llvm::none_of(copies, [&](const auto &other) { return other.second == from; }))
      continue;
    kept[i] = createAlloc(loop.getLoc(), copy.first.getType());
    createCopy(loop.getLoc(), from, kept[i]);
  }
  for (auto [i, copy] : llvm::enumerate(copies))
    if (kept[i])
      createCopy(loop.getLoc(), kept[i], copy.second);
    else
      put(loop.getLoc(), copy.first, copy.second);
  // The next body makes them in other buffers.
  for (Operation &op : block)
    for (Value result : op.getResults())
      buffers.erase(result);
  return success();
}

/// Whether a constant needs a buffer of its own: not for those to whom it is only written, as that with which a loop
/// begins.
bool Planner::isStored(ConstantOp constant) const {
  if (!constant.getValue().isSplat())
    return true;
  SmallVector<Value> work{constant.getResult()};
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      auto loop = dyn_cast<LoopOp>(user);
      const unsigned begin = loop && loop.getCount() ? 1 : 0, number = use.getOperandNumber() - begin;
      const bool isWritten = loop && use.getOperandNumber() >= begin && number < loop.getInitial().size() &&
                             !reuse.isHandedOn(loop, number);
      if (isa<ReshapeOp>(user))
        work.push_back(user->getResult(0));
      else if (!isWritten && !user->hasTrait<OpTrait::IsTerminator>())
        return true;
    }
  return false;
}

LogicalResult Planner::planBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op); constant && isStored(constant))
      buffers[constant.getResult()] = createConstant(op.getLoc(), constant.getValue());
    else if (auto group = dyn_cast<GroupOp>(op); group && failed(launch(group)))
      return failure();
    else if (auto loop = dyn_cast<LoopOp>(op); loop && failed(repeat(loop)))
      return failure();
  }
  return success();
}

Workgroups zyx::Workgroups::of(const target::TargetInfo &target) {
  return {
      target.busyThreads(),         target.simt.sharedBytes,        target.simt.subgroupSize,
      target.simt.workgroupThreads, target.memory.transactionBytes, target.vector.bytes,
      target.simt.laneBytes,        target.simt.clusterSize,        target.hasSubgroups() ? target::tapSums(target) : 0,
      target.hasTensorCores(),      target.simt.hasShuffles,        target.simt.hasSubgroupOps};
}

LogicalResult Planner::plan() {
  // Where nothing is optimised each op is a kernel.
  if (machine.threads != 0 || machine.vectorBytes != 0)
    lowering::joinElementGroups(entry);
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
    if (Value root = reuse.getRoot(value); isa_and_nonnull<GroupOp, LoopOp>(root.getDefiningOp())) {
      const bool isFirst = buffers.try_emplace(root, output).second;
      if (Value first = reuse.getFirst(root); isFirst && isa_and_nonnull<GroupOp, LoopOp>(first.getDefiningOp()))
        buffers.try_emplace(first, output);
    }

  builder.setInsertionPointToEnd(&body);
  if (failed(planBlock(block)))
    return failure();
  for (auto [value, output] : llvm::zip_equal(terminator->getOperands(), outputs))
    put(terminator->getLoc(), value, output);
  plan::ReturnOp::create(builder, terminator->getLoc());
  entry.erase();
  return success();
}

void ConvertGraphToKernelPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  const target::TargetInfo *target = optimise ? kernel::findTarget(getOperation()) : nullptr;
  const Workgroups machine = target ? Workgroups::of(*target) : Workgroups();
  for (auto entry : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    if (!entry.getBody().hasOneBlock()) {
      entry.emitOpError("needs a body of one block to become a plan");
      return signalPassFailure();
    }
    if (failed(graph::ir::requireNumbers(entry)))
      return signalPassFailure();
    if (failed(Planner(entry, symbols, machine).plan()))
      return signalPassFailure();
  }
}
