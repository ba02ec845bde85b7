//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Blocks of 64 x 128 that threads multiply themselves. Two by two warps have 32 x 64 each; lane l of a warp has the rows
// l / 8, l / 8 + 4 and so on, and the columns l % 8, l % 8 + 8 and so on: eight of each. So eight neighbours read pieces of
// 16 bytes of eight rows in a row of the right factor, which a swizzle of 128 puts into different banks.
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace zyx::kernel;

static constexpr int64_t perThread = 8, rowStep = 4, columnStep = 8, rowBytes = 128, pieceBytes = 16;

Value Lowering::blockRow() {
  Value half = LLVM::LShrOp::create(b, loc, threads.thread, constant(6));
  Value up = LLVM::AndOp::create(b, loc, LLVM::LShrOp::create(b, loc, threads.thread, constant(3)), constant(3));
  return LLVM::AddOp::create(b, loc, LLVM::ShlOp::create(b, loc, half, constant(5)), up);
}

Value Lowering::blockColumn() {
  Value half = LLVM::AndOp::create(b, loc, threads.thread, constant(32));
  return LLVM::AddOp::create(b, loc, LLVM::ShlOp::create(b, loc, half, constant(1)),
                             LLVM::AndOp::create(b, loc, threads.thread, constant(7)));
}

LogicalResult Lowering::lower(OuterProductsOp op) {
  auto type = dyn_cast_or_null<LLVM::LLVMStructType>(convert(op.getType()));
  auto frag = dyn_cast_or_null<FragAttr>(cast<RankedTensorType>(op.getType()).getEncoding());
  if (!type || !frag || frag.getKind() != FragKind::Block || !type.getBody().front().isF32())
    return op.emitOpError() << "into " << op.getType() << " is not lowered; blocks of 64 x 128 of f32 are";
  if (failed(requireWarpGroup(op)))
    return failure();
  auto fits = [&](Value view, int64_t rows) {
    auto shared = cast<ViewType>(view.getType());
    AllocOp alloc = allocationOf(view);
    return alloc && memory.at(alloc).swizzle == rowBytes && shared.getElementType().isF32() &&
           shared.getShape() == ArrayRef<int64_t>{rows, rowBytes / 4};
  };
  if (!fits(op.getLhs(), 64) || !fits(op.getRhs(), 128))
    return op.emitOpError("takes 64 and 128 rows of 32 f32 from shared memory with a swizzle of 128");

  auto bitsOf = [&](Value x, int64_t y) -> Value { return LLVM::XOrOp::create(b, loc, x, constant(y)); };
  auto scaled = [&](Value x, int64_t shift) -> Value { return LLVM::ShlOp::create(b, loc, x, constant(shift)); };
  Value up = LLVM::AndOp::create(b, loc, LLVM::LShrOp::create(b, loc, threads.thread, constant(3)), constant(3));
  Value across = LLVM::AndOp::create(b, loc, threads.thread, constant(7));
  Value left = advance(value(op.getLhs()), scaled(blockRow(), 7));
  Value right = advance(value(op.getRhs()), scaled(blockColumn(), 7));
  Type four = VectorType::get(4, f32);
  auto read = [&](Value place, int64_t offset) -> Value {
    return LLVM::LoadOp::create(b, loc, four, advance(place, offset), pieceBytes);
  };
  SmallVector<Value> sums = unpack(value(op.getAcc()));
  for (int64_t piece = 0; piece < rowBytes / pieceBytes; ++piece) {
    // Every other of a thread's rows is in the second half of eight.
    Value even = bitsOf(up, piece);
    Value lefts[] = {advance(left, scaled(even, 4)), advance(left, scaled(bitsOf(even, rowStep), 4))};
    Value here = advance(right, scaled(bitsOf(across, piece), 4));
    SmallVector<Value> rows, columns;
    for (int64_t i = 0; i < perThread; ++i) {
      rows.push_back(read(lefts[i % 2], i * rowStep * rowBytes));
      columns.push_back(read(here, i * columnStep * rowBytes));
    }
    for (int64_t e = 0; e < 4; ++e)
      for (int64_t i = 0; i < perThread; ++i) {
        Value row = LLVM::ExtractElementOp::create(b, loc, rows[i], constant(e));
        for (int64_t j = 0; j < perThread; ++j) {
          Value column = LLVM::ExtractElementOp::create(b, loc, columns[j], constant(e));
          Value &sum = sums[i * perThread + j];
          sum = LLVM::FMAOp::create(b, loc, row, column, sum);
        }
      }
  }
  map.map(op.getResult(), pack(type, sums));
  return success();
}
