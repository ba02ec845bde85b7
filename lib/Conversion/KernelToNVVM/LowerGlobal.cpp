//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Global memory that threads read and write themselves: what a thread holds of a tile lies at two rows and at
// pairs of columns, or of a block at eight of each, four of them neighbours.
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "zyx/Dialect/Kernel/IR/Divisor.h"

using namespace mlir;
using namespace zyx::kernel;

struct Lowering::Share {
  /// Of the buffer, and of the thread's first element.
  Value buffer, first;
  Type element;
  /// Of each register: in which of the thread's rows it is, and the column beyond the thread's first one.
  SmallVector<std::pair<size_t, int64_t>> places;
  /// Rows beyond the thread's first one.
  SmallVector<int64_t> rowsBeyond = {0};
  int64_t rowStride = 0, columnStride = 0;
  /// Whether each of the rows exists; null where all do.
  SmallVector<Value> rows = {Value()};
  /// Where rows may not exist: how far each one's elements are from those of the first one, or those of the last row
  /// that exists.
  SmallVector<Value> rowOffsets = {Value()};
  /// The thread's first column, and how many there are; null where all exist.
  Value column;
  int64_t columns = 0;
  /// So many registers, 1, 2 or 4, are one place in memory; and whether they exist together. Where the first one of a
  /// place exists, all of it may be read.
  int64_t together = 1;
  bool existsTogether = true;

  int64_t offsetOf(size_t i) const { return rowsBeyond[places[i].first] * rowStride + places[i].second * columnStride; }
};

/// Where elements of a view are: the distances of its dimensions, and the first one.
struct Places {
  ViewOp made;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
};

static FailureOr<Places> placesOf(Operation *op, Value view) {
  Places places{view.getDefiningOp<ViewOp>(), {}, 0};
  if (!places.made || !places.made.getMap().isOneWholeBlock() || !places.made.getType().hasStaticShape())
    return op->emitOpError("moves elements through a view that is not one whole block of known shape");
  BlockAttr block = places.made.getMap().front();
  for (AffineExpr stride : block.getStrides()) {
    std::optional<int64_t> known = BlockAttr::constant(stride);
    if (!known)
      return op->emitOpError("moves elements through a view whose strides are not known");
    places.strides.push_back(*known);
  }
  std::optional<int64_t> offset = BlockAttr::constant(block.getOffset());
  if (!offset)
    return op->emitOpError("moves elements through a view whose offset is not known");
  places.offset = *offset;
  return places;
}

