//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Blocks of 64 x 128 that threads multiply themselves. Two by two warps have 32 x 64 each; lane l of a warp has the
// rows 4 (l / 8) to 4 (l / 8) + 3 and those 16 behind them, and the columns 4 (l % 8) to 4 (l % 8) + 3 and those 32
// behind. Both factors lie in rows along these, in swizzled panels of 32: of each row of a panel a warp reads pieces of
// 16 bytes that are next to each other, if not in this order, once for all lanes that share them. Of blocks of 32 x 128
// a warp has 16 rows, which are half of a panel, and a lane the first four.
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace zyx::kernel;

static constexpr int64_t perThread = 8, perPiece = 4, rowBytes = 128, pieceBytes = 16, pieces = rowBytes / pieceBytes;
static constexpr int64_t panelColumns = 32, blockRows = 64, lowRows = 32, blockColumns = 128;

bool Lowering::isSwizzledMatrix(Value view, int64_t rows, int64_t columns) {
  auto shared = cast<ViewType>(view.getType());
  AllocOp alloc = allocationOf(view);
  return alloc && memory.at(alloc).swizzle == rowBytes && shared.getElementType().isF32() &&
         shared.getShape() == ArrayRef<int64_t>{rows, columns};
}

Value Lowering::blockRow(int64_t rows) {
  Value half = LLVM::LShrOp::create(b, loc, threads.thread, constant(6));
  Value down = LLVM::AndOp::create(b, loc, LLVM::LShrOp::create(b, loc, threads.thread, constant(1)), constant(12));
  return LLVM::AddOp::create(b, loc, LLVM::ShlOp::create(b, loc, half, constant(rows == lowRows ? 4 : 5)), down);
}

Value Lowering::blockColumn() {
  Value half = LLVM::AndOp::create(b, loc, threads.thread, constant(32));
  Value across = LLVM::AndOp::create(b, loc, threads.thread, constant(7));
  return LLVM::AddOp::create(b, loc, LLVM::ShlOp::create(b, loc, half, constant(1)),
                             LLVM::ShlOp::create(b, loc, across, constant(2)));
}

LogicalResult Lowering::lower(OuterProductsOp op) {
  auto type = dyn_cast_or_null<LLVM::LLVMStructType>(convert(op.getType()));
  auto frag = dyn_cast_or_null<FragAttr>(cast<RankedTensorType>(op.getType()).getEncoding());
  if (!type || !frag || frag.getKind() != FragKind::Block || !type.getBody().front().isF32())
    return op.emitOpError() << "into " << op.getType() << " is not lowered; blocks of 64 x 128 and 32 x 128 of f32 are";
  if (failed(requireWarpGroup(op)))
    return failure();
  const int64_t depth = op.getLhs().getType().getDimSize(0), rows = cast<RankedTensorType>(op.getType()).getDimSize(0);
  if (!isSwizzledMatrix(op.getLhs(), depth, rows) || !isSwizzledMatrix(op.getRhs(), depth, blockColumns) ||
      depth % pieces != 0)
    return op.emitOpError() << "takes rows of " << rows
                            << " and of 128 f32, a multiple of 8, from shared memory with a "
                            << "swizzle of 128";

  const int64_t panelBytes = depth * rowBytes;
  auto bitsOf = [&](Value x, int64_t y) -> Value { return LLVM::AndOp::create(b, loc, x, constant(y)); };
  auto down = [&](Value x, int64_t shift) -> Value { return LLVM::LShrOp::create(b, loc, x, constant(shift)); };
  // Where a thread's piece of a panel is in rows that are s behind a multiple of 8.
  auto placesOf = [&](Value view, Value panel, Value piece) {
    Value first = advance(value(view), LLVM::MulOp::create(b, loc, panel, constant(panelBytes)).getResult());
    SmallVector<Value> places;
    for (int64_t s = 0; s < pieces; ++s) {
      Value swizzled = LLVM::XOrOp::create(b, loc, piece, constant(s));
      places.push_back(advance(first, LLVM::ShlOp::create(b, loc, swizzled, constant(4)).getResult()));
    }
    return places;
  };
  // A warp has one panel of the left factor, where a thread's second piece is four behind the first one, or half of
  // one, and two of the right one.
  const bool isLow = rows == lowRows;
  Value piece = bitsOf(down(threads.thread, 3), 3), half = down(threads.thread, 6);
  if (isLow)
    piece = LLVM::OrOp::create(b, loc, piece, LLVM::ShlOp::create(b, loc, half, constant(2)));
  SmallVector<Value> left = placesOf(op.getLhs(), isLow ? constant(0) : half, piece);
  SmallVector<Value> right = placesOf(op.getRhs(), bitsOf(down(threads.thread, 4), 2), bitsOf(threads.thread, 7));
  Type four = VectorType::get(perPiece, f32);
  auto read = [&](SmallVector<Value> &onto, Value place, int64_t offset) {
    Value piece = LLVM::LoadOp::create(b, loc, four, advance(place, offset), pieceBytes);
    for (int64_t i = 0; i < perPiece; ++i)
      onto.push_back(LLVM::ExtractElementOp::create(b, loc, piece, constant(i)));
  };
  struct Step {
    SmallVector<Value> rows, columns;
  };
  auto readStep = [&](int64_t k) {
    Step step;
    const int64_t s = k % pieces, row = k * rowBytes;
    read(step.rows, left[s], row);
    read(step.columns, right[s], row);
    if (!isLow)
      read(step.rows, left[s ^ pieces / 2], row);
    read(step.columns, right[s], row + panelBytes);
    return step;
  };
  SmallVector<Value> sums = unpack(value(op.getAcc()));
  Step step = readStep(0);
  for (int64_t k = 0; k < depth; ++k) {
    // What is multiplied next is on its way meanwhile.
    Step next = k + 1 < depth ? readStep(k + 1) : Step();
    // To and fro, so that neighbours have a row or a column in common.
    for (int64_t i = 0; i < rows / perThread; ++i)
      for (int64_t each = 0; each < perThread; ++each) {
        const int64_t j = i % 2 ? perThread - 1 - each : each;
        Value &sum = sums[i * perThread + j];
        sum = LLVM::FMAOp::create(b, loc, step.rows[i], step.columns[j], sum);
      }
    step = std::move(next);
  }
  map.map(op.getResult(), pack(type, sums));
  return success();
}

