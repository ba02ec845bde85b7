//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Kernel.h"

using namespace mlir;
using namespace zyx::kernel;

TensorStepAttr zyx::kernel::tensorStepOf(FuncOp func) {
  ScheduleAttr schedule = func.getScheduleAttr();
  return schedule && schedule.getSteps().size() == 1 ? dyn_cast<TensorStepAttr>(schedule.getSteps().front())
                                                     : TensorStepAttr();
}

LogicalResult RolesOp::verify() {
  for (Operation &op : getBody().front())
    if (!isa<RoleOp, YieldOp>(op))
      return op.emitOpError("stands in kernel.roles, which holds kernel.role ops only");
  if (!isa<FuncOp, GridOp>((*this)->getParentOp()))
    return emitOpError("stands at the top of a kernel.func or of its grid");
  return success();
}

LogicalResult RoleOp::verify() {
  if (getBody().getNumArguments() != 1 || !getBody().getArgument(0).getType().isIndex())
    return emitOpError("has one argument, the index of the instance");
  return success();
}

/// An asynchronous copy moves a box of the slot's shape, which may lack leading dimensions.
static LogicalResult verifyCopy(Operation *op, ViewType view, ViewType slot, ValueRange indices) {
  if (view.getSpace() != Space::Global || slot.getSpace() != Space::Shared)
    return op->emitOpError() << "copies between a global view and a shared one, not " << view << " and " << slot;
  if (view.getElementType() != slot.getElementType() || slot.getRank() > view.getRank())
    return op->emitOpError() << "copies a box of " << view << " as " << slot;
  if (static_cast<int64_t>(indices.size()) != view.getRank())
    return op->emitOpError() << "has " << indices.size() << " indices for a view of rank " << view.getRank();
  return success();
}

LogicalResult AsyncLoadOp::verify() {
  ViewType view = getView().getType(), slot = getSlot().getType();
  const size_t positions = getPixels() ? getPixels()->getLow().size() : 0;
  if (getOffsets().size() != positions)
    return emitOpError() << "has " << getOffsets().size() << " offsets in windows of " << positions << " dimensions";
  if (positions != 0 && (view.getRank() != static_cast<int64_t>(positions) + 2 || slot.getRank() != 2))
    return emitOpError() << "copies " << positions << " dimensions of pixels of " << view << " as " << slot;
  return verifyCopy(*this, view, slot, getIndices());
}

LogicalResult AsyncStoreOp::verify() {
  return verifyCopy(*this, getView().getType(), getSlot().getType(), getIndices());
}

LogicalResult StoreSharedOp::verify() {
  const ViewType view = getView().getType(), slot = getSlot().getType();
  if (slot.getRank() != 2 || view.getRank() < 2)
    return emitOpError() << "writes a matrix of rows, not " << slot << " to " << view;
  if (static_cast<int64_t>(getInBounds().size()) != view.getRank())
    return emitOpError() << "says of " << getInBounds().size() << " dimensions of " << view.getRank()
                         << " whether all elements are inside";
  return verifyCopy(*this, view, slot, getIndices());
}

LogicalResult MmaAsyncOp::verify() {
  auto shapeOf = [](Type type) {
    if (auto view = dyn_cast<ViewType>(type))
      return view.getShape();
    return cast<RankedTensorType>(type).getShape();
  };
  auto result = cast<RankedTensorType>(getType());
  ArrayRef<int64_t> lhs = shapeOf(getLhs().getType()), rhs = getRhs().getType().getShape();
  if (result.getRank() != 2 || lhs.size() != 2 || rhs.size() != 2)
    return emitOpError("contracts matrices");
  int64_t m = lhs[getTransposeLhs()], k = lhs[!getTransposeLhs()];
  int64_t n = rhs[!getTransposeRhs()], rhsK = rhs[getTransposeRhs()];
  if (k != rhsK || m != result.getDimSize(0) || n != result.getDimSize(1))
    return emitOpError() << "contracts [" << m << ", " << k << "] with [" << rhsK << ", " << n << "] into " << result;
  if (isa<RankedTensorType>(getLhs().getType()) && getTransposeLhs())
    return emitOpError("cannot transpose a tile that lies in registers");
  if (!isa_and_nonnull<FragAttr>(result.getEncoding()))
    return emitOpError() << "needs an accumulator in registers (#kernel.frag), not " << result;
  if (getAcc() && getAcc().getType() != getType())
    return emitOpError() << "accumulates " << getAcc().getType() << " into " << getType();
  return success();
}