FailureOr<Lowering::Share> Lowering::shareOf(Operation *op, Value view, ValueRange indices, Type type,
                                             std::optional<ArrayRef<bool>> inBounds) {
  FailureOr<Places> places = placesOf(op, view);
  if (failed(places))
    return failure();
  auto &[made, strides, offset] = *places;
  Share share;
  share.element = made.getType().getElementType();
  share.buffer = value(made.getBuffer());
  const size_t rank = strides.size();
  auto tile = dyn_cast<RankedTensorType>(type);
  bool hasRows = false, hasColumns = false, isBlock = false;
  if (tile) {
    if (!convert(type))
      return op->emitOpError() << "moves " << type << ", which no thread can hold";
    auto slice = dyn_cast<SliceAttr>(tile.getEncoding());
    const FragKind kind = cast<FragAttr>(slice ? slice.getParent() : tile.getEncoding()).getKind();
    isBlock = kind == FragKind::Block;
    if (!isBlock && !isAccumulator(kind))
      return op->emitOpError() << "moves " << type << ", whose elements are not side by side";
    if (failed(requireThreadsOf(op, kind)))
      return failure();
    hasRows = !slice || slice.getDim() == 1;
    hasColumns = !slice || slice.getDim() == 0;
  }
  auto isInside = [&](size_t dim) { return inBounds && (*inBounds)[dim]; };
  auto wide = [&](Value v) -> Value { return LLVM::SExtOp::create(b, loc, i64, v); };
  auto plus = [&](Value x, Value y) -> Value { return LLVM::AddOp::create(b, loc, x, y); };
  Value place = constant(i64, offset);
  SmallVector<Value> at = values(indices);
  if (hasRows) {
    const size_t dim = rank - 1 - hasColumns;
    share.rowStride = strides[dim];
    if (isBlock) {
      at[dim] = plus(at[dim], blockRow(tile.getDimSize(0)));
      share.rowsBeyond = llvm::to_vector(ArrayRef(rowsBeyondInBlock).take_front(tile.getDimSize(0) / 8));
    } else {
      Value lane = LLVM::AndOp::create(b, loc, threads.thread, constant(31));
      Value warp = LLVM::LShrOp::create(b, loc, threads.thread, constant(5));
      at[dim] = plus(at[dim], plus(LLVM::ShlOp::create(b, loc, warp, constant(4)),
                                   LLVM::LShrOp::create(b, loc, lane, constant(2))));
      share.rowsBeyond = {0, 8};
    }
    share.rows.assign(share.rowsBeyond.size(), Value());
    share.rowOffsets.assign(share.rowsBeyond.size(), Value());
    if (const int64_t count = made.getType().getDimSize(dim); !isInside(dim))
      for (auto [exists, offset, beyond] : llvm::zip(share.rows, share.rowOffsets, share.rowsBeyond)) {
        Value row = plus(at[dim], constant(beyond));
        exists = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, row, constant(count));
        row = LLVM::SelectOp::create(b, loc, exists, row, constant(count - 1));
        offset = LLVM::MulOp::create(b, loc, wide(LLVM::SubOp::create(b, loc, row, at[dim])),
                                     constant(i64, share.rowStride));
      }
  }
  if (hasColumns) {
    const size_t dim = rank - 1;
    share.columnStride = strides[dim];
    if (isBlock) {
      at[dim] = plus(at[dim], blockColumn());
    } else {
      Value four = LLVM::AndOp::create(b, loc, threads.thread, constant(3));
      at[dim] = plus(at[dim], LLVM::ShlOp::create(b, loc, four, constant(1)));
    }
    share.columns = made.getType().getDimSize(dim);
    if (!isInside(dim))
      share.column = at[dim];
    const int64_t neighbours = isBlock ? 4 : 2;
    share.existsTogether = isInside(dim) || share.columns % neighbours == 0;
    if (share.columnStride == 1 && !share.element.isInteger(1) && offset % neighbours == 0 &&
        llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) { return stride % neighbours == 0; }))
      share.together = neighbours;
  }
  for (auto [index, stride] : llvm::zip(at, strides))
    if (stride != 0)
      place = plus(place, LLVM::MulOp::create(b, loc, wide(index), constant(i64, stride)));
  share.first = LLVM::GEPOp::create(b, loc, globalPointer, share.element, share.buffer, ArrayRef<LLVM::GEPArg>{place});
  if (isBlock)
    for (size_t row = 0; row < share.rowsBeyond.size(); ++row)
      for (int64_t beyond : ArrayRef(columnsBeyondInBlock).take_front(hasColumns ? 8 : 1))
        share.places.push_back({row, beyond});
  else if (hasRows && hasColumns)
    for (int64_t i = 0; i < tile.getDimSize(1) / 2; ++i)
      share.places.push_back({(i >> 1) & 1, i / 4 * 8 + i % 2});
  else if (hasRows)
    share.places = {{0, 0}, {1, 0}};
  else if (hasColumns)
    for (int64_t i = 0; i < tile.getDimSize(0) / 4; ++i)
      share.places.push_back({0, i / 2 * 8 + i % 2});
  else
    share.places = {{0, 0}};
  return share;
}

/// Whether register i is an element of the view: null where all are.
static Value existsAt(OpBuilder &b, Location loc, Value row, Value column) {
  if (row && column)
    return LLVM::AndOp::create(b, loc, row, column);
  return row ? row : column;
}

