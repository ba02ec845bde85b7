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
  Value first = advance(sharedBase, barrierOffsets.at(op));
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

/// Most elements of a dimension of a box.
static constexpr int64_t maxBox = 256;
/// Strides in global memory are multiples of this many bytes.
static constexpr int64_t strideBytes = 16;

FailureOr<TensorMap> Lowering::tensorMapOf(Operation *op, Value view, Value slot) {
  auto made = view.getDefiningOp<ViewOp>();
  AllocOp alloc = allocationOf(slot);
  if (!made || !alloc)
    return op->emitOpError("needs views whose kernel.view and kernel.alloc are in sight");
  auto argumentOf = [&](Value v) -> std::optional<int64_t> {
    auto argument = dyn_cast<BlockArgument>(v);
    if (!argument || argument.getOwner() != &kernel.getBody().front())
      return std::nullopt;
    return argument.getArgNumber();
  };
  TensorMap result;
  std::optional<int64_t> buffer = argumentOf(made.getBuffer());
  SmallVector<std::optional<int64_t>> symbols = llvm::map_to_vector(made.getSymbols(), argumentOf);
  if (!buffer || llvm::is_contained(symbols, std::nullopt))
    return op->emitOpError("copies through a view that is not made of arguments of the kernel");
  result.buffer = *buffer;
  result.map = made.getMap();
  result.element = made.getType().getElementType();
  for (std::optional<int64_t> symbol : symbols)
    result.symbols.push_back(*symbol);

  BlockAttr block = result.map.front();
  int64_t rank = made.getType().getRank();
  if (!result.map.isSingleBlock() || block.hasValid() || rank < 1 || rank > 5)
    return op->emitOpError("copies through a map that is not one whole block of 1 to 5 dimensions");
  if (BlockAttr::constant(block.getStrides().back()) != 1)
    return op->emitOpError("copies through a view whose rows are not contiguous");
  int64_t bits = result.element.getIntOrFloatBitWidth();
  for (AffineExpr stride : block.getStrides().drop_back())
    if (auto known = BlockAttr::constant(stride); known && *known * bits % (8 * strideBytes) != 0)
      return op->emitOpError() << "copies through a view with a stride of " << *known
                               << " elements; strides are multiples of " << strideBytes << " bytes";

  ViewType box = cast<ViewType>(slot.getType());
  auto layout = dyn_cast_or_null<SharedAttr>(box.getLayout());
  if (!layout || layout.getSwizzle() == 0)
    return op->emitOpError("copies to or from shared memory that is not swizzled, which is not lowered");
  result.swizzle = layout.getSwizzle();
  result.box.assign(rank - box.getRank(), 1);
  llvm::append_range(result.box, box.getShape());
  // One copy for each panel.
  result.box.back() = result.swizzle * 8 / bits;
  for (int64_t extent : result.box)
    if (extent > maxBox)
      return op->emitOpError() << "copies a box of " << extent << " elements; at most " << maxBox
                               << " in a dimension go at once";
  return result;
}

LogicalResult Lowering::forEachPanel(
    Operation *op, Value view, Value slot, ValueRange indices,
    llvm::function_ref<void(Value map, Value place, ValueRange coordinates)> copy) {
  FailureOr<TensorMap> wanted = tensorMapOf(op, view, slot);
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
    return forEachPanel(op, op.getView(), op.getSlot(), op.getIndices(),
                        [&](Value tensorMap, Value place, ValueRange coordinates) {
                          NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
                              b, loc, place, tensorMap, coordinates, barrier, ValueRange(), Value(), Value(),
                              NVVM::TMALoadMode::TILE, /*isCTAOnly=*/true, NVVM::CTAGroupKindAttr(), Value());
                        });
  });
}

LogicalResult Lowering::lower(AsyncStoreOp op) {
  return onFirst([&] {
    LogicalResult result = forEachPanel(
        op, op.getView(), op.getSlot(), op.getIndices(),
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
