//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace zyx::kernel;

//===----------------------------------------------------------------------===//
// Transaction barriers
//===----------------------------------------------------------------------===//

Value Lowering::barrierAt(Value barriers, Value slot) {
  if (std::optional<int64_t> known = getConstantIntValue(slot))
    return advance(value(barriers), 8 * *known);
  return advance(value(barriers), LLVM::ShlOp::create(b, loc, value(slot), constant(3)).getResult());
}

LogicalResult Lowering::lower(BarriersOp op) {
  if (threads.barrier)
    return op.emitOpError("stands inside a role, where nobody else would see it made");
  Value first = advance(sharedBase, places.offsets.at(op));
  map.map(op.getResult(), first);
  return onFirst([&] {
    for (unsigned i = 0; i < op.getType().getCount(); ++i)
      NVVM::MBarrierInitOp::create(b, loc, advance(first, 8 * i), constant(op.getArrivals()), Value());
    NVVM::FenceMbarrierInitOp::create(b, loc);
    return success();
  });
}

LogicalResult Lowering::lower(ExpectOp op) {
  return onFirst([&] {
    NVVM::MBarrierArriveExpectTxOp::create(b, loc, Type(), barrierAt(op.getBarriers(), op.getSlot()),
                                           constant(op.getBytes()), NVVM::MemScopeKind::CTA,
                                           /*relaxed=*/false, Value());
    return success();
  });
}

LogicalResult Lowering::lower(ArriveOp op) {
  if (op.getTo())
    return op.emitOpError("at another workgroup's barrier is not lowered to NVVM");
  return onFirst([&] {
    NVVM::MBarrierArriveOp::create(b, loc, Type(), barrierAt(op.getBarriers(), op.getSlot()), Value());
    return success();
  });
}

LogicalResult Lowering::lower(WaitOp op) {
  Value barrier = barrierAt(op.getBarriers(), op.getSlot());
  Value parity = LLVM::ZExtOp::create(b, loc, i32, value(op.getParity()));
  Block *wait = createBlock(), *after = createBlock();
  LLVM::BrOp::create(b, loc, ValueRange(), wait);
  startBlock(wait);
  // The form whose loop is in our control flow: the other one is assembly that LLVM does not know
  // to touch memory.
  Value done = NVVM::MBarrierTryWaitOp::create(b, loc, i1, barrier, parity, Value());
  LLVM::CondBrOp::create(b, loc, done, after, wait);
  startBlock(after);
  return success();
}

//===----------------------------------------------------------------------===//
// The copy engine
//===----------------------------------------------------------------------===//

LogicalResult Lowering::forEachPanel(
    Operation *op, Value view, Value slot, ValueRange indices, PixelsAttr pixels,
    llvm::function_ref<void(Value map, Value place, ValueRange coordinates)> copy) {
  FailureOr<TensorMap> wanted = tensorMapOf(op, view, slot, pixels);
  if (failed(wanted))
    return failure();
  Value tensorMap = func.getArgument(llvm::find(tensorMaps, *wanted) - tensorMaps.begin());
  const SharedMemory &place = memory.at(allocationOf(slot));
  int64_t columns = cast<ViewType>(slot.getType()).getShape().back();
  // The innermost coordinate comes first.
  SmallVector<Value> coordinates = values(indices);
  std::reverse(coordinates.begin(), coordinates.end());
  Value column = coordinates.front();
  for (int64_t panel = 0; panel * place.panelColumns < columns; ++panel) {
    if (panel)
      coordinates.front() = LLVM::AddOp::create(b, loc, column, constant(panel * place.panelColumns));
    copy(tensorMap, advance(value(slot), panel * place.panelBytes), coordinates);
  }
  return success();
}

LogicalResult Lowering::lower(AsyncLoadOp op) {
  if (op.getMulticast())
    return op.emitOpError("to several workgroups is not lowered to NVVM");
  return onFirst([&] {
    Value barrier = barrierAt(op.getBarriers(), op.getAt());
    // As coordinates, the innermost one first.
    SmallVector<Value> offsets;
    for (Value offset : llvm::reverse(op.getOffsets()))
      offsets.push_back(LLVM::TruncOp::create(b, loc, b.getI16Type(), value(offset)));
    const auto mode = op.getPixels() ? NVVM::TMALoadMode::IM2COL : NVVM::TMALoadMode::TILE;
    return forEachPanel(op, op.getView(), op.getSlot(), op.getIndices(), op.getPixelsAttr(),
                        [&](Value tensorMap, Value place, ValueRange coordinates) {
                          NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
                              b, loc, place, tensorMap, coordinates, barrier, offsets, Value(), Value(), mode,
                              /*isCTAOnly=*/true, NVVM::CTAGroupKindAttr(), Value());
                        });
  });
}

LogicalResult Lowering::lower(AsyncStoreOp op) {
  return onFirst([&] {
    LogicalResult result = forEachPanel(
        op, op.getView(), op.getSlot(), op.getIndices(), PixelsAttr(),
        [&](Value tensorMap, Value place, ValueRange coordinates) {
          NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(b, loc, tensorMap, place, coordinates, Value(),
                                                             NVVM::TMAStoreMode::TILE, Value());
        });
    NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
    return result;
  });
}

LogicalResult Lowering::lower(AsyncWaitOp op) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, op.getPending(),
                                       op.getRead() ? b.getUnitAttr() : UnitAttr());
  return success();
}