LogicalResult Lowering::lower(LoadOp op) {
  if (op.getView().getType().getSpace() != Space::Global || op.getMask() || op.getOther())
    return op.emitOpError("is not a plain one of global memory");
  Type type = convert(op.getType());
  FailureOr<Share> share = shareOf(op, op.getView(), op.getIndices(), op.getType(), op.getInBounds());
  if (failed(share) || !type)
    return failure();
  // A condition is a byte.
  const int64_t bytes = std::max<int64_t>(share->element.getIntOrFloatBitWidth() / 8, 1);
  llvm::DenseMap<int64_t, Value> columnExists;
  auto exists = [&](size_t i) {
    auto [row, column] = share->places[i];
    Value &known = columnExists[column];
    if (share->column && !known)
      known =
          LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult,
                               LLVM::AddOp::create(b, loc, share->column, constant(column)), constant(share->columns));
    return existsAt(b, loc, share->rows[row], known);
  };
  auto elementAt = [&](Value from, Value offset) -> Value {
    return LLVM::GEPOp::create(b, loc, globalPointer, share->element, from,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
  };
  // Where all columns exist, rows that do not are those of the last one: one address for each row, and constants beside
  // it.
  const bool hasOwnRows = !share->column && llvm::all_of(share->rowOffsets, [](Value offset) { return bool(offset); });
  SmallVector<Value> starts;
  if (hasOwnRows)
    for (Value offset : share->rowOffsets)
      starts.push_back(elementAt(share->first, offset));
  // What does not exist is read from where something does, and is zero.
  auto read = [&](size_t i, Type what, int64_t alignment) -> Value {
    Value from = hasOwnRows ? starts[share->places[i].first] : share->first;
    if (int64_t offset = hasOwnRows ? share->places[i].second * share->columnStride : share->offsetOf(i))
      from = elementAt(from, constant(i64, offset));
    Value there = exists(i);
    if (there && !hasOwnRows)
      from = LLVM::SelectOp::create(b, loc, there, from, share->buffer);
    Value result = LLVM::LoadOp::create(b, loc, what.isInteger(1) ? b.getI8Type() : what, from, alignment,
                                        /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/true);
    if (what.isInteger(1))
      result = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, result, constant(b.getI8Type(), 0));
    if (there)
      result = LLVM::SelectOp::create(b, loc, there, result, LLVM::ZeroOp::create(b, loc, what));
    // The end of rows may be inside of a place.
    auto all = dyn_cast<VectorType>(what);
    for (int64_t j = 1; all && !share->existsTogether && j < all.getNumElements(); ++j) {
      Value own = LLVM::ExtractElementOp::create(b, loc, result, constant(j));
      own = LLVM::SelectOp::create(b, loc, exists(i + j), own, LLVM::ZeroOp::create(b, loc, share->element));
      result = LLVM::InsertElementOp::create(b, loc, result, own, constant(j));
    }
    return result;
  };
  auto tile = dyn_cast<LLVM::LLVMStructType>(type);
  if (!tile) {
    map.map(op.getResult(), read(0, type, bytes));
    return success();
  }
  bool isPacked = isa<VectorType>(tile.getBody().front());
  SmallVector<Value> registers;
  for (size_t i = 0; i < share->places.size(); ++i) {
    if (const int64_t count = share->together; count > 1) {
      Value all = read(i, VectorType::get(count, share->element), count * bytes);
      if (isPacked)
        registers.push_back(all);
      else
        for (int64_t j = 0; j < count; ++j)
          registers.push_back(LLVM::ExtractElementOp::create(b, loc, all, constant(j)));
      i += count - 1;
    } else if (isPacked) {
      Value both = LLVM::PoisonOp::create(b, loc, VectorType::get(2, share->element));
      for (int64_t j = 0; j < 2; ++j)
        both = LLVM::InsertElementOp::create(b, loc, both, read(i + j, share->element, bytes), constant(j));
      registers.push_back(both);
      ++i;
    } else {
      registers.push_back(read(i, share->element, bytes));
    }
  }
  map.map(op.getResult(), pack(type, registers));
  return success();
}

