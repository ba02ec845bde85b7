//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Copies by all threads of a workgroup: a box is cut into pieces of 16 bytes, which the threads take in turn, row by
// row. So neighbours read neighbours, and a thread's pieces are a fixed number of rows apart.
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace zyx::kernel;

static constexpr int64_t pieceBytes = 16;

struct Lowering::Pieces {
  int64_t rows = 0, perRow = 0, threads = 0;
  /// This thread's first piece: its row, and which one of the row it is.
  Value row, inRow;
  int64_t rowsApart() const { return threads / perRow; }
  /// Of each thread, at most: of the last ones some threads may have none.
  int64_t count() const { return llvm::divideCeil(rows, rowsApart()); }
  bool isPartial(int64_t i) const { return (i + 1) * rowsApart() > rows; }
};

/// Where a thread reads its pieces in global memory.
struct Lowering::GlobalPieces {
  Value buffer, first;
  int64_t rowBytes = 0;
  /// Of each, how many bytes exist; null where all 16 do.
  SmallVector<Value> bytes;
};

bool Lowering::runOnAll(Operation *op) {
  auto roles = op->getParentOfType<RolesOp>();
  return !threads.isSingle() && (!roles || llvm::hasSingleElement(roles.getBody().getOps<RoleOp>()));
}

FailureOr<Lowering::Pieces> Lowering::piecesOf(Operation *op, ArrayRef<int64_t> shape, Type element) {
  if (!runOnAll(op))
    return op->emitOpError("is run by some threads of the workgroup only");
  Pieces pieces;
  pieces.threads = kernel.getThreads().value_or(1);
  const int64_t bits = element.getIntOrFloatBitWidth();
  pieces.rows = shape.size() == 2 ? shape[0] : 0;
  pieces.perRow = shape.back() * bits / (8 * pieceBytes);
  if (pieces.rows == 0 || bits < 8 || shape.back() * bits % (8 * pieceBytes) != 0 ||
      pieces.threads % pieces.perRow != 0)
    return op->emitOpError() << "copies rows of " << shape.back() << " elements, which " << pieces.threads
                             << " threads do not share in pieces of " << pieceBytes << " bytes";
  Value perRow = constant(pieces.perRow);
  pieces.row = LLVM::UDivOp::create(b, loc, workgroupThread, perRow);
  pieces.inRow = LLVM::URemOp::create(b, loc, workgroupThread, perRow);
  return pieces;
}

