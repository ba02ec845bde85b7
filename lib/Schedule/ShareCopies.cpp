//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Copies of factors and windows: one for all launches that read the same, and their launches.
//===----------------------------------------------------------------------===//
#include "FactorLayouter.h"
#include "LayOutFactors.h"

#include "zyx/Dialect/Kernel/IR/MapAlgebra.h"
#include "zyx/Schedule/Weights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::Copies;
using zyx::schedule::MadeCopy;

/// Two maps whose neighbouring dimensions are one where both step through the next one as through more of it: images
/// that a sum has in parts are those that it has not.
static std::pair<MapAttr, MapAttr> joinDims(MapAttr from, MapAttr to) {
  MLIRContext *context = from.getContext();
  if (!from.isSingleBlock() || !to.isSingleBlock() || from.front().getShape() != to.front().getShape())
    return {from, to};
  SmallVector<BlockAttr, 2> blocks{from.front(), to.front()};
  auto isWhole = [](BlockAttr block, unsigned dim) {
    return !block.hasValid() ||
           (BlockAttr::constant(block.getValidLow()[dim]) == 0 && block.getValidHigh()[dim] == block.getShape()[dim]);
  };
  for (unsigned dim = blocks.front().getRank(); dim-- > 1;) {
    std::optional<int64_t> outer = BlockAttr::constant(blocks.front().getShape()[dim - 1]),
                           inner = BlockAttr::constant(blocks.front().getShape()[dim]);
    const bool areOne = outer && inner && llvm::all_of(blocks, [&](BlockAttr block) {
                          std::optional<int64_t> step = BlockAttr::constant(block.getStrides()[dim]);
                          return step && BlockAttr::constant(block.getStrides()[dim - 1]) == *step * *inner &&
                                 isWhole(block, dim - 1) && isWhole(block, dim);
                        });
    if (!areOne)
      continue;
    const AffineExpr all = getAffineConstantExpr(*outer * *inner, context);
    for (BlockAttr &block : blocks) {
      auto join = [&](ArrayRef<AffineExpr> entries, AffineExpr joined) {
        SmallVector<AffineExpr> left(entries);
        if (!left.empty()) {
          left[dim - 1] = joined;
          left.erase(left.begin() + dim);
        }
        return left;
      };
      block = BlockAttr::get(context, join(block.getShape(), all), join(block.getStrides(), block.getStrides()[dim]),
                             block.getOffset(), join(block.getValidLow(), getAffineConstantExpr(0, context)),
                             join(block.getValidHigh(), all));
    }
  }
  return {MapAttr::get(context, blocks[0]), MapAttr::get(context, blocks[1])};
}

std::pair<MapAttr, MapAttr> zyx::schedule::inOrder(MapAttr from, MapAttr to) {
  ArrayRef<AffineExpr> strides = to.front().getStrides();
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, strides.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return BlockAttr::constant(strides[a]).value_or(0) > BlockAttr::constant(strides[b]).value_or(0);
  });
  auto sort = [&](MapAttr map) {
    auto pick = [&](ArrayRef<AffineExpr> entries) {
      SmallVector<AffineExpr> picked;
      for (unsigned dim : order)
        if (!entries.empty())
          picked.push_back(entries[dim]);
      return picked;
    };
    SmallVector<BlockAttr> blocks(map.getBlocks());
    BlockAttr front = map.front();
    blocks.front() = BlockAttr::get(map.getContext(), pick(front.getShape()), pick(front.getStrides()),
                                    front.getOffset(), pick(front.getValidLow()), pick(front.getValidHigh()));
    return MapAttr::get(map.getContext(), blocks);
  };
  return joinDims(sort(from), sort(to));
}

Value zyx::schedule::findCopy(Copies &copies, const MadeCopy &wanted) {
  plan::LaunchOp launch = wanted.launch;
  for (MadeCopy &made : copies) {
    if (made.source != wanted.source || made.from != wanted.from || made.to != wanted.to ||
        made.other != wanted.other || made.isKept != wanted.isKept)
      continue;
    if (made.isKept)
      return made.buffer;
    Operation *first = launch->getBlock() == made.launch->getBlock() && launch->isBeforeInBlock(made.launch)
                           ? launch.getOperation()
                           : made.launch.getOperation();
    const bool isSame =
        launch->getBlock() == made.launch->getBlock() && llvm::all_of(made.source.getUsers(), [&](Operation *user) {
          auto other = dyn_cast<zyx::plan::LaunchOp>(user);
          return other && (!llvm::is_contained(other.getOuts(), made.source) ||
                           (other->getBlock() == first->getBlock() && other->isBeforeInBlock(first)));
        });
    if (!isSame)
      continue;
    if (first == launch.getOperation()) {
      made.buffer.getDefiningOp()->moveBefore(launch);
      made.launch->moveBefore(launch);
    }
    return made.buffer;
  }
  return {};
}

void zyx::schedule::addCopy(Copies &copies, MadeCopy wanted, FuncOp &kernel, llvm::function_ref<FuncOp()> create,
                            unsigned at, int64_t elements, OpBuilder &builder, Location loc) {
  if (Value shared = findCopy(copies, wanted)) {
    wanted.launch.getInsMutable().append(shared);
    return;
  }
  if (!kernel)
    kernel = create();
  launchCopies(kernel, wanted.launch, at, elements, builder, loc);
  wanted.buffer = wanted.launch.getIns().back();
  for (Operation *user : wanted.buffer.getUsers())
    if (auto copying = dyn_cast<zyx::plan::LaunchOp>(user); copying && copying != wanted.launch) {
      wanted.launch = copying;
      copies.push_back(wanted);
      return;
    }
}

void zyx::schedule::launchCopies(FuncOp copy, MutableArrayRef<zyx::plan::LaunchOp> launches, unsigned at,
                                 int64_t elements, OpBuilder &builder, Location loc) {
  const bool isKept = readWeights(launches, at);
  for (zyx::plan::LaunchOp launch : launches) {
    Value source = launch.getIns()[at];
    builder.setInsertionPoint(launch);
    zyx::plan::InitOp init = isKept ? initOf(launch->getParentOfType<zyx::plan::FuncOp>(), loc) : zyx::plan::InitOp();
    if (init)
      builder.setInsertionPoint(init);
    auto made = zyx::plan::AllocOp::create(
        builder, loc,
        zyx::plan::BufferType::get(builder.getContext(),
                                   {cast<zyx::plan::BufferType>(source.getType()).getDtype(), {elements}}));
    made.setKept(isKept);
    if (init)
      builder.setInsertionPoint(init.getBody().front().getTerminator());
    zyx::plan::LaunchOp::create(builder, loc, zyx::plan::EventType::get(builder.getContext()),
                                FlatSymbolRefAttr::get(copy.getSymNameAttr()), ValueRange{source},
                                ValueRange{made.getResult()}, builder.getDenseI64ArrayAttr({}),
                                builder.getI64IntegerAttr(0), ValueRange());
    launch.getInsMutable().append(made.getResult());
  }
}

void zyx::schedule::dropUnread(FuncOp func, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  Block &body = func.getBody().front();
  for (unsigned at = launches.front().getIns().size(); at-- > 0;)
    if (body.getArgument(at).use_empty()) {
      body.eraseArgument(at);
      for (zyx::plan::LaunchOp launch : launches)
        launch.getInsMutable().erase(at);
    }
  func.setFunctionType(FunctionType::get(func.getContext(), body.getArgumentTypes(), {}));
}