LogicalResult Lowering::storeToGlobal(StoreOp op) {
  if (op.getMask() || !isa<RankedTensorType>(op.getValue().getType()))
    return op.emitOpError("is not of a tile to global memory");
  FailureOr<Share> share = shareOf(op, op.getView(), op.getIndices(), op.getValue().getType(), op.getInBounds());
  if (failed(share))
    return failure();
  const int64_t bytes = share->element.getIntOrFloatBitWidth() / 8;
  // What does not exist must not be written.
  if (!share->existsTogether)
    share->together = 1;
  SmallVector<Value> registers = unpack(value(op.getValue()));
  bool isPacked = isa<VectorType>(registers.front().getType());
  auto write = [&](size_t i, Value what, int64_t alignment) {
    Value to = share->first;
    if (int64_t offset = share->offsetOf(i))
      to = LLVM::GEPOp::create(b, loc, globalPointer, share->element, to,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(constant(i64, offset))});
    LLVM::StoreOp::create(b, loc, what, to, alignment);
  };
  auto element = [&](size_t i) -> Value {
    return isPacked ? LLVM::ExtractElementOp::create(b, loc, registers[i / 2], constant(i % 2)).getResult()
                    : registers[i];
  };
  auto neighbours = [&](size_t i) -> Value {
    if (isPacked)
      return registers[i / 2];
    Value result = LLVM::PoisonOp::create(b, loc, VectorType::get(share->together, share->element));
    for (int64_t j = 0; j < share->together; ++j)
      result = LLVM::InsertElementOp::create(b, loc, result, registers[i + j], constant(j));
    return result;
  };
  // A row at a time, each behind one branch.
  for (size_t row = 0; row < share->rows.size(); ++row) {
    auto writeRow = [&] {
      for (size_t i = 0; i < share->places.size(); ++i) {
        if (share->places[i].first != row || i % share->together != 0)
          continue;
        auto writeOne = [&] {
          if (share->together > 1)
            write(i, neighbours(i), share->together * bytes);
          else
            write(i, element(i), bytes);
          return success();
        };
        if (!share->column) {
          (void)writeOne();
          continue;
        }
        Value here = LLVM::AddOp::create(b, loc, share->column, constant(share->places[i].second));
        Value there = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, here, constant(share->columns));
        (void)lowerIf(there, writeOne);
      }
      return success();
    };
    if (share->rows[row])
      (void)lowerIf(share->rows[row], writeRow);
    else
      (void)writeRow();
  }
  return success();
}

