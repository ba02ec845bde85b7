//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "CheckEntry.h"
#include "FuseAttention.h"
#include "GroupGraph.h"
#include "GroupRules.h"
#include "Machine.h"
#include "MergeProducts.h"
#include "Notes.h"
#include "RecomputeWeights.h"
#include "SumProducts.h"

#include "zyx/Base/Debug.h"
#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Budgets.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_FORMGROUPSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::GroupGraph;
using zyx::target::TargetInfo;

namespace {

/// Rows that are gathered for one reader, perhaps in another type: they are read where they lie.
bool isGatheredOnce(Value value) {
  while (true) {
    Value source = getViewSource(value);
    if (!value.hasOneUse() || !source.hasOneUse())
      return false;
    auto cast = source.getDefiningOp<CastOp>();
    if (!cast)
      return source.getDefiningOp<GatherOp>() != nullptr;
    value = cast.getX();
  }
}

/// What decides how eagerly a reduce takes a producer.
struct ProducerTraits {
  /// Computed from inputs and constants alone.
  llvm::DenseSet<Operation *> fromInputs;
  /// Larger than everything that it is made of, as the product inside a matrix product is: storing
  /// it would cost more than all the rest.
  llvm::DenseSet<Operation *> expanding;
  /// Of those made of inputs, what depends on a transcendental function.
  llvm::DenseSet<Operation *> heavy;

  explicit ProducerTraits(const GroupGraph &graph) {
    auto numElements = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
    for (Operation *op : graph.getOps()) {
      if (!isElementwise(op) && !isa<GatherOp>(op))
        continue;
      if (llvm::all_of(graph.getProducers(op), [&](Operation *producer) { return fromInputs.contains(producer); })) {
        fromInputs.insert(op);
        if (zyx::fusion::isTranscendental(op) ||
            llvm::any_of(graph.getProducers(op), [&](Operation *producer) { return heavy.contains(producer); }))
          heavy.insert(op);
      }
      auto isSmaller = [&](Value source) { return numElements(source) < numElements(op->getResult(0)); };
      // Gathered rows that nobody else reads are not stored either.
      const bool hasSmaller = llvm::any_of(op->getOperands(), [&](Value x) { return isSmaller(getViewSource(x)); });
      bool isGrown = llvm::all_of(op->getOperands(), [&](Value operand) {
        Value source = getViewSource(operand);
        Operation *def = source.getDefiningOp();
        return isSmaller(source) || (def && (isa<ConstantOp, IotaOp>(def) || expanding.contains(def))) ||
               (hasSmaller && isGatheredOnce(operand));
      });
      if (isGrown && isElementwise(op))
        expanding.insert(op);
    }
  }
};

} // namespace

static bool isWidening(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  return cast && getElementTypeOrSelf(cast.getX().getType()).getIntOrFloatBitWidth() <
                     getElementTypeOrSelf(cast.getResult().getType()).getIntOrFloatBitWidth();
}

/// "graph.unary at f.mlir:3:8".
static std::string describe(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text += " at " + place.getFilename().str() + ":" + std::to_string(place.getLine()) + ":" +
            std::to_string(place.getColumn());
  return text;
}

/// Joins the groups of two ops where that is allowed.
static bool tryMerge(GroupGraph &graph, Operation *producer, Operation *consumer) {
  GroupGraph::GroupId first = graph.getHome(producer), second = graph.getHome(consumer);
  if (first == second || !graph.checkMerge(first, second).isOk())
    return false;
  ZYX_DEBUG(Fusion, describe(producer) + " joins " + describe(consumer));
  graph.merge(first, second);
  return true;
}

/// Gives each reduce what nobody should store: expanding producers and, where kernels are fused, those
/// made of inputs. Others wait, because they are better off behind the kernel that makes their
/// operands.
static void mergePrologues(GroupGraph &graph, bool fuse) {
  ProducerTraits traits(graph);
  for (Operation *reduce : graph.getOps()) {
    if (!isa<ReduceOp>(reduce))
      continue;
    GroupGraph::GroupId group = graph.getHome(reduce);
    // A contraction computes no such function again: what follows one is stored, rather than what it is made of.
    const bool mayTakeHeavy = !matchContraction(cast<ReduceOp>(reduce));
    auto mergeOne = [&] {
      for (Operation *op : graph.getMembers(group))
        for (Operation *producer : graph.getProducers(op)) {
          GroupGraph::GroupId other = graph.getHome(producer);
          const bool isLight = mayTakeHeavy || !traits.heavy.contains(producer) || isWidening(producer);
          if (other == group ||
              !(traits.expanding.contains(producer) || (fuse && isLight && traits.fromInputs.contains(producer))) ||
              !graph.checkMerge(group, other).isOk())
            continue;
          ZYX_DEBUG(Fusion, describe(producer) + " joins " + describe(reduce));
          graph.merge(group, other);
          return true;
        }
      return false;
    };
    while (mergeOne())
      ;
  }
}

