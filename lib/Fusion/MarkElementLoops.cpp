//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseClusters.h"
#include "ElementLoops.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::fusion {
#define GEN_PASS_DEF_MARKELEMENTLOOPSPASS
#include "zyx/Fusion/Passes.h.inc"

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static unsigned widthOf(Value value) { return typeOf(value).getElementType().getIntOrFloatBitWidth(); }

/// The one element of a value that is the same everywhere.
static ConstantOp getSplat(Value value) {
  while (isIndexMap(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat() ? constant : ConstantOp();
}

static Value makeSplat(OpBuilder &builder, ConstantOp splat, RankedTensorType type) {
  return ConstantOp::create(builder, splat.getLoc(), type, splat.getValue().resizeSplat(type));
}

LoopOp moveBody(LoopOp loop, ValueRange initial, ValueRange invariants) {
  OpBuilder builder(loop);
  auto made = LoopOp::create(builder, loop.getLoc(), initial.getTypes(), loop.getTripsAttr(), loop.getCount(), initial,
                             invariants);
  made.getBody().takeBody(loop.getBody());
  return made;
}

/// What a loop begins with is a constant that is written once for all elements, where they are all the same.
static void useSplats(LoopOp loop) {
  OpBuilder builder(loop);
  for (OpOperand &operand : loop.getInitialMutable())
    if (ConstantOp splat = getSplat(operand.get()))
      operand.set(makeSplat(builder, splat, typeOf(operand.get())));
}

static BlockArgument invariantArgument(LoopOp loop, unsigned number) {
  return loop.getBlock().getArgument(1 + loop.getInitial().size() + number);
}

static LoopOp replaceLoop(LoopOp from, LoopOp to) {
  from->replaceAllUsesWith(to.getResults());
  from.erase();
  return to;
}

/// A copy of a loop in which it computes one of its invariants itself, by these ops in their order.
static LoopOp withProducers(LoopOp loop, unsigned number, ArrayRef<Operation *> producers) {
  OpBuilder builder(loop);
  LoopOp copy = cast<LoopOp>(builder.clone(*loop));
  SmallVector<Value> invariants(loop.getInvariants());
  BlockArgument argument = invariantArgument(copy, number);
  builder.setInsertionPointToStart(&copy.getBlock());
  IRMapping mapping;
  SmallVector<Value> added;
  for (Operation *producer : producers) {
    for (Value operand : producer->getOperands()) {
      if (mapping.contains(operand))
        continue;
      if (ConstantOp splat = getSplat(operand)) {
        mapping.map(operand, makeSplat(builder, splat, typeOf(operand)));
        continue;
      }
      added.push_back(operand);
      mapping.map(operand, copy.getBlock().addArgument(operand.getType(), operand.getLoc()));
    }
    builder.clone(*producer, mapping);
  }
  argument.replaceAllUsesWith(mapping.lookup(loop.getInvariants()[number]));
  copy.getBlock().eraseArgument(argument.getArgNumber());
  invariants.erase(invariants.begin() + number);
  llvm::append_range(invariants, added);
  LoopOp made = moveBody(copy, copy.getInitial(), invariants);
  copy.erase();
  return made;
}

/// The ops that make an invariant, where computing it in the loop reads no more, and computes nothing twice: a view, or
/// element-wise ops that only this invariant needs.
static SmallVector<Operation *> findProducers(LoopOp loop, const ElementLoop &program, Value invariant) {
  constexpr size_t mostProducers = 32;
  Operation *last = invariant.getDefiningOp();
  if (!last || getSplat(invariant))
    return {};
  if (isa<ReshapeOp, ExpandOp, PermuteOp, FlipOp>(last))
    return {last};
  if (!isElementwise(last) || !invariant.hasOneUse() ||
      typeOf(invariant).getNumElements() < program.numPoints() * program.trips)
    return {};
  llvm::SetVector<Operation *> producers;
  producers.insert(last);
  // Backwards: who reads an op comes before it.
  for (Operation *op = last->getPrevNode(); op; op = op->getPrevNode())
    if (isElementwise(op) && !op->use_empty() && !getSplat(op->getResult(0)) &&
        llvm::all_of(op->getUsers(), [&](Operation *user) { return producers.contains(user); }))
      producers.insert(op);
  llvm::SetVector<Value> leaves;
  for (Operation *op : producers)
    for (Value operand : op->getOperands())
      if (!getSplat(operand) && !producers.contains(operand.getDefiningOp()))
        leaves.insert(operand);
  unsigned bits = 0;
  for (Value leaf : leaves)
    bits += widthOf(leaf);
  if (producers.size() > mostProducers || bits > std::max(32u, 2 * widthOf(invariant)))
    return {};
  SmallVector<Operation *> result(producers.begin(), producers.end());
  std::reverse(result.begin(), result.end());
  return result;
}

/// Takes views and element-wise ops in front of a loop into it.
static LoopOp pullProducers(LoopOp loop) {
  constexpr size_t mostSteps = 1024;
  constexpr int mostPulled = 64;
  llvm::DenseSet<Value> refused;
  for (int pulled = 0; pulled < mostPulled; ++pulled) {
    std::optional<ElementLoop> program = ElementLoop::analyse(loop);
    if (!program || program->steps.size() > mostSteps)
      return loop;
    LoopOp next;
    for (auto [number, invariant] : llvm::enumerate(loop.getInvariants())) {
      SmallVector<Operation *> producers = findProducers(loop, *program, invariant);
      if (producers.empty() || refused.contains(invariant))
        continue;
      LoopOp copy = withProducers(loop, number, producers);
      if (ElementLoop::analyse(copy)) {
        next = copy;
        break;
      }
      copy.erase();
      refused.insert(invariant);
    }
    if (!next)
      return loop;
    loop = replaceLoop(loop, next);
  }
  return loop;
}

/// Rows that are written for a cast alone are written as what it makes of them.
static LoopOp pullCasts(LoopOp loop) {
  for (unsigned position = 0; position < loop.getNumResults(); ++position) {
    Value result = loop.getResult(position);
    auto castOp = result.hasOneUse() ? dyn_cast<CastOp>(*result.user_begin()) : CastOp();
    auto scatter = loop.getBlock().getTerminator()->getOperand(position).getDefiningOp<ScatterOp>();
    BlockArgument argument = loop.getBlock().getArgument(position + 1);
    auto initial = loop.getInitial()[position].getDefiningOp<ConstantOp>();
    const bool isWritten = scatter && scatter.getX() == argument && argument.hasOneUse() && scatter->hasOneUse();
    if (!castOp || widthOf(castOp) > widthOf(result) || !isWritten || scatter.getKind() != ScatterKind::Set ||
        !initial || !initial.getValue().isSplat())
      continue;
    // Zero is zero in all types.
    Attribute element = initial.getValue().getSplatValue<Attribute>();
    auto real = dyn_cast<FloatAttr>(element);
    auto integer = dyn_cast<IntegerAttr>(element);
    if (real ? !real.getValue().isPosZero() : !integer || !integer.getValue().isZero())
      continue;
    OpBuilder builder(loop);
    RankedTensorType type = typeOf(castOp);
    SmallVector<Value> initials(loop.getInitial());
    initials[position] =
        ConstantOp::create(builder, loop.getLoc(), type, cast<DenseElementsAttr>(builder.getZeroAttr(type)));
    LoopOp made = moveBody(loop, initials, loop.getInvariants());
    builder.setInsertionPoint(scatter);
    Value updates = scatter.getUpdates();
    Value rounded = CastOp::create(builder, castOp.getLoc(), typeOf(updates).clone(type.getElementType()), updates);
    made.getBlock().getArgument(position + 1).setType(type);
    scatter.getUpdatesMutable().assign(rounded);
    scatter.getResult().setType(type);
    for (auto [old, result] : llvm::zip_equal(loop.getResults(), made.getResults()))
      if (old.getResultNumber() != position)
        old.replaceAllUsesWith(result);
    castOp.replaceAllUsesWith(made.getResult(position));
    castOp.erase();
    loop.erase();
    loop = made;
  }
  return loop;
}

//===----------------------------------------------------------------------===//
// Parts of sums
//===----------------------------------------------------------------------===//

/// Into how many parts the `own` elements of a point fall: 1 where there are threads for points alone.
static int64_t countParts(int64_t points, int64_t own, int64_t threads) {
  // Each part is stored by each trip and reads what the point reads.
  constexpr int64_t fewestElements = 4, mostParts = 8;
  int64_t parts = 1;
  while (parts < mostParts && own % (2 * parts) == 0 && own / (2 * parts) >= fewestElements &&
         2 * parts * points <= threads)
    parts *= 2;
  return parts;
}

/// A sum of what a point has along the last dimension, which each trip writes as its row and nobody else reads; the
/// rows begin with zeros.
static ReduceOp findWrittenSum(LoopOp loop, unsigned position) {
  BlockArgument argument = loop.getBlock().getArgument(position + 1);
  auto scatter = loop.getBlock().getTerminator()->getOperand(position).getDefiningOp<ScatterOp>();
  ConstantOp initial = getSplat(loop.getInitial()[position]);
  if (!scatter || scatter.getX() != argument || !argument.hasOneUse() || !scatter->hasOneUse() ||
      scatter.getKind() != ScatterKind::Set || !initial || !isa<FloatType>(typeOf(scatter).getElementType()) ||
      !initial.getValue().getSplatValue<APFloat>().isPosZero())
    return {};
  auto sum = scatter.getUpdates().getDefiningOp<ReduceOp>();
  // Parts of narrower sums would be rounded.
  const bool isOne = sum && sum->hasOneUse() && sum.getKind() == ReduceKind::Add && widthOf(sum) >= 32 &&
                     sum.getDims() == ArrayRef<int64_t>{typeOf(sum.getX()).getRank() - 1};
  return isOne ? sum : ReduceOp();
}

/// The type in which the last dimension is two.
static RankedTensorType withParts(Value value, int64_t parts) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape.back() /= parts;
  shape.insert(shape.end() - 1, parts);
  return typeOf(value).clone(shape);
}

/// Gives each part of what a point carries to a point of its own, where a card has more threads than there are points
/// and all that a trip writes are sums of it.
static LoopOp partSums(LoopOp loop, int64_t threads) {
  if (!loop.getTripsAttr())
    return loop;
  const unsigned count = loop.getInitial().size();
  SmallVector<ReduceOp> sums;
  int64_t points = 0, own = 0;
  for (unsigned position = 0; position < count; ++position) {
    sums.push_back(findWrittenSum(loop, position));
    RankedTensorType type = typeOf(sums.back() ? sums.back().getX() : loop.getInitial()[position]);
    if (type.getRank() == 0 || type.getNumElements() == 0 || (own != 0 && type.getShape().back() != own))
      return loop;
    own = type.getShape().back();
    if (sums.back())
      points = type.getNumElements() / own;
  }
  const int64_t parts = points == 0 ? 1 : countParts(points, own, threads);
  if (parts == 1)
    return loop;
  OpBuilder builder(loop);
  LoopOp copy = cast<LoopOp>(builder.clone(*loop));
  Block &block = copy.getBlock();
  SmallVector<Value> initials;
  for (unsigned position = 0; position < count; ++position) {
    BlockArgument argument = block.getArgument(position + 1);
    OpOperand &yielded = block.getTerminator()->getOpOperand(position);
    Value initial = loop.getInitial()[position];
    RankedTensorType apart;
    if (ReduceOp sum = sums[position] ? findWrittenSum(copy, position) : ReduceOp()) {
      auto scatter = yielded.get().getDefiningOp<ScatterOp>();
      auto wide = [&](Value value) {
        SmallVector<int64_t> shape(typeOf(value).getShape());
        shape.push_back(parts);
        return typeOf(value).clone(shape);
      };
      apart = wide(argument);
      builder.setInsertionPoint(sum);
      Value x = ReshapeOp::create(builder, sum.getLoc(), withParts(sum.getX(), parts), sum.getX());
      Value made = ReduceOp::create(builder, sum.getLoc(), wide(sum), ReduceKind::Add, x,
                                    ArrayRef<int64_t>{typeOf(x).getRank() - 1});
      argument.setType(apart);
      scatter.getUpdatesMutable().assign(made);
      scatter.getResult().setType(apart);
      sum.erase();
    } else {
      apart = withParts(argument, parts);
      builder.setInsertionPointToStart(&block);
      auto whole = ReshapeOp::create(builder, copy.getLoc(), argument.getType(), argument);
      argument.replaceAllUsesExcept(whole.getResult(), whole);
      argument.setType(apart);
      builder.setInsertionPoint(block.getTerminator());
      yielded.set(ReshapeOp::create(builder, copy.getLoc(), apart, yielded.get()));
    }
    builder.setInsertionPoint(copy);
    ConstantOp splat = getSplat(initial);
    initials.push_back(splat ? makeSplat(builder, splat, apart)
                             : Value(ReshapeOp::create(builder, copy.getLoc(), apart, initial)));
  }
  LoopOp made = moveBody(copy, initials, copy.getInvariants());
  copy.erase();
  if (!ElementLoop::analyse(made)) {
    made.erase();
    return loop;
  }
  builder.setInsertionPointAfter(made);
  for (auto [position, results] : llvm::enumerate(llvm::zip_equal(loop.getResults(), made.getResults()))) {
    auto [old, result] = results;
    Value whole = sums[position] ? Value(ReduceOp::create(builder, loop.getLoc(), old.getType(), ReduceKind::Add,
                                                          result, ArrayRef<int64_t>{typeOf(result).getRank() - 1}))
                                 : Value(ReshapeOp::create(builder, loop.getLoc(), old.getType(), result));
    old.replaceAllUsesWith(whole);
  }
  loop.erase();
  return made;
}

/// A loop whose trips multiply what they carry by weights is one kernel where a cluster has room for these.
static void markRecurrentLoop(LoopOp loop, func::FuncOp entry, const target::TargetInfo &machine) {
  std::optional<ElementLoop> program = ElementLoop::analyseRecurrent(loop);
  std::optional<RecurrentShape> shape = program ? chooseClusters(*program, machine) : std::nullopt;
  if (!shape)
    return;
  useSplats(loop);
  loop->setAttr(oneKernelAttrName, shape->toAttr(loop.getContext()));
  remark::passed(loop.getLoc(), remark::RemarkOpts::name("FormGroups").category("zyx-fusion").function(entry.getName()))
      << ("a loop of " + Twine(program->trips) + " trips over " + Twine(program->numPoints()) +
          " points, whose rows clusters of " + Twine(shape->cluster) + " workgroups have, is one kernel")
             .str();
}

static void markElementLoops(func::FuncOp entry, const target::TargetInfo &machine) {
  SmallVector<LoopOp> loops;
  entry.walk([&](LoopOp loop) { loops.push_back(loop); });
  for (LoopOp loop : loops) {
    if (machine.hasSubgroups())
      loop = partSums(loop, machine.busyThreads());
    if (!ElementLoop::analyse(loop)) {
      markRecurrentLoop(loop, entry, machine);
      continue;
    }
    useSplats(loop);
    loop = pullCasts(loop);
    loop = pullProducers(loop);
    std::optional<ElementLoop> program = ElementLoop::analyse(loop);
    if (!program)
      continue;
    loop->setAttr(oneKernelAttrName, UnitAttr::get(loop.getContext()));
    remark::passed(loop.getLoc(),
                   remark::RemarkOpts::name("FormGroups").category("zyx-fusion").function(entry.getName()))
        << ("a loop of " + Twine(program->trips) + " trips over " + Twine(program->numPoints()) +
            " points, each for itself, is one kernel")
               .str();
  }
}

namespace {

struct MarkElementLoops : impl::MarkElementLoopsPassBase<MarkElementLoops> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (failed(requireNumbers(entry)))
      return signalPassFailure();
    if (!entry.isExternal() && entry.getBody().hasOneBlock())
      markElementLoops(entry, getMachine(entry));
  }
};

} // namespace

} // namespace zyx::fusion
