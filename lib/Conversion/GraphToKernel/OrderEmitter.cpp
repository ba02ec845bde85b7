//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OrderEmitter.h"

#include "GroupKernel.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/PlainTypes.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value OrderEmitter::viewBuffer(Value buffer, int64_t numElements) {
  Type element = cast<kernel::BufferType>(buffer.getType()).getElementType();
  auto type = kernel::ViewType::get({numElements}, element, kernel::Space::Global);
  return kernel::ViewOp::create(builder, loc, type, buffer, ValueRange(),
                                kernel::MapAttr::identity(builder.getContext(), {numElements}));
}

Operand OrderEmitter::getOperand(Value value, ArrayRef<int64_t> shape) {
  if (TypedAttr splat = axes.getSplat(value))
    return {{}, {}, splat};
  const Leaf *leaf = axes.getLeaf(value);
  int64_t numElements = cast<RankedTensorType>(leaf->root.getType()).getNumElements();
  return {kernel::reshapeMap(leaf->map, shape), viewBuffer(buffers.lookup(leaf->root), numElements), {}};
}

Value OrderEmitter::loadAt(Value view, Value at, int64_t lanes, Value mask) {
  Type element = cast<kernel::ViewType>(view.getType()).getElementType();
  if (lanes != 1)
    element = VectorType::get(lanes, element);
  return kernel::LoadOp::create(builder, loc, element, view, at, mask, Value(), ArrayAttr(), DenseBoolArrayAttr());
}

Value OrderEmitter::load(const Operand &operand, ArrayRef<Value> at, int64_t lanes, Value mask) {
  if (operand.splat) {
    TypedAttr splat = operand.splat;
    if (lanes != 1)
      splat = DenseElementsAttr::get(VectorType::get(lanes, splat.getType()), Attribute(splat));
    return arith::ConstantOp::create(builder, loc, splat);
  }
  return loadAt(operand.view, placeOf(operand, at), lanes, mask);
}

void OrderEmitter::fetch(const Operand &operand, ArrayRef<Value> at) {
  if (!operand.splat)
    kernel::PrefetchOp::create(builder, loc, operand.view, placeOf(operand, at));
}

Value OrderEmitter::placeOf(const Operand &operand, ArrayRef<Value> at) {
  Values indices(at);
  Value place;
  for (kernel::BlockAttr block : operand.map.getBlocks()) {
    if (place) {
      // The number that a block yields is split into indices of the next one.
      indices.assign(block.getRank(), {});
      for (unsigned d = block.getRank(); d-- > 0;) {
        Value extent = index(*kernel::BlockAttr::constant(block.getShape()[d]));
        indices[d] = d == 0 ? place : arith::RemUIOp::create(builder, loc, place, extent);
        if (d != 0)
          place = arith::DivUIOp::create(builder, loc, place, extent);
      }
    }
    place = index(*kernel::BlockAttr::constant(block.getOffset()));
    for (auto [i, stride] : llvm::zip_equal(indices, block.getStrides()))
      place = add(place, multiply(i, *kernel::BlockAttr::constant(stride)));
  }
  return place;
}

void OrderEmitter::store(Value value, Value view, Value at, Value mask) {
  kernel::StoreOp::create(builder, loc, value, view, at, mask, DenseBoolArrayAttr());
}

Values makeGrid(OpBuilder &builder, Location loc, ArrayRef<int64_t> extents, ArrayRef<int64_t> steps) {
  SmallVector<OpFoldResult> ends;
  for (int64_t extent : extents)
    ends.push_back(builder.getIndexAttr(extent));
  auto grid = kernel::GridOp::create(builder, loc, ends, steps);
  builder.setInsertionPointToStart(&grid.getBody().front());
  return Values(grid.getIndices());
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value combineElements(OpBuilder &builder, Location loc, kernel::Combine kind, Value a, Value b) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
  case kernel::Combine::Add:
    return isFloat ? arith::AddFOp::create(builder, loc, a, b).getResult()
                   : arith::AddIOp::create(builder, loc, a, b).getResult();
  case kernel::Combine::Mul:
    return isFloat ? arith::MulFOp::create(builder, loc, a, b).getResult()
                   : arith::MulIOp::create(builder, loc, a, b).getResult();
  case kernel::Combine::Max:
    return isFloat ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                   : arith::MaxSIOp::create(builder, loc, a, b).getResult();
  case kernel::Combine::Min:
    return isFloat ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                   : arith::MinSIOp::create(builder, loc, a, b).getResult();
  case kernel::Combine::UMax:
    return arith::MaxUIOp::create(builder, loc, a, b);
  case kernel::Combine::UMin:
    return arith::MinUIOp::create(builder, loc, a, b);
  case kernel::Combine::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case kernel::Combine::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  }
  llvm_unreachable("all kinds are handled");
}

