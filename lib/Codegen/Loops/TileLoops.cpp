//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TileLowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

/// Whether nothing but the dot reads a tile that a loop carries, and adds to it element by element:
/// then its result may take the tile's place.
static bool isAccumulator(Value carried, DotOp dot) {
  if (!dot || !dot.getResult().hasOneUse())
    return false;
  while (carried.hasOneUse()) {
    Operation *user = *carried.user_begin();
    if (user == dot)
      return carried == dot.getAcc();
    if (!isElementwise(user))
      return false;
    carried = user->getResult(0);
  }
  return false;
}

/// Puts a tile into memory of its own in front of the operand's owner.
static void keep(OpOperand &operand) {
  OpBuilder builder(operand.getOwner());
  Location loc = operand.get().getLoc();
  auto type = cast<RankedTensorType>(operand.get().getType());
  auto memory = MemoryAttr::get(builder.getContext(), Space::Private);
  Value kept = ConvertOp::create(builder, loc, RankedTensorType::get(type.getShape(), type.getElementType(), memory),
                                 operand.get());
  operand.set(ConvertOp::create(builder, loc, type, kept));
}

void zyx::kernel::stageCarried(FuncOp func) {
  func.walk([](scf::ForOp loop) {
    for (OpOperand &init : loop.getInitArgsMutable())
      if (isTile(init.get()) && !(init.get().getDefiningOp<scf::ForOp>() && init.get().hasOneUse()))
        keep(init);
    for (auto [carried, yielded] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOpOperands()))
      if (isTile(carried) && !isAccumulator(carried, yielded.get().getDefiningOp<DotOp>()))
        keep(yielded);
  });
}

/// The memory of a tile that is kept there.
MemoryTile TileLowering::memoryOf(Value tile) {
  while (!evaluator.memory.contains(tile))
    tile = tile.getDefiningOp<ConvertOp>().getInput();
  return evaluator.memory[tile];
}

/// Copies a tile between two pieces of memory of one shape, padding and all.
LogicalResult TileLowering::copyMemory(MemoryTile from, MemoryTile to, Location loc) {
  auto type = cast<ViewType>(from.view.getType());
  Type element = type.getElementType();
  int64_t lanes = machine.vectorBytes == 0 || type.getShape().empty()
                      ? 1
                      : machine.vectorBytes / std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
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

/// The tile in memory that a carried one becomes by what is added to it, element by element, in one place: each thread
/// adds to what it has added to before. Null where more reads it.
static Value findOwnSum(Value carried, Value yielded) {
  auto read = yielded.getDefiningOp<ConvertOp>();
  auto kept = read ? read.getInput().getDefiningOp<ConvertOp>() : ConvertOp();
  auto sum = kept ? kept.getInput().getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  const bool isAlone =
      sum && carried.hasOneUse() && *carried.user_begin() == sum && sum->hasOneUse() && kept->hasOneUse();
  return isAlone ? kept.getResult() : Value();
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
    MemoryTile place = memoryOf(init);
    evaluator.memory.insert({argument, place});
    evaluator.memory.insert({result, place});
    if (yielded.getDefiningOp<DotOp>())
      evaluator.memory.insert({yielded, place});
    else if (Value sum = threads > 1 ? findOwnSum(argument, yielded) : Value()) {
      evaluator.memory.insert({sum, place});
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
    if (!yielded.getDefiningOp<DotOp>() && threads == 1)
      if (failed(copyMemory(memoryOf(yielded), evaluator.memory[result], loc)))
        return failure();
  // What each has added up others may read now.
  builder.setInsertionPointAfter(copy);
  barrier(loc);
  return success();
}