/// Lane after lane has the next elements of a row, as many as any row's beginning is a multiple of: a warp writes a run
/// of memory, while parts of accumulators are four elements of each of eight rows.
LogicalResult Lowering::lower(StoreSharedOp op) {
  constexpr int64_t lanes = 32, warps = 4;
  AllocOp alloc = allocationOf(op.getSlot());
  ArrayRef<int64_t> slot = op.getSlot().getType().getShape();
  const int64_t rows = slot[0], columns = slot[1];
  if (!alloc || memory.at(alloc).swizzle != 128 || memory.at(alloc).elementBytes != 2 || columns * 2 != 128 ||
      rows % (8 * warps) != 0)
    return op.emitOpError("is not of rows of 128 bytes of 16-bit elements in shared memory with a swizzle of 128");
  if (failed(requireWarpGroup(op)))
    return failure();
  FailureOr<Places> places = placesOf(op, op.getView());
  if (failed(places))
    return failure();
  auto &[made, strides, offset] = *places;
  if (strides.back() != 1)
    return op.emitOpError("writes through a view whose rows are no runs of memory");
  const size_t rowDim = strides.size() - 2, columnDim = strides.size() - 1;
  ArrayRef<int64_t> shape = op.getView().getType().getShape();
  auto isEven = [](int64_t value) { return value % 2 == 0; };
  const bool holdsPairs = isEven(offset) && llvm::all_of(ArrayRef(strides).drop_back(), isEven) &&
                          (op.getInBounds()[columnDim] || isEven(shape[columnDim])) &&
                          isEven(knownDivisor(op.getIndices()[columnDim]));
  const int64_t together = holdsPairs ? 2 : 1;
  const Type element = op.getSlot().getType().getElementType();
  const Type what = together == 1 ? element : VectorType::get(together, element);

  auto plus = [&](Value x, Value y) -> Value { return LLVM::AddOp::create(b, loc, x, y); };
  auto andOf = [&](Value x, int64_t y) -> Value { return LLVM::AndOp::create(b, loc, x, constant(y)); };
  auto wide = [&](Value x) -> Value { return LLVM::SExtOp::create(b, loc, i64, x); };
  Value lane = andOf(threads.thread, lanes - 1);
  Value firstRow =
      LLVM::MulOp::create(b, loc, LLVM::LShrOp::create(b, loc, threads.thread, constant(5)), constant(rows / warps));
  Value inRow = LLVM::MulOp::create(b, loc, lane, constant(together));
  SmallVector<Value> at = values(op.getIndices());
  at[rowDim] = plus(at[rowDim], firstRow);
  at[columnDim] = plus(at[columnDim], inRow);
  Value place = constant(i64, offset);
  for (auto [index, stride] : llvm::zip_equal(at, strides))
    if (stride != 0)
      place = plus(place, LLVM::MulOp::create(b, loc, wide(index), constant(i64, stride)));
  Value to =
      LLVM::GEPOp::create(b, loc, globalPointer, element, value(made.getBuffer()), ArrayRef<LLVM::GEPArg>{place});
  Value from = advance(value(op.getSlot()), LLVM::MulOp::create(b, loc, firstRow, constant(128)).getResult());
  // A piece of 16 bytes is exchanged by its row; where in it a lane reads is the same for all.
  Value piece = LLVM::LShrOp::create(b, loc, inRow, constant(3));
  Value inPiece = LLVM::MulOp::create(b, loc, andOf(inRow, 7), constant(2));
  SmallVector<Value> exist;
  for (int64_t column = 0; column < columns; column += lanes * together)
    exist.push_back(op.getInBounds()[columnDim]
                        ? Value()
                        : LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, plus(at[columnDim], constant(column)),
                                               constant(shape[columnDim]))
                              .getResult());
  // What lanes write is read before anybody asks what exists, so that nothing waits for a branch.
  SmallVector<Value> read;
  for (int64_t row = 0; row < rows / warps; ++row)
    for (int64_t column = 0; column < columns; column += lanes * together) {
      Value exchanged = LLVM::XOrOp::create(b, loc, plus(piece, constant(column / 8)), constant(row % 8));
      Value offset = plus(LLVM::ShlOp::create(b, loc, exchanged, constant(4)), inPiece);
      read.push_back(LLVM::LoadOp::create(b, loc, what, advance(advance(from, offset), row * 128), 2 * together));
    }
  for (int64_t row = 0; row < rows / warps; ++row) {
    Value rowExists;
    if (!op.getInBounds()[rowDim])
      rowExists = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, plus(at[rowDim], constant(row)),
                                       constant(shape[rowDim]));
    for (auto [i, columnExists] : llvm::enumerate(exist)) {
      const int64_t run = static_cast<int64_t>(i), runs = static_cast<int64_t>(exist.size());
      auto write = [&] {
        Value offset = constant(i64, row * strides[rowDim] + run * lanes * together);
        Value there = LLVM::GEPOp::create(b, loc, globalPointer, element, to, ArrayRef<LLVM::GEPArg>{offset});
        LLVM::StoreOp::create(b, loc, read[row * runs + run], there, 2 * together);
        return success();
      };
      if (Value exists = existsAt(b, loc, rowExists, columnExists))
        (void)lowerIf(exists, write);
      else
        (void)write();
    }
  }
  return success();
}