/// Joins producers and consumers in the order of the block until nothing more fits.
static void mergeNeighbours(GroupGraph &graph) {
  bool changed = true;
  while (std::exchange(changed, false))
    for (Operation *op : graph.getOps())
      for (Operation *producer : graph.getProducers(op)) {
        changed |= tryMerge(graph, producer, op);
      }
}

/// Joins sums of columns with sums of the rows that they are made of, where a kernel has a part of the rows.
static void mergeCrossed(GroupGraph &graph) {
  auto shapeOf = [](ReduceOp op) { return cast<RankedTensorType>(op.getX().getType()).getShape(); };
  auto isAlongRows = [&](ReduceOp op) { return op.getDims().back() + 1 == static_cast<int64_t>(shapeOf(op).size()); };
  SmallVector<ReduceOp> reduces;
  for (Operation *op : graph.getOps())
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getDims().size() == 1)
      reduces.push_back(reduce);
  for (ReduceOp across : reduces) {
    if (isAlongRows(across) || across.getDims().front() == 0)
      continue;
    for (ReduceOp along : reduces)
      if (isAlongRows(along) && shapeOf(along) == shapeOf(across) && graph.getHome(along) != graph.getHome(across) &&
          graph.mergeStreaming({along, across}).isOk())
        break;
  }
}

/// Consumers come first, because a copy brings operands that may be cloned in turn.
static void cloneCheapProducers(GroupGraph &graph) {
  for (Operation *op : llvm::reverse(graph.getOps()))
    graph.tryClone(op);
}

//===----------------------------------------------------------------------===//
// The IR of groups
//===----------------------------------------------------------------------===//

namespace {

/// Builds the body of one group; what it reads from outside becomes an input.
struct BodyBuilder {
  OpBuilder builder;
  Block *block;
  const GroupGraph::Ops &members;
  SmallVector<Value> inputs;
  IRMapping mapping;

  Value get(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    bool isLeaf = op && isa<ConstantOp, IotaOp>(op);
    if (isLeaf || isView(op)) {
      // Views come in long chains, so their copies are made from the source on.
      SmallVector<Operation *> chain;
      for (; op && (isView(op) || isa<ConstantOp, IotaOp>(op)); op = value.getDefiningOp()) {
        if (mapping.contains(value))
          break;
        chain.push_back(op);
        if (!isView(op))
          break;
        value = op->getOperand(0);
      }
      if (isView(chain.back()))
        get(value);
      Value result;
      for (Operation *link : llvm::reverse(chain)) {
        if (auto pad = dyn_cast<PadOp>(link))
          get(pad.getFill());
        result = builder.clone(*link, mapping)->getResult(0);
      }
      return result;
    }
    if (op && members.contains(op)) {
      for (Value operand : op->getOperands())
        get(operand);
      Value result = builder.clone(*op, mapping)->getResult(0);
      return result;
    }
    inputs.push_back(value);
    Value argument = block->addArgument(value.getType(), value.getLoc());
    mapping.map(value, argument);
    return argument;
  }
};

} // namespace

static std::string describe(const IterationSpace &space, const GroupGraph::Ops &members, size_t numOutputs) {
  size_t reduces = space.getReduces().size();
  std::string kind = space.getAttention()     ? "an attention"
                     : space.getChain()       ? "a chain of contractions"
                     : space.getProductsSum() ? "a sum over batches of products"
                     : space.getContraction() ? "a contraction"
                     : reduces == 0           ? "no reduction"
                     : reduces == 1           ? "1 reduction"
                                              : std::to_string(reduces) + " reductions";
  return std::to_string(members.size()) + (members.size() == 1 ? " op with " : " ops with ") + kind + " and " +
         std::to_string(numOutputs) + (numOutputs == 1 ? " result" : " results") + " over " +
         std::to_string(space.getNumPoints(space.getRowAxes())) + " rows";
}

static remark::RemarkOpts remarkOptions(func::FuncOp entry) {
  return remark::RemarkOpts::name("FormGroups").category("zyx-fusion").function(entry.getName());
}

/// An edge between groups that stay apart, and why they do.
struct MissedEdge {
  Operation *producer, *consumer;
  std::string reason;
};

static std::vector<MissedEdge> findMissedEdges(const GroupGraph &graph) {
  std::vector<MissedEdge> missed;
  llvm::DenseSet<std::pair<unsigned, unsigned>> seen;
  for (Operation *op : graph.getOps())
    for (Operation *producer : graph.getProducers(op)) {
      GroupGraph::GroupId first = graph.getHome(producer), second = graph.getHome(op);
      if (first != second && seen.insert({first, second}).second)
        missed.push_back({producer, op, graph.checkMerge(first, second).message()});
    }
  return missed;
}