FailureOr<Lowering::GlobalPieces> Lowering::globalPieces(Operation *op, Value view, ValueRange indices,
                                                         std::optional<ArrayRef<bool>> inBounds, const Pieces &pieces) {
  auto made = view.getDefiningOp<ViewOp>();
  if (!made || !made.getMap().isOneWholeBlock() || !made.getType().hasStaticShape() || made.getType().getRank() < 2)
    return op->emitOpError("copies through a view that is not one whole block of known shape");
  ViewType type = made.getType();
  const int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8, perPiece = pieceBytes / elementBytes;
  SmallVector<int64_t> strides;
  BlockAttr block = made.getMap().front();
  std::optional<int64_t> offset = BlockAttr::constant(block.getOffset());
  for (AffineExpr stride : block.getStrides())
    strides.push_back(BlockAttr::constant(stride).value_or(-1));
  if (!offset || *offset % perPiece != 0 || strides.back() != 1 ||
      llvm::any_of(ArrayRef(strides).drop_back(), [&](int64_t stride) { return stride < 0 || stride % perPiece != 0; }))
    return op->emitOpError() << "copies through a view whose rows do not lie on multiples of " << pieceBytes
                             << " bytes";

  auto plus = [&](Value x, Value y) -> Value { return LLVM::AddOp::create(b, loc, x, y); };
  auto wide = [&](Value x) -> Value { return LLVM::SExtOp::create(b, loc, i64, x); };
  const size_t rowDim = strides.size() - 2, columnDim = strides.size() - 1;
  SmallVector<Value> at = values(indices);
  GlobalPieces result;
  result.buffer = value(made.getBuffer());
  result.rowBytes = strides[rowDim] * elementBytes;
  // What a tile's place gives and what the thread's number gives are added apart, so that both stay out of loops.
  Value place = constant(i64, *offset);
  for (auto [index, stride] : llvm::zip(at, strides))
    if (stride != 0)
      place = plus(place, LLVM::MulOp::create(b, loc, wide(index), constant(i64, stride)));
  Value inRow = LLVM::MulOp::create(b, loc, pieces.inRow, constant(perPiece));
  Value own = plus(LLVM::MulOp::create(b, loc, wide(pieces.row), constant(i64, strides[rowDim])), wide(inRow));
  Value tile =
      LLVM::GEPOp::create(b, loc, globalPointer, type.getElementType(), result.buffer, ArrayRef<LLVM::GEPArg>{own});
  result.first = LLVM::GEPOp::create(b, loc, globalPointer, type.getElementType(), tile, ArrayRef<LLVM::GEPArg>{place});

  auto isInside = [&](size_t dim) { return inBounds && (*inBounds)[dim]; };
  Value ofRow;
  const int64_t columns = type.getDimSize(columnDim);
  if (!isInside(columnDim)) {
    Value column = plus(at[columnDim], inRow);
    if (columns % perPiece == 0) {
      Value exists = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, column, constant(columns));
      ofRow = LLVM::SelectOp::create(b, loc, exists, constant(pieceBytes), constant(0));
    } else {
      Value left = LLVM::SubOp::create(b, loc, constant(columns), column);
      Value some = LLVM::SMinOp::create(b, loc, LLVM::SMaxOp::create(b, loc, left, constant(0)), constant(perPiece));
      ofRow = LLVM::MulOp::create(b, loc, some, constant(elementBytes));
    }
  }
  Value row = plus(at[rowDim], pieces.row);
  for (int64_t i = 0; i < pieces.count(); ++i) {
    result.bytes.push_back(ofRow);
    if (isInside(rowDim))
      continue;
    Value exists = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, plus(row, constant(i * pieces.rowsApart())),
                                        constant(type.getDimSize(rowDim)));
    result.bytes.back() = LLVM::SelectOp::create(b, loc, exists, ofRow ? ofRow : constant(pieceBytes), constant(0));
  }
  return result;
}

Value Lowering::pieceAt(const GlobalPieces &from, const Pieces &pieces, int64_t i) {
  if (i == 0)
    return from.first;
  return LLVM::GEPOp::create(
      b, loc, globalPointer, b.getI8Type(), from.first,
      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(constant(i64, i * pieces.rowsApart() * from.rowBytes))});
}

Value Lowering::swizzled(const SharedMemory &place, Value row, Value piece) {
  // Rows are `swizzle` bytes long; every 128 bytes the pieces of a row are exchanged another way.
  const int64_t perPanel = place.swizzle / pieceBytes;
  const int64_t rowsAlike = 128 / place.swizzle;
  auto andOf = [&](Value x, int64_t y) -> Value { return LLVM::AndOp::create(b, loc, x, constant(y)); };
  auto times = [&](Value x, int64_t y) -> Value { return LLVM::MulOp::create(b, loc, x, constant(y)); };
  Value way = andOf(LLVM::UDivOp::create(b, loc, row, constant(rowsAlike)), perPanel - 1);
  Value inPanel = LLVM::XOrOp::create(b, loc, andOf(piece, perPanel - 1), way);
  Value panel = LLVM::UDivOp::create(b, loc, piece, constant(perPanel));
  return LLVM::AddOp::create(b, loc, times(panel, place.panelBytes),
                             LLVM::AddOp::create(b, loc, times(row, place.swizzle), times(inPanel, pieceBytes)));
}