LogicalResult TransposeSharedOp::verify() {
  ViewType from = getFrom().getType(), to = getTo().getType();
  if (from.getSpace() != Space::Shared || to.getSpace() != Space::Shared || from.getRank() != 2 || to.getRank() != 2 ||
      from.getElementType() != to.getElementType() || from.getDimSize(0) != to.getDimSize(1) ||
      from.getDimSize(1) != to.getDimSize(0))
    return emitOpError() << "transposes one shared matrix into another, not " << from << " into " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// Copies by all threads, and matrix units of warps
//===----------------------------------------------------------------------===//

LogicalResult CopyAsyncOp::verify() {
  return verifyCopy(*this, getView().getType(), getSlot().getType(), getIndices());
}

static FragKind kindOf(Value tile) {
  auto frag = dyn_cast_or_null<FragAttr>(cast<RankedTensorType>(tile.getType()).getEncoding());
  return frag ? frag.getKind() : FragKind::Block;
}

LogicalResult FetchOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  ViewType view = getView().getType();
  if (view.getSpace() != Space::Global || view.getElementType() != result.getElementType() ||
      result.getRank() > view.getRank() || kindOf(getResult()) != FragKind::Pieces)
    return emitOpError() << "reads a box of " << view << " as " << result;
  if (static_cast<int64_t>(getIndices().size()) != view.getRank())
    return emitOpError() << "has " << getIndices().size() << " indices for a view of rank " << view.getRank();
  return success();
}

/// Bytes along the contraction of one mma.sync.
static constexpr int64_t mmaBytes = 32;

LogicalResult LoadMatrixOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  ViewType view = getView().getType();
  const FragKind kind = kindOf(getResult());
  if (view.getSpace() != Space::Shared || view.getRank() != 2 || view.getElementType() != result.getElementType() ||
      result.getRank() != 2 || (kind != FragKind::MmaA && kind != FragKind::MmaB))
    return emitOpError() << "reads a factor of a warp's product out of a shared matrix of the same elements, not "
                         << result << " of " << view;
  const int64_t bits = result.getElementType().getIntOrFloatBitWidth();
  const bool isLeft = kind == FragKind::MmaA;
  const int64_t depth = result.getDimSize(isLeft), free = result.getDimSize(!isLeft);
  if (depth * bits != mmaBytes * 8 || (isLeft ? free != 16 : free % 16 != 0))
    return emitOpError() << "reads " << result << "; a factor has " << mmaBytes
                         << " bytes along the contraction, and 16 rows or a multiple of 16 columns";
  if (getTransposed() && bits != 16)
    return emitOpError() << "transposes elements of " << bits << " bits; those of 16 can be";
  return success();
}

LogicalResult MmaOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType());
  auto result = cast<RankedTensorType>(getType());
  if (kindOf(getLhs()) != FragKind::MmaA || kindOf(getRhs()) != FragKind::MmaB ||
      kindOf(getResult()) != FragKind::MmaAcc)
    return emitOpError("takes #kernel.frag<mma_a> and #kernel.frag<mma_b>, and adds to #kernel.frag<mma_acc>");
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || result.getRank() != 2 || lhs.getDimSize(1) != rhs.getDimSize(0) ||
      lhs.getDimSize(0) != result.getDimSize(0) || rhs.getDimSize(1) != result.getDimSize(1))
    return emitOpError() << "contracts " << lhs << " with " << rhs << " into " << result;
  return success();
}

LogicalResult MmaWaitOp::verify() {
  if (getAccumulators().getTypes() != getResults().getTypes())
    return emitOpError("gives back the accumulators that it takes");
  return success();
}
