//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"

using namespace mlir;
using namespace zyx::graph::ir;

SmallVector<Block *> zyx::fusion::getBlocks(func::FuncOp entry) {
  SmallVector<Block *> blocks{&entry.getBody().front()};
  entry.walk<WalkOrder::PreOrder>([&](LoopOp loop) {
    if (loop->hasAttr(oneKernelAttrName))
      return WalkResult::skip();
    blocks.push_back(&loop.getBlock());
    return WalkResult::advance();
  });
  return blocks;
}

void zyx::fusion::eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<NodeOpInterface>(op) && op.use_empty())
      op.erase();
}

Value zyx::fusion::cloneWith(OpBuilder &builder, Operation *op, ValueRange operands, Type type) {
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

Value zyx::fusion::makeSplat(OpBuilder &builder, Location loc, RankedTensorType type, double number) {
  Attribute element = builder.getFloatAttr(type.getElementType(), number);
  return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, element));
}

Value zyx::fusion::makeIntegerSplat(OpBuilder &builder, Location loc, RankedTensorType type, int64_t number) {
  const APInt bits(type.getElementTypeBitWidth(), number, /*isSigned=*/true, /*implicitTrunc=*/true);
  return ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, bits));
}

LogicalResult zyx::fusion::rewriteBlocks(func::FuncOp entry, llvm::function_ref<void(Block &)> rewrite) {
  if (failed(requireNumbers(entry)))
    return failure();
  if (!entry.isExternal() && entry.getBody().hasOneBlock()) {
    const SmallVector<Block *> outerFirst = getBlocks(entry);
    for (Block *block : llvm::reverse(outerFirst))
      rewrite(*block);
  }
  return success();
}

std::optional<BinaryKind> zyx::fusion::getCombine(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Add:
    return BinaryKind::Add;
  case ReduceKind::Mul:
    return BinaryKind::Mul;
  case ReduceKind::Max:
    return BinaryKind::Max;
  case ReduceKind::Min:
    return BinaryKind::Min;
  default:
    return std::nullopt;
  }
}

bool zyx::fusion::isRounded(ReduceOp op) {
  Type element = cast<RankedTensorType>(op.getX().getType()).getElementType();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 &&
         (op.getKind() == ReduceKind::Add || op.getKind() == ReduceKind::Mul);
}