/// Calls `body` for each of a thread's pieces with its place in shared memory, behind a branch where it may have none.
LogicalResult Lowering::forEachPiece(Operation *op, Value slot, const Pieces &pieces,
                                     llvm::function_ref<void(int64_t i, Value place)> body) {
  AllocOp alloc = allocationOf(slot);
  if (!alloc || !memory.at(alloc).swizzle)
    return op->emitOpError("copies to shared memory that is not swizzled, which is not lowered");
  const SharedMemory &place = memory.at(alloc);
  // A swizzle repeats after eight rows.
  const int64_t repeats = pieces.rowsApart() % 8 == 0 ? 1 : 8 / std::min<int64_t>(pieces.rowsApart(), 8);
  SmallVector<Value> offsets;
  for (int64_t i = 0; i < std::min(repeats, pieces.count()); ++i)
    offsets.push_back(
        swizzled(place, LLVM::AddOp::create(b, loc, pieces.row, constant(i * pieces.rowsApart())), pieces.inRow));
  for (int64_t i = 0; i < pieces.count(); ++i) {
    Value at =
        advance(advance(value(slot), offsets[i % repeats]), i / repeats * repeats * pieces.rowsApart() * place.swizzle);
    if (!pieces.isPartial(i)) {
      body(i, at);
      continue;
    }
    Value exists = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, pieces.row,
                                        constant(pieces.rows - i * pieces.rowsApart()));
    (void)lowerIf(exists, [&] {
      body(i, at);
      return success();
    });
  }
  return success();
}

LogicalResult Lowering::lower(CopyAsyncOp op) {
  ViewType slot = op.getSlot().getType();
  FailureOr<Pieces> pieces = piecesOf(op, slot.getShape(), slot.getElementType());
  if (failed(pieces))
    return failure();
  FailureOr<GlobalPieces> from = globalPieces(op, op.getView(), op.getIndices(), op.getInBounds(), *pieces);
  if (failed(from))
    return failure();
  return forEachPiece(op, op.getSlot(), *pieces, [&](int64_t i, Value place) {
    NVVM::CpAsyncOp::create(b, loc, place, pieceAt(*from, *pieces, i), pieceBytes, NVVM::LoadCacheModifierKind::CG,
                            from->bytes[i]);
  });
}

LogicalResult Lowering::lower(FetchOp op) {
  auto tile = cast<RankedTensorType>(op.getType());
  auto type = dyn_cast_or_null<LLVM::LLVMStructType>(convert(tile));
  FailureOr<Pieces> pieces = piecesOf(op, tile.getShape(), tile.getElementType());
  if (failed(pieces) || !type)
    return failure();
  FailureOr<GlobalPieces> from = globalPieces(op, op.getView(), op.getIndices(), op.getInBounds(), *pieces);
  if (failed(from))
    return failure();
  Type four = type.getBody().front();
  SmallVector<Value> registers;
  for (int64_t i = 0; i < pieces->count(); ++i) {
    // What does not exist is read from where something does, and is zero.
    Value place = pieceAt(*from, *pieces, i), all;
    Value bytes = from->bytes[i];
    if (pieces->isPartial(i)) {
      Value exists = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, pieces->row,
                                          constant(pieces->rows - i * pieces->rowsApart()));
      bytes = LLVM::SelectOp::create(b, loc, exists, bytes ? bytes : constant(pieceBytes), constant(0));
    }
    if (bytes) {
      all = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, bytes, constant(pieceBytes));
      place = LLVM::SelectOp::create(b, loc, all, place, from->buffer);
    }
    Value read = LLVM::LoadOp::create(b, loc, four, place, pieceBytes, /*isVolatile=*/false, /*isNonTemporal=*/false,
                                      /*isInvariant=*/true);
    if (all)
      read = LLVM::SelectOp::create(b, loc, all, read, LLVM::ZeroOp::create(b, loc, four));
    registers.push_back(read);
  }
  const int64_t perPiece = pieceBytes * 8 / tile.getElementType().getIntOrFloatBitWidth();
  if (op.getView().getType().getShape().back() % perPiece != 0)
    return op.emitOpError("reads rows that end inside of 16 bytes");
  map.map(op.getResult(), pack(type, registers));
  return success();
}

LogicalResult Lowering::storePieces(StoreOp op) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  if (op.getMask() || op.getView().getType().getShape().take_back(2) != tile.getShape() ||
      llvm::any_of(op.getIndices(), [](Value index) { return getConstantIntValue(index) != 0; }))
    return op.emitOpError("does not fill its view with what threads have fetched");
  FailureOr<Pieces> pieces = piecesOf(op, tile.getShape(), tile.getElementType());
  if (failed(pieces))
    return failure();
  SmallVector<Value> registers = unpack(value(op.getValue()));
  return forEachPiece(op, op.getView(), *pieces,
                      [&](int64_t i, Value place) { LLVM::StoreOp::create(b, loc, registers[i], place, pieceBytes); });
}
