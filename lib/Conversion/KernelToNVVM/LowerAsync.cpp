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
  Value done = NVVM::MBarrierTryWaitOp::create(b, loc, i1, barrier, parity, Value(),
                                               op.getCluster() ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA);
  LLVM::CondBrOp::create(b, loc, done, after, wait);
  startBlock(after);
  return success();
}

//===----------------------------------------------------------------------===//
// The copy engine
//===----------------------------------------------------------------------===//

LogicalResult Lowering::forEachPanel(Operation *op, Value view, Value slot, ValueRange indices, PixelsAttr pixels,
                                     llvm::function_ref<void(Value map, Value place, ValueRange coordinates)> copy) {
  FailureOr<TensorMap> wanted = tensorMapOf(op, view, slot, pixels);
  if (failed(wanted))
    return failure();
  Value tensorMap = func.getArgument(llvm::find(launch.tensorMaps, *wanted) - launch.tensorMaps.begin());
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
    LogicalResult result =
        forEachPanel(op, op.getView(), op.getSlot(), op.getIndices(), PixelsAttr(),
                     [&](Value tensorMap, Value place, ValueRange coordinates) {
                       NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(b, loc, tensorMap, place, coordinates,
                                                                          Value(), NVVM::TMAStoreMode::TILE, Value());
                     });
    NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
    return result;
  });
}

LogicalResult Lowering::lower(AsyncWaitOp op) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, op.getPending(), op.getRead() ? b.getUnitAttr() : UnitAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Between workgroups of a cluster
//===----------------------------------------------------------------------===//
// Four registers of all threads lie next to each other, then the next four: every access is what a thread reads at
// once.

FailureOr<Value> Lowering::placeOfSent(Operation *op, Type tile, Value slot) {
  auto type = dyn_cast_or_null<LLVM::LLVMStructType>(convert(tile));
  AllocOp alloc = allocationOf(slot);
  if (!type || (!type.getBody().front().isF32() && !type.getBody().front().isInteger(32)) ||
      type.getBody().size() % 4 != 0)
    return op->emitOpError() << "moves " << tile << "; groups of four f32 or i32 in each thread are moved";
  if (!alloc || memory.at(alloc).swizzle)
    return op->emitOpError("moves registers through shared memory that is not swizzled");
  if (ShapedType::getNumElements(cast<ViewType>(slot.getType()).getShape()) !=
      cast<RankedTensorType>(tile).getNumElements())
    return op->emitOpError("moves registers through memory of another size");
  if (failed(requireWarpGroup(op)))
    return failure();
  return advance(value(slot), LLVM::MulOp::create(b, loc, threads.thread, constant(target.simt.laneBytes)).getResult());
}

LogicalResult Lowering::lower(ClusterSendOp op) {
  FailureOr<Value> place = placeOfSent(op, op.getTile().getType(), op.getSlot());
  if (failed(place))
    return failure();
  auto there = [&](Value mine) -> Value {
    Value pointer = NVVM::MapaOp::create(b, loc, clusterPointer, mine, value(op.getTo()));
    return LLVM::PtrToIntOp::create(b, loc, i32, pointer);
  };
  Value to = there(*place), barrier = there(barrierAt(op.getBarriers(), op.getAt()));
  SmallVector<Value> registers = unpack(value(op.getTile()));
  const bool isF32 = registers.front().getType().isF32();
  const std::string text = std::string("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.") +
                           (isF32 ? "f32" : "b32") + " [$0], {$1, $2, $3, $4}, [$5];";
  for (size_t i = 0; i < registers.size(); i += 4) {
    Value address =
        i ? LLVM::AddOp::create(b, loc, to, constant(i / 4 * target.simt.laneBytes * threads.count)).getResult() : to;
    SmallVector<Value> operands = {address};
    llvm::append_range(operands, ArrayRef(registers).slice(i, 4));
    operands.push_back(barrier);
    LLVM::InlineAsmOp::create(b, loc, TypeRange(), operands, text,
                              isF32 ? "r,f,f,f,f,r,~{memory}" : "r,r,r,r,r,r,~{memory}", /*has_side_effects=*/true,
                              /*is_align_stack=*/false, LLVM::TailCallKind::None,
                              LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  }
  return success();
}

LogicalResult Lowering::lower(ClusterReceiveOp op) {
  FailureOr<Value> place = placeOfSent(op, op.getType(), op.getSlot());
  if (failed(place))
    return failure();
  auto type = cast<LLVM::LLVMStructType>(convert(op.getType()));
  SmallVector<Value> registers;
  for (size_t i = 0; i < type.getBody().size(); i += 4) {
    Value four =
        LLVM::LoadOp::create(b, loc, VectorType::get(4, type.getBody().front()),
                             advance(*place, i / 4 * target.simt.laneBytes * threads.count), target.simt.laneBytes);
    for (int64_t j = 0; j < 4; ++j)
      registers.push_back(LLVM::ExtractElementOp::create(b, loc, four, constant(j)));
  }
  map.map(op.getResult(), pack(type, registers));
  return success();
}
