//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "zyx/Dialect/Kernel/IR/Divisor.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace zyx::kernel;

/// Rows after which a swizzle repeats: the descriptors of wgmma and the copy engine count from there.
static constexpr int64_t swizzleRows = 8;

LogicalResult Lowering::place(AllocOp op, int64_t offset) {
  ViewType type = op.getType();
  if (type.getSpace() != Space::Shared)
    return op.emitOpError("of private memory is not lowered to NVVM");
  SharedMemory place;
  place.elementBytes = std::max<int64_t>(1, type.getElementType().getIntOrFloatBitWidth() / 8);
  place.strides.resize(type.getRank());
  int64_t stride = place.elementBytes;
  for (int64_t i = type.getRank(); i-- > 0;) {
    place.strides[i] = stride;
    stride *= type.getDimSize(i);
  }
  place.bytes = stride;
  if (auto layout = dyn_cast_or_null<SharedAttr>(type.getLayout()); layout && layout.getSwizzle()) {
    int64_t rank = type.getRank();
    if (rank < 2 || type.getDimSize(rank - 2) % swizzleRows != 0)
      return op.emitOpError() << "is swizzled and needs a multiple of " << swizzleRows << " rows";
    place.swizzle = layout.getSwizzle();
    place.panelColumns = place.swizzle / place.elementBytes;
    place.strides[rank - 2] = place.swizzle;
    place.panelBytes = place.swizzle * type.getDimSize(rank - 2);
  }
  place.offset = offset;
  memory[op] = place;
  return success();
}

Value Lowering::advance(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(b, loc, sharedPointer, b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value Lowering::advance(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, loc, sharedPointer, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{bytes});
}

FailureOr<Value> Lowering::pointerTo(Operation *op, Value view, ValueRange indices, bool atRowStart) {
  // What is lowered already is an allocation or a part of one.
  const SharedMemory &place = memory.at(allocationOf(view));
  // A view of smaller rank has lost leading dimensions.
  ArrayRef<int64_t> strides = ArrayRef(place.strides).take_back(indices.size());
  Value pointer = value(view);
  int64_t known = 0;
  for (auto [i, index] : llvm::enumerate(indices)) {
    std::optional<int64_t> constantIndex = getConstantIntValue(index);
    bool isColumn = i + 1 == indices.size(), isRow = i + 2 == indices.size();
    if (isColumn && atRowStart)
      break;
    if (place.swizzle && isRow && knownDivisor(index) % swizzleRows != 0)
      return op->emitOpError() << "begins at a row that is no visible multiple of " << swizzleRows
                               << " of swizzled memory";
    if (place.swizzle && isColumn) {
      if (knownDivisor(index) % place.panelColumns != 0)
        return op->emitOpError() << "begins at a column that is no multiple of " << place.panelColumns
                                 << ", the width of a swizzled panel";
      if (constantIndex) {
        known += *constantIndex / place.panelColumns * place.panelBytes;
      } else {
        Value panel = LLVM::UDivOp::create(b, loc, value(index), constant(place.panelColumns));
        pointer = advance(pointer, LLVM::MulOp::create(b, loc, panel, constant(place.panelBytes)).getResult());
      }
    } else if (constantIndex) {
      known += *constantIndex * strides[i];
    } else {
      pointer = advance(pointer, LLVM::MulOp::create(b, loc, value(index), constant(strides[i])).getResult());
    }
  }
  return advance(pointer, known);
}

LogicalResult Lowering::lower(SubviewOp op) {
  FailureOr<Value> pointer = pointerTo(op, op.getView(), op.getIndices());
  if (failed(pointer))
    return failure();
  map.map(op.getResult(), *pointer);
  return success();
}
