//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TileLowering.h"

#include "DotEmitter.h"
#include "NestEmitter.h"

#include "zyx/Codegen/Cpu/BlockedDots.h"
#include "zyx/Codegen/Simt/RowReductionEmitter.h"
#include "zyx/Codegen/Simt/Simt.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::kernel;

/// With two exchanges, whoever takes part in one has read what the other brought.
void TileLowering::endProgram(Location loc) {
  if (exchanges == 1)
    BarrierOp::create(builder, loc, Scope::Cluster, /*async=*/false);
}

//===----------------------------------------------------------------------===//
// Which roots share a nest
//===----------------------------------------------------------------------===//

/// The axis along which neighbours of what is kept lie side by side; none of a single element.
std::optional<Axis> TileLowering::liesAlong(Operation *root) {
  SmallVector<Axis> dims = axes.of(domainOf(root));
  while (!dims.empty() && axes.extent(dims.back()) == 1)
    dims.pop_back();
  return dims.empty() ? std::nullopt : std::optional(dims.back());
}

/// Roots share a nest if they walk the same axes, combine along the same ones, and none waits for
/// another's result other than element by element.
bool TileLowering::joinsPending(Operation *root) {
  if (pending.empty() || isa<DotOp>(root) || isa<DotOp>(pending.back()))
    return false;
  auto walked = [&](Operation *op) {
    llvm::SmallSetVector<Axis, 4> set;
    for (Axis axis : axes.of(domainOf(op)))
      if (axes.extent(axis) != 1)
        set.insert(axis);
    SmallVector<Axis> sorted(set.begin(), set.end());
    llvm::sort(sorted);
    return sorted;
  };
  auto combinedBy = [&](Operation *op) {
    SmallVector<Axis> result;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (int64_t dim : reduce.getDims())
        result.push_back(axes.of(reduce.getInput(), dim));
    llvm::sort(result);
    return result;
  };
  if (walked(root) != walked(pending.front()) || isOneHotSum(*this, root) || isOneHotSum(*this, pending.front()))
    return false;
  if (joinsOnline(*this, pending, root))
    return true;
  // What is kept in two orders is transposed on its way from the one to the other.
  if (!machine.hasSubgroups() && isa<ConvertOp>(root))
    for (Operation *other : pending)
      if (isa<ConvertOp>(other) && liesAlong(root) != liesAlong(other))
        return false;
  for (Operation *other : pending)
    if (isa<ReduceOp>(root) && isa<ReduceOp>(other) && combinedBy(root) != combinedBy(other))
      return false;
  SmallVector<Operation *> together(pending);
  together.push_back(root);
  ProducerSlice slice = sliceOf(together);
  // Two tiles in registers may lie there in different vectors.
  if (llvm::count_if(slice.tiles, [&](Value tile) { return evaluator.registers.contains(tile); }) > 1)
    return false;
  for (Value result : slice.results) {
    Operation *def = result.getDefiningOp();
    if (llvm::is_contained(pending, def) && !isa<ConvertOp>(def))
      return false;
  }
  return true;
}

LogicalResult TileLowering::flush() {
  if (pending.empty())
    return success();
  SmallVector<Operation *> roots = std::move(pending);
  pending.clear();
  if (auto dot = dyn_cast<DotOp>(roots.front()))
    return emitDot(dot);
  return NestEmitter(*this, roots).emit();
}

/// A machine's own emitter takes a dot with `blocking`, if its form allows that.
LogicalResult TileLowering::emitDot(DotOp dot) {
  if (threads > 1) {
    FailureOr<bool> emitted = dot.getBlocking() ? emitSharedDot(*this, dot) : FailureOr<bool>(false);
    if (failed(emitted))
      return failure();
    return *emitted ? success() : dot.emitOpError("is not one that threads multiply together");
  }
  if (dot.getBlocking()) {
    FailureOr<bool> emitted = emitBlockedDot(*this, dot);
    if (failed(emitted))
      return failure();
    if (*emitted)
      return success();
  }
  return DotEmitter(*this, dot).emit();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult TileLowering::lowerOp(Operation &op) {
  if (done.contains(&op))
    return success();
  if (isTileRoot(&op)) {
    if (!joinsPending(&op))
      if (failed(flush()))
        return failure();
    // A dot that was pending may have taken its stores with it.
    if (!done.contains(&op))
      pending.push_back(&op);
    return success();
  }
  bool makesTiles = llvm::any_of(op.getResults(), [](Value v) { return isTile(v); });
  if (isa<GridOp, scf::ForOp, scf::IfOp>(op)) {
    if (failed(flush()))
      return failure();
    if (makesTiles)
      return emitTileLoop(op);
    Operation *copy = builder.cloneWithoutRegions(op, evaluator.mapping);
    for (auto [from, to] : llvm::zip(op.getRegions(), copy->getRegions())) {
      if (from.empty())
        continue;
      Block &target = to.emplaceBlock();
      for (BlockArgument argument : from.getArguments())
        evaluator.mapping.map(argument, target.addArgument(argument.getType(), argument.getLoc()));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&target);
      Block *outerStart = programStart;
      const Numbers outerNumbers = numbers;
      if (isa<GridOp>(op)) {
        programStart = &target;
        numbers = {};
        exchanges = 0;
      }
      if (failed(lower(from.front())))
        return failure();
      if (isa<GridOp>(op))
        endProgram(op.getLoc());
      builder.clone(*from.front().getTerminator(), evaluator.mapping);
      programStart = outerStart;
      numbers = outerNumbers;
    }
    return success();
  }
  if (makesTiles)
    return success(); // Evaluated where it is used.
  builder.clone(op, evaluator.mapping);
  return success();
}