TypedAttr OrderEmitter::getIdentity(kernel::Combine kind, Type element, bool exclusive) {
  if (auto format = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = format.getFloatSemantics();
    switch (kind) {
    case kernel::Combine::Add:
      return FloatAttr::get(element, APFloat::getZero(semantics, !exclusive));
    case kernel::Combine::Mul:
      return FloatAttr::get(element, 1.0);
    default:
      return FloatAttr::get(element, APFloat::getInf(semantics, kind == kernel::Combine::Max));
    }
  }
  unsigned width = element.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(width);
  if (kind == kernel::Combine::Mul)
    value = APInt(width, 1);
  else if (kind == kernel::Combine::And || kind == kernel::Combine::UMin)
    value = APInt::getAllOnes(width);
  else if (kind == kernel::Combine::Max)
    value = APInt::getSignedMinValue(width);
  else if (kind == kernel::Combine::Min)
    value = APInt::getSignedMaxValue(width);
  return IntegerAttr::get(element, value);
}

Value OrderEmitter::isBefore(Value a, Value b, bool isUnsigned, bool descending) {
  if (!isa<FloatType>(getElementTypeOrSelf(a.getType()))) {
    using I = arith::CmpIPredicate;
    I predicate = descending ? (isUnsigned ? I::ugt : I::sgt) : (isUnsigned ? I::ult : I::slt);
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  using F = arith::CmpFPredicate;
  Value inOrder = arith::CmpFOp::create(builder, loc, descending ? F::OGT : F::OLT, a, b);
  Value isNumber = arith::CmpFOp::create(builder, loc, F::ORD, a, a);
  Value isNaN = arith::CmpFOp::create(builder, loc, F::UNO, b, b);
  return arith::OrIOp::create(builder, loc, inOrder, arith::AndIOp::create(builder, loc, isNumber, isNaN));
}

ScanTypes::ScanTypes(kernel::Combine kind, Type graphElement)
    : kind(kind), stored(toSignless(graphElement)), carried(stored) {
  if ((stored.isF16() || stored.isBF16()) && (kind == kernel::Combine::Add || kind == kernel::Combine::Mul))
    carried = Float32Type::get(graphElement.getContext());
}

ScanTypes::ScanTypes(ScanOp scan)
    : ScanTypes(getCombine(scan.getKind(), getElementTypeOrSelf(scan.getX().getType())),
                getElementTypeOrSelf(scan.getX().getType())) {}

ScanTypes::ScanTypes(ScatterOp scatter)
    : ScanTypes(getCombine(scatter.getKind(), getElementTypeOrSelf(scatter.getX().getType())),
                getElementTypeOrSelf(scatter.getX().getType())) {}

/// The type with the shape that a value has: of a vector one as long.
static Type shapedLike(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.clone(element) : element;
}

Value ScanTypes::widen(OpBuilder &builder, Location loc, Value element) const {
  return carried == stored ? element
                           : arith::ExtFOp::create(builder, loc, shapedLike(element, carried), element).getResult();
}

Value ScanTypes::round(OpBuilder &builder, Location loc, Value sum) const {
  return carried == stored ? sum : arith::TruncFOp::create(builder, loc, shapedLike(sum, stored), sum).getResult();
}

kernel::Combine getCombine(ScatterKind kind, Type graphElement) {
  switch (kind) {
  case ScatterKind::Max:
    return getCombine(ReduceKind::Max, graphElement);
  case ScatterKind::Min:
    return getCombine(ReduceKind::Min, graphElement);
  case ScatterKind::Mul:
    return getCombine(ReduceKind::Mul, graphElement);
  case ScatterKind::Add:
    return getCombine(ReduceKind::Add, graphElement);
  case ScatterKind::Set:
    break;
  }
  llvm_unreachable("an element that is set is combined with nothing");
}

bool addsToZeros(ScatterOp scatter) {
  auto constant = getViewSource(scatter.getX()).getDefiningOp<ConstantOp>();
  if (!constant || !constant.getValue().isSplat() || scatter.getKind() != ScatterKind::Add)
    return false;
  if (isa<FloatType>(constant.getValue().getElementType()))
    return constant.getValue().getSplatValue<APFloat>().isPosZero();
  return constant.getValue().getSplatValue<APInt>().isZero();
}

Value OrderEmitter::getPlace(ScatterOp scatter, Value index) {
  Type i64 = builder.getI64Type();
  if (index.getType() == i64)
    return index;
  return getElementTypeOrSelf(scatter.getIndices().getType()).isUnsignedInteger()
             ? arith::ExtUIOp::create(builder, loc, i64, index).getResult()
             : arith::ExtSIOp::create(builder, loc, i64, index).getResult();
}

void OrderEmitter::update(ScatterOp scatter, Value with, Value place, int64_t lanes) {
  if (scatter.getKind() != ScatterKind::Set) {
    Type graphElement = getElementTypeOrSelf(scatter.getX().getType());
    with = combine(getCombine(scatter.getKind(), graphElement), loadAt(out, place, lanes), with);
  }
  store(with, out, place);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult OrderEmitter::check() {
  axes.findLeaves();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (axes.getSplat(operand))
      continue;
    const Leaf *leaf = axes.getLeaf(operand);
    if (!leaf)
      return op->emitOpError("reads what its group computes, but is a kernel of its own");
    // Loads of scalars have no mask, so a place without an element would be read.
    if (llvm::any_of(leaf->map.getBlocks(), [](kernel::BlockAttr block) { return block.hasValid(); }))
      return op->emitOpError("reads padding through operand ")
             << i << ", but its loops over scalars read memory alone: "
             << "-zyx-fusion-decompose-movement makes a select of such a pad";
  }
  Operation *yield = group.getBlock().getTerminator();
  if (yield->getNumOperands() != 1 || yield->getOperand(0) != op->getResult(0))
    return op->emitOpError("must be the only result of its group");
  return success();
}

FailureOr<ConvertedGroup> OrderEmitter::emit(StringRef name, bool isUpdate) {
  if (failed(check()))
    return failure();
  this->isUpdate = isUpdate;
  ConvertedGroup result;
  int64_t numElements = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  if (numElements != 0)
    result.scratch = getScratch();
  OpBuilder::InsertionGuard guard(builder);
  GroupKernel opened = openKernel(group, axes.getConstants(), name, builder, result);
  buffers = std::move(opened.buffers);
  made = result.kernel;
  made.setForm(kernel::Form::Lowered);
  // There is no tile to split.
  made.setScheduleAttr(kernel::ScheduleAttr::get(builder.getContext(), {}));
  if (numElements != 0) {
    out = viewBuffer(opened.outputs.front(), numElements);
    for (auto [buffer, type] : llvm::zip_equal(opened.scratch, result.scratch))
      scratch.push_back(viewBuffer(buffer, type.shape.front()));
    emitOp();
  }
  builder.setInsertionPointToEnd(&made.getBody().front());
  kernel::ReturnOp::create(builder, loc);
  for (Value operand : isUpdate ? op->getOperands().drop_front() : op->getOperands())
    result.flops += cast<RankedTensorType>(operand.getType()).getNumElements();
  if (isUpdate) {
    auto scatter = cast<ScatterOp>(op);
    const TensorType updates = *toPlainType(scatter.getUpdates().getType());
    // They are read and written, and for all kinds but one the elements that they meet are read.
    result.bytes = (scatter.getKind() == ScatterKind::Set ? 2 : 3) * static_cast<uint64_t>(*byteSize(updates)) +
                   static_cast<uint64_t>(*byteSize(*toPlainType(scatter.getIndices().getType())));
    // Nothing reads it: updates are those of findUpdated(). The type of a kernel has any number of arguments.
    if (failed(made.eraseArgument(findUpdated(group)->getOperandNumber())))
      llvm_unreachable("a kernel loses an argument");
  }
  explain(name);
  return result;
}

} // namespace zyx::lowering
