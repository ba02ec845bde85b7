//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/TensorMaps.h"

#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

AllocOp zyx::kernel::allocationOf(Value view) {
  while (auto subview = view.getDefiningOp<SubviewOp>())
    view = subview.getView();
  return view.getDefiningOp<AllocOp>();
}

FailureOr<TensorMap> zyx::kernel::tensorMapOf(Operation *op, Value view, Value slot, PixelsAttr pixels,
                                              const zyx::target::TargetInfo *machine) {
  auto made = view.getDefiningOp<ViewOp>();
  AllocOp alloc = allocationOf(slot);
  if (!made || !alloc)
    return op->emitOpError("needs views whose kernel.view and kernel.alloc are in sight");
  if (!machine)
    machine = findTarget(op);
  const zyx::target::CopyFacts copies = machine ? machine->copies : zyx::target::CopyFacts{};
  auto argumentOf = [&](Value v) -> std::optional<int64_t> {
    auto argument = dyn_cast<BlockArgument>(v);
    if (!argument || !isa<FuncOp>(argument.getOwner()->getParentOp()))
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
  if (!result.map.isSingleBlock() || block.hasValid() || rank < 1 || (machine && rank > copies.dimensions))
    return op->emitOpError() << "copies through a map that is not one whole block of 1 to "
                             << (machine ? copies.dimensions : rank) << " dimensions";
  if (BlockAttr::constant(block.getStrides().back()) != 1)
    return op->emitOpError("copies through a view whose rows are not contiguous");
  int64_t bits = result.element.getIntOrFloatBitWidth();
  for (AffineExpr stride : block.getStrides().drop_back())
    if (auto known = BlockAttr::constant(stride); known && machine && *known * bits % (8 * copies.alignmentBytes) != 0)
      return op->emitOpError() << "copies through a view with a stride of " << *known
                               << " elements; strides are multiples of " << copies.alignmentBytes << " bytes";

  ViewType box = cast<ViewType>(slot.getType());
  auto layout = dyn_cast_or_null<SharedAttr>(box.getLayout());
  if (!layout || layout.getSwizzle() == 0)
    return op->emitOpError("copies to or from shared memory that is not swizzled, which is not lowered");
  result.swizzle = layout.getSwizzle();
  result.pixels = pixels;
  result.box.assign(pixels ? 0 : rank - box.getRank(), 1);
  llvm::append_range(result.box, box.getShape());
  // One copy for each panel.
  result.box.back() = result.swizzle * 8 / bits;
  for (int64_t extent : result.box)
    if (const int64_t most = pixels ? copies.boxPixels : copies.boxElements; machine && extent > most)
      return op->emitOpError() << "copies a box of " << extent << " elements; at most " << most
                               << " in a dimension go at once";
  return result;
}

FailureOr<SmallVector<TensorMap>> zyx::kernel::tensorMapsOf(FuncOp func, const zyx::target::TargetInfo *machine) {
  SmallVector<TensorMap> maps;
  WalkResult result = func.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    Value view, slot;
    PixelsAttr pixels;
    if (auto load = dyn_cast<AsyncLoadOp>(op))
      view = load.getView(), slot = load.getSlot(), pixels = load.getPixelsAttr();
    if (auto store = dyn_cast<AsyncStoreOp>(op))
      view = store.getView(), slot = store.getSlot();
    if (!view)
      return WalkResult::advance();
    FailureOr<TensorMap> wanted = tensorMapOf(op, view, slot, pixels, machine);
    if (failed(wanted))
      return WalkResult::interrupt();
    if (!llvm::is_contained(maps, *wanted))
      maps.push_back(*wanted);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return maps;
}

SharedPlaces zyx::kernel::placeShared(FuncOp func) {
  SharedPlaces places;
  auto add = [&](Operation *op, int64_t alignment, int64_t bytes) {
    places.bytes = llvm::alignTo(places.bytes, alignment);
    places.offsets[op] = places.bytes;
    places.bytes += bytes;
  };
  func.walk<WalkOrder::PreOrder>([&](AllocOp op) {
    ViewType type = op.getType();
    auto layout = dyn_cast_or_null<SharedAttr>(type.getLayout());
    const int64_t elementBytes = std::max<int64_t>(1, type.getElementType().getIntOrFloatBitWidth() / 8);
    add(op, layout && layout.getSwizzle() ? 1024 : 64, ShapedType::getNumElements(type.getShape()) * elementBytes);
  });
  // Barriers come last: they are small, and nothing behind them needs more than 8 bytes.
  func.walk([&](BarriersOp op) { add(op, 8, 8 * op.getType().getCount()); });
  return places;
}

bool zyx::kernel::accessesGlobalMemory(FuncOp func) {
  auto isGlobal = [](Value view) { return cast<ViewType>(view.getType()).getSpace() == Space::Global; };
  return func
      .walk([&](Operation *op) {
        auto load = dyn_cast<LoadOp>(op);
        auto store = dyn_cast<StoreOp>(op);
        return (load && isGlobal(load.getView())) || (store && isGlobal(store.getView())) ||
                       isa<CopyAsyncOp, FetchOp, StoreSharedOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}