LogicalResult TileLowering::lower(Block &block) {
  if (!programStart)
    programStart = builder.getInsertionBlock();
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(op)))
      return failure();
  return flush();
}

//===----------------------------------------------------------------------===//
// Loops that carry tiles
//===----------------------------------------------------------------------===//

/// The memory of a tile that is kept there; none where it is not.
std::optional<MemoryTile> TileLowering::memoryOf(Value tile) {
  while (!evaluator.memory.contains(tile)) {
    auto convert = tile.getDefiningOp<ConvertOp>();
    if (!convert)
      return std::nullopt;
    tile = convert.getInput();
  }
  return evaluator.memory[tile];
}

/// Copies a tile between two pieces of memory of one shape, padding and all.
LogicalResult TileLowering::copyMemory(MemoryTile from, MemoryTile to, Location loc) {
  auto type = cast<ViewType>(from.view.getType());
  Type element = type.getElementType();
  int64_t lanes = machine.accessBytes() == 0 || type.getShape().empty()
                      ? 1
                      : machine.accessBytes() / std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  Type piece = lanes == 1 ? element : VectorType::get(lanes, element);
  SmallVector<Value> indices;
  std::function<LogicalResult()> walk = [&]() -> LogicalResult {
    if (indices.size() == type.getShape().size()) {
      Value value =
          LoadOp::create(builder, loc, piece, from.view, indices, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
      StoreOp::create(builder, loc, value, to.view, indices, Value(), DenseBoolArrayAttr());
      return success();
    }
    bool isLast = indices.size() + 1 == type.getShape().size();
    return emitLoop(0, {type.getDimSize(indices.size()), {}}, isLast ? lanes : 1, {}, loc,
                    [&](Value i, Accumulators) -> FailureOr<Accumulators> {
                      indices.push_back(i);
                      LogicalResult walked = walk();
                      indices.pop_back();
                      if (failed(walked))
                        return failure();
                      return Accumulators();
                    });
  };
  return walk();
}

/// A loop that carries tiles, in memory: what it begins with becomes what it ends with.
LogicalResult TileLowering::emitTileLoop(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop || !llvm::all_of(loop.getInitArgs(), [](Value v) { return isTile(v); }))
    return op.emitOpError("makes tiles in a way that no loop over vectors does");
  Location loc = loop.getLoc();
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [init, argument, result, yielded] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults(), yield->getOperands())) {
    std::optional<MemoryTile> place = memoryOf(init);
    if (!place)
      return op.emitOpError("carries a tile that has no memory of its own");
    evaluator.memory.insert({argument, *place});
    evaluator.memory.insert({result, *place});
    if (yielded.getDefiningOp<DotOp>())
      evaluator.memory.insert({yielded, *place});
    else if (Value sum = threads > 1 ? findOwnSum(argument, yielded) : Value()) {
      evaluator.memory.insert({sum, *place});
      ownSums.insert(sum);
    } else if (threads > 1) {
      return op.emitOpError("carries a tile that threads do more to than to add to it");
    }
  }
  auto bound = [&](Value v) { return evaluator.mapping.lookupOrDefault(v); };
  auto copy =
      scf::ForOp::create(builder, loc, bound(loop.getLowerBound()), bound(loop.getUpperBound()), bound(loop.getStep()));
  evaluator.mapping.map(loop.getInductionVar(), copy.getInductionVar());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  if (failed(lower(*loop.getBody())))
    return failure();
  for (auto [result, yielded] : llvm::zip_equal(loop.getResults(), yield->getOperands()))
    if (!yielded.getDefiningOp<DotOp>() && threads == 1) {
      std::optional<MemoryTile> next = memoryOf(yielded);
      if (!next)
        return op.emitOpError("carries a tile that has no memory of its own");
      if (failed(copyMemory(*next, evaluator.memory[result], loc)))
        return failure();
    }
  // What each has added up others may read now.
  builder.setInsertionPointAfter(copy);
  barrier(loc);
  return success();
}