/// Lane l of a warp has four rows and a piece of each. Which ones follows from its bits, so that eight neighbours read
/// from all banks and write to all banks, though both sides are swizzled.
LogicalResult Lowering::lower(TransposeSharedOp op) {
  const int64_t rows = op.getFrom().getType().getDimSize(0);
  if (!isSwizzledMatrix(op.getFrom(), rows, panelColumns) || !isSwizzledMatrix(op.getTo(), panelColumns, rows) ||
      rows % blockRows != 0)
    return op.emitOpError("takes a multiple of 64 rows of 32 f32 from and to shared memory with a swizzle of 128");
  if (failed(requireWarpGroup(op)))
    return failure();
  auto bit = [&](int64_t from, int64_t to) -> Value {
    Value at = LLVM::AndOp::create(b, loc, threads.thread, constant(int64_t(1) << from));
    if (from == to)
      return at;
    return to > from ? LLVM::ShlOp::create(b, loc, at, constant(to - from)).getResult()
                     : LLVM::LShrOp::create(b, loc, at, constant(from - to)).getResult();
  };
  auto xored = [&](Value x, Value y) -> Value { return LLVM::XOrOp::create(b, loc, x, y); };
  auto scaled = [&](Value x, int64_t shift) -> Value { return LLVM::ShlOp::create(b, loc, x, constant(shift)); };
  // A piece of a row, and the number of four rows: bits of these are bits of the lane, the upper ones of the warp.
  Value piece = xored(xored(bit(0, 0), bit(1, 1)), bit(3, 2));
  Value fours = xored(xored(xored(bit(2, 0), bit(1, 1)), bit(4, 1)), xored(bit(5, 2), bit(6, 3)));
  const int64_t panelBytes = panelColumns * rowBytes;
  Value from = advance(value(op.getFrom()), scaled(fours, 9));
  Value to =
      advance(advance(value(op.getTo()), LLVM::MulOp::create(b, loc, bit(6, 0), constant(panelBytes)).getResult()),
              scaled(piece, 9));
  // Rows 4 f + i of a matrix have their pieces exchanged by 4 (f % 2) + i.
  Value read = xored(piece, bit(2, 2)), write = xored(LLVM::AndOp::create(b, loc, fours, constant(7)), bit(0, 2));
  auto placeOf = [&](Value base, Value swizzled, int64_t i) {
    return advance(advance(base, scaled(xored(swizzled, constant(i)), 4)), i * rowBytes);
  };
  SmallVector<Value> sources, targets;
  for (int64_t i = 0; i < perPiece; ++i) {
    sources.push_back(placeOf(from, read, i));
    targets.push_back(placeOf(to, write, i));
  }
  Type four = VectorType::get(perPiece, f32);
  for (int64_t block = 0; block < rows / blockRows; ++block) {
    SmallVector<Value> taken;
    for (Value source : sources)
      taken.push_back(LLVM::LoadOp::create(b, loc, four, advance(source, block * blockRows * rowBytes), pieceBytes));
    for (int64_t i = 0; i < perPiece; ++i) {
      Value turned = LLVM::PoisonOp::create(b, loc, four);
      for (int64_t j = 0; j < perPiece; ++j)
        turned = LLVM::InsertElementOp::create(
            b, loc, turned, LLVM::ExtractElementOp::create(b, loc, taken[j], constant(i)), constant(j));
      LLVM::StoreOp::create(b, loc, turned, advance(targets[i], block * (blockRows / panelColumns) * panelBytes),
                            pieceBytes);
    }
  }
  return success();
}