/// The value that takes the place of one that is returned or that a loop reads. Reshapes of it stay
/// outside of groups.
static Value replace(Value value, const IRMapping &results, OpBuilder &builder) {
  if (Value result = results.lookupOrNull(value))
    return result;
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape || zyx::fusion::getStored(value) == value)
    return value;
  Value x = replace(reshape.getX(), results, builder);
  return ReshapeOp::create(builder, reshape.getLoc(), reshape.getType(), x);
}

static void createGroups(const GroupGraph &graph, Block &block, func::FuncOp entry) {
  Operation *terminator = block.getTerminator();
  OpBuilder builder(terminator);
  // Views between a group and what reads it read the op that the group replaces, so results are
  // exchanged after all groups are built.
  IRMapping results;
  SmallVector<GroupOp> groups;
  for (GroupGraph::GroupId id : graph.sort()) {
    if (Operation *alone = graph.getAlone(id)) {
      alone->moveBefore(terminator);
      OpBuilder before(alone);
      for (OpOperand &operand : alone->getOpOperands())
        operand.set(replace(operand.get(), results, before));
      continue;
    }
    const GroupGraph::Ops &members = graph.getMembers(id);
    SmallVector<Value> outputs = graph.getOutputs(id);
    OperationState state(members.back()->getLoc(), GroupOp::getOperationName());
    Block *inside = new Block;
    state.addRegion()->push_back(inside);
    BodyBuilder body{OpBuilder(builder.getContext()), inside, members, {}, {}};
    body.builder.setInsertionPointToEnd(inside);
    for (Operation *op : members)
      body.get(op->getResult(0));
    SmallVector<Value> yielded;
    for (Value output : outputs)
      yielded.push_back(body.get(output));
    YieldOp::create(body.builder, state.location, yielded);
    for (Value input : body.inputs)
      state.operands.push_back(results.lookupOrDefault(input));
    state.addTypes(ValueRange(outputs).getTypes());
    auto group = cast<GroupOp>(builder.create(state));
    results.map(outputs, group.getOutputs());
    if (auto space = IterationSpace::compute(members, outputs); space.isOk())
      remark::passed(group.getLoc(), remarkOptions(entry)) << describe(*space, members, outputs.size());
  }
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(replace(operand.get(), results, builder));
  zyx::fusion::eraseUnused(block);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct FormGroups : zyx::fusion::impl::FormGroupsPassBase<FormGroups> {
  using FormGroupsPassBase::FormGroupsPassBase;
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (entry.isExternal())
      return;
    if (failed(zyx::fusion::checkEntry(entry)) || failed(checkOps(entry)))
      return signalPassFailure();
    for (Block *block : zyx::fusion::getBlocks(entry))
      formGroups(*block, entry);
    entry.walk([](Operation *op) {
      if (isa<PermuteOp>(op))
        op->removeAttr(zyx::fusion::storedAttrName);
      op->removeAttr(zyx::fusion::tableAttrName);
    });
  }

private:
  /// Earlier passes of the room have written these with ops that a kernel has.
  static LogicalResult checkOps(func::FuncOp entry) {
    for (Block *block : zyx::fusion::getBlocks(entry))
      for (Operation &op : *block) {
        if (isa<ConcatOp, TransferOp>(op))
          return op.emitError("is in no group: -zyx-fusion-decompose-movement writes it with ops that are");
        if (isa<RandomBitsOp>(op))
          return op.emitError("is in no group: -zyx-fusion-expand-random-bits computes it with ops that are");
      }
    return success();
  }

  void formGroups(Block &block, func::FuncOp entry) {
    // A group of what nobody reads would have no result.
    zyx::fusion::eraseUnused(block);
    const TargetInfo &machine = zyx::fusion::getMachine(entry);
    const int64_t columnSumBytes = machine.hasTensorTiles() ? zyx::target::columnSumBytes(machine) : 0;
    GroupGraph graph(block, columnSumBytes, static_cast<size_t>(machine.simt.mostFusedBuffers()));
    if (join) {
      zyx::fusion::mergeAttentions(graph);
      zyx::fusion::mergeRecomputed(graph);
      if (const int64_t bits = zyx::target::matrixOperandBits(machine))
        zyx::fusion::mergeProducts(graph, bits);
      zyx::fusion::mergeSums(graph);
    }
    mergePrologues(graph, join);
    if (!join)
      return createGroups(graph, block, entry);
    mergeNeighbours(graph);
    if (columnSumBytes != 0)
      mergeCrossed(graph);
    std::vector<MissedEdge> missed = findMissedEdges(graph);
    cloneCheapProducers(graph);
    // A producer that was cloned into its consumer's group is not missed there.
    for (const MissedEdge &edge : missed)
      if (!graph.getMembers(graph.getHome(edge.consumer)).contains(edge.producer)) {
        ZYX_DEBUG(Fusion,
                  describe(edge.producer) + " stays apart from " + describe(edge.consumer) + ": " + edge.reason);
        remark::missed(edge.consumer->getLoc(), remarkOptions(entry))
            << ("not in the kernel of its producer: " + edge.reason);
      }
    createGroups(graph, block, entry);
  }
};

} // namespace
