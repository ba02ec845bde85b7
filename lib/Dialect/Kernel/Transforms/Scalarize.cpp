//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Divisor.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_SCALARIZEPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

bool isVector(Type type) { return isa<VectorType>(type); }

/// Buffers and shared arrays of devices begin at multiples of it, and no access is longer.
constexpr size_t mostAccessBytes = 16;

class Scalarizer {
public:
  Scalarizer(FuncOp func, size_t mostLanes, size_t accessLanes)
      : func(func), mostLanes(mostLanes), accessLanes(accessLanes), builder(func.getContext()), loc(func.getLoc()) {}

  LogicalResult run() {
    if (failed(rewrite(func.getBody().front())))
      return failure();
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    for (BlockArgument argument : llvm::reverse(replacedArguments))
      argument.getOwner()->eraseArgument(argument.getArgNumber());
    return success();
  }

private:
  using Values = SmallVector<Value>;
  /// Where the elements of a view lie in a view of one dimension.
  struct FlatView {
    Value flat, offset;
    Values strides;
  };

  LogicalResult rewrite(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(rewrite(&op)))
        return failure();
    return success();
  }
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteRegions(Operation *op);
  LogicalResult rewrite(GridOp grid);
  LogicalResult rewriteLanes(Operation *op);
  /// Ops that name lanes of vectors anew; false where the op is none.
  FailureOr<bool> renameLanes(Operation *op);
  LogicalResult rewrite(ViewOp view);
  LogicalResult rewrite(AllocOp alloc);
  LogicalResult rewrite(SubviewOp subview);
  LogicalResult rewrite(LoadOp load);
  LogicalResult rewrite(StoreOp store);
  LogicalResult rewrite(GatherOp gather);
  LogicalResult rewrite(vector::ReductionOp reduction);

  static size_t numLanes(Type type) {
    return isVector(type) ? static_cast<size_t>(cast<VectorType>(type).getNumElements()) : 1;
  }
  /// Lanes of a part of a vector: all parts have as many.
  size_t partLanes(Type type) const {
    size_t each = mostLanes;
    while (numLanes(type) % each != 0)
      each /= 2;
    return each;
  }
  size_t numParts(Type type) const { return numLanes(type) / partLanes(type); }
  Type partType(Type type) const {
    const auto each = static_cast<int64_t>(partLanes(type));
    return each == 1 ? getElementTypeOrSelf(type) : VectorType::get({each}, getElementTypeOrSelf(type));
  }
  /// Of what is the same for all lanes, the one value.
  Value partOf(Value value, size_t part) { return isVector(value.getType()) ? parts[value][part] : value; }
  /// Nothing is folded here: a permutation in steps stays one.
  Value laneOf(Value value, size_t lane) {
    const size_t each = partLanes(value.getType());
    Value part = partOf(value, lane / each);
    return each == 1 ? part : vector::ExtractOp::create(builder, loc, part, static_cast<int64_t>(lane % each));
  }
  void bindPart(Value value, Value part) { parts[value].push_back(part); }
  /// The next lane of a value, which becomes a part with those around it.
  void bind(Value value, Value lane) {
    Values &lanes = waiting[value];
    lanes.push_back(lane);
    if (lanes.size() < partLanes(value.getType()))
      return;
    bindPart(value, join(lanes));
    lanes.clear();
  }
  Value join(ValueRange lanes);
  Values flatten(ValueRange operands) {
    Values all;
    for (Value operand : operands)
      for (size_t part = 0; part < numParts(operand.getType()); ++part)
        all.push_back(partOf(operand, part));
    return all;
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  /// Constants stand behind what they are added to, where they are folded.
  template <typename Op> Value combine(Value x, Value y) {
    if (x.getDefiningOp<arith::ConstantOp>())
      std::swap(x, y);
    return builder.createOrFold<Op>(loc, x, y);
  }
  Value add(Value x, Value y) { return combine<arith::AddIOp>(x, y); }
  Value mul(Value x, Value y) { return combine<arith::MulIOp>(x, y); }
  Value ceilDiv(Value x, Value y) { return builder.createOrFold<arith::DivUIOp>(loc, add(x, add(y, index(-1))), y); }
  Value expand(AffineExpr expr, ValueRange symbols);
  Value linear(const FlatView &flatView, ValueRange indices, size_t lane);
  size_t lanesAtOnce(Type type, Value view, Value first, Value mask) const;

  FuncOp func;
  const size_t mostLanes, accessLanes;
  OpBuilder builder;
  Location loc;
  /// What a vector is now, and lanes that are no part yet.
  DenseMap<Value, Values> parts, waiting;
  DenseMap<Value, FlatView> flatViews;
  SmallVector<Operation *> replaced;
  SmallVector<BlockArgument> replacedArguments;
};

Value Scalarizer::join(ValueRange lanes) {
  if (lanes.size() == 1)
    return lanes.front();
  const auto type = VectorType::get({static_cast<int64_t>(lanes.size())}, lanes.front().getType());
  auto first = lanes.front().getDefiningOp<vector::ExtractOp>();
  SmallVector<Attribute> constants;
  bool isOne = first && first.getSource().getType() == type;
  for (auto [i, lane] : llvm::enumerate(lanes)) {
    auto extract = lane.getDefiningOp<vector::ExtractOp>();
    isOne = isOne && extract && extract.getSource() == first.getSource() &&
            extract.getStaticPosition()[0] == static_cast<int64_t>(i);
    if (auto constant = lane.getDefiningOp<arith::ConstantOp>())
      constants.push_back(constant.getValue());
  }
  if (isOne)
    return first.getSource();
  if (constants.size() == lanes.size())
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, constants));
  if (llvm::all_equal(lanes))
    return vector::BroadcastOp::create(builder, loc, type, lanes.front());
  return vector::FromElementsOp::create(builder, loc, type, lanes);
}

Value Scalarizer::expand(AffineExpr expr, ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return index(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = expand(binary.getLHS(), symbols), y = expand(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(x, y);
  case AffineExprKind::Mul:
    return mul(x, y);
  // Sizes are not negative, so that rounding down needs no signs.
  case AffineExprKind::FloorDiv:
    return builder.createOrFold<arith::DivUIOp>(loc, x, y);
  case AffineExprKind::CeilDiv:
    return ceilDiv(x, y);
  default:
    return builder.createOrFold<arith::RemUIOp>(loc, x, y);
  }
}

Value Scalarizer::linear(const FlatView &flatView, ValueRange indices, size_t lane) {
  Value at = flatView.offset;
  for (auto [i, stride] : llvm::zip(indices, flatView.strides))
    at = add(at, mul(laneOf(i, lane), stride));
  // The lanes of a vector follow each other along the last dimension.
  return lane == 0 ? at : add(at, mul(index(static_cast<int64_t>(lane)), flatView.strides.back()));
}

LogicalResult Scalarizer::rewrite(ViewOp view) {
  BlockAttr block = view.getMap().front();
  if (!view.getMap().isOneWholeBlock())
    return view.emitOpError("has a map that is not one whole block");
  MLIRContext *context = view.getContext();
  FlatView flatView;
  flatView.offset = expand(block.getOffset(), view.getSymbols());
  // Backwards, the first element lies farthest.
  AffineExpr one = getAffineConstantExpr(1, context), span = block.getOffset() + 1;
  for (auto [extent, stride] : llvm::zip(block.getShape(), block.getStrides())) {
    flatView.strides.push_back(expand(stride, view.getSymbols()));
    if (BlockAttr::constant(stride).value_or(1) > 0)
      span = span + (extent - 1) * stride;
  }
  const int64_t extent = BlockAttr::constant(span).value_or(ShapedType::kDynamic);
  auto type = ViewType::get({extent}, view.getType().getElementType(), view.getType().getSpace());
  auto flat = BlockAttr::get(context, {span}, {one}, getAffineConstantExpr(0, context), {}, {});
  flatView.flat =
      ViewOp::create(builder, loc, type, view.getBuffer(), view.getSymbols(), MapAttr::get(context, {flat}));
  flatViews[view] = std::move(flatView);
  return success();
}

LogicalResult Scalarizer::rewrite(AllocOp alloc) {
  ViewType type = alloc.getType();
  FlatView flatView;
  flatView.offset = index(0);
  int64_t elements = 1;
  for (int64_t extent : llvm::reverse(type.getShape())) {
    flatView.strides.insert(flatView.strides.begin(), index(elements));
    elements *= extent;
  }
  flatView.flat = AllocOp::create(builder, loc, ViewType::get({elements}, type.getElementType(), type.getSpace()));
  flatViews[alloc] = std::move(flatView);
  return success();
}

LogicalResult Scalarizer::rewrite(SubviewOp subview) {
  FlatView flatView = flatViews.at(subview.getView());
  flatView.offset = linear(flatView, subview.getIndices(), 0);
  flatView.strides.erase(flatView.strides.begin(), flatView.strides.end() - subview.getType().getRank());
  flatViews[subview] = std::move(flatView);
  return success();
}

/// Lanes of a load or a store that are one access: those of a part that lie together, and all are there. Where values
/// have fewer lanes than accesses may have, those of memory that threads share, if it is known that they are aligned.
size_t Scalarizer::lanesAtOnce(Type type, Value view, Value first, Value mask) const {
  const FlatView &flatView = flatViews.at(view);
  const size_t part = partLanes(type);
  if (mask || flatView.strides.empty() || !isConstantIntValue(flatView.strides.back(), 1))
    return 1;
  const Type element = getElementTypeOrSelf(type);
  const unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (accessLanes <= part || bits < 8 || cast<ViewType>(view.getType()).getSpace() == Space::Private)
    return part;
  const auto divisor = static_cast<size_t>(knownDivisor(first));
  size_t each = std::min(accessLanes, mostAccessBytes * 8 / bits);
  while (each > part && (numLanes(type) % each != 0 || divisor % each != 0))
    each /= 2;
  return std::max(each, part);
}

LogicalResult Scalarizer::rewrite(LoadOp load) {
  const FlatView &flatView = flatViews.at(load.getView());
  const Type type = load.getType(), element = getElementTypeOrSelf(type);
  Value at = linear(flatView, load.getIndices(), 0);
  const size_t each = lanesAtOnce(type, load.getView(), at, load.getMask());
  for (size_t lane = 0; lane < numLanes(type); lane += each) {
    if (lane > 0)
      at = linear(flatView, load.getIndices(), lane);
    Value made = LoadOp::create(
        builder, loc, each == 1 ? element : VectorType::get({static_cast<int64_t>(each)}, element), flatView.flat,
        ValueRange(at), load.getMask() ? laneOf(load.getMask(), lane) : Value(), load.getOther(),
        /*axes=*/nullptr, /*in_bounds=*/nullptr, load.getStream());
    if (!isVector(type))
      load.replaceAllUsesWith(made);
    else if (each == 1)
      bind(load, made);
    else if (each == partLanes(type))
      bindPart(load, made);
    else
      for (size_t i = 0; i < each; ++i)
        bind(load, vector::ExtractOp::create(builder, loc, made, static_cast<int64_t>(i)));
  }
  return success();
}

LogicalResult Scalarizer::rewrite(StoreOp store) {
  const FlatView &flatView = flatViews.at(store.getView());
  const Type type = store.getValue().getType();
  Value at = linear(flatView, store.getIndices(), 0);
  const size_t each = lanesAtOnce(type, store.getView(), at, store.getMask());
  for (size_t lane = 0; lane < numLanes(type); lane += each) {
    if (lane > 0)
      at = linear(flatView, store.getIndices(), lane);
    Values lanes;
    for (size_t i = lane; i < lane + each && each != partLanes(type); ++i)
      lanes.push_back(laneOf(store.getValue(), i));
    StoreOp::create(builder, loc, lanes.empty() ? partOf(store.getValue(), lane / each) : join(lanes), flatView.flat,
                    ValueRange(at), store.getMask() ? laneOf(store.getMask(), lane) : Value(), /*in_bounds=*/nullptr,
                    store.getStream());
  }
  return success();
}

/// An index outside of the view reads zero; indices are signed.
LogicalResult Scalarizer::rewrite(GatherOp gather) {
  ViewType type = gather.getView().getType();
  if (!type.hasStaticShape())
    return gather.emitOpError("reads a view whose extents are not known");
  const FlatView &flatView = flatViews.at(gather.getView());
  for (size_t lane = 0; lane < numLanes(gather.getType()); ++lane) {
    Value at = flatView.offset, inside;
    for (auto [dim, index] : llvm::enumerate(gather.getIndices())) {
      Value own = laneOf(index, lane);
      if (!own.getType().isIndex())
        own = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), own);
      Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, own,
                                             this->index(type.getDimSize(static_cast<unsigned>(dim))));
      inside = inside ? arith::AndIOp::create(builder, loc, inside, isInside) : isInside;
      at = add(at, mul(own, flatView.strides[dim]));
    }
    bind(gather, LoadOp::create(builder, loc, type.getElementType(), flatView.flat, ValueRange(at), inside, Value(),
                                /*axes=*/nullptr, /*in_bounds=*/nullptr, /*stream=*/false));
  }
  return success();
}

FailureOr<bool> Scalarizer::renameLanes(Operation *op) {
  auto take = [&](Value from, size_t lane) {
    if (isVector(op->getResult(0).getType()))
      bind(op->getResult(0), laneOf(from, lane));
    else
      op->getResult(0).replaceAllUsesWith(laneOf(from, lane));
  };
  const size_t count = op->getNumResults() == 1 ? numLanes(op->getResult(0).getType()) : 0;
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    if (extract.hasDynamicPosition() || extract.getNumIndices() != 1)
      return op->emitOpError("reads a lane that is not known");
    take(extract.getSource(), extract.getStaticPosition()[0]);
  } else if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    if (insert.hasDynamicPosition() || insert.getNumIndices() != 1)
      return op->emitOpError("writes a lane that is not known");
    for (size_t i = 0; i < count; ++i)
      static_cast<int64_t>(i) == insert.getStaticPosition()[0] ? take(insert.getValueToStore(), 0)
                                                               : take(insert.getDest(), i);
  } else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    for (size_t i = 0; i < count; ++i)
      take(broadcast.getSource(), numLanes(broadcast.getSource().getType()) == 1 ? 0 : i);
  } else if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
    const auto first = static_cast<int64_t>(numLanes(shuffle.getV1().getType()));
    for (int64_t which : shuffle.getMask())
      which < first ? take(shuffle.getV1(), std::max<int64_t>(which, 0)) : take(shuffle.getV2(), which - first);
  } else if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    const int64_t begin = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    for (size_t i = 0; i < count; ++i)
      take(slice.getSource(), begin + i);
  } else if (auto elements = dyn_cast<vector::FromElementsOp>(op)) {
    for (Value element : elements.getElements())
      take(element, 0);
  } else if (isa<vector::StepOp>(op)) {
    for (size_t i = 0; i < count; ++i)
      bind(op->getResult(0), index(static_cast<int64_t>(i)));
  } else if (auto mask = dyn_cast<vector::ConstantMaskOp>(op)) {
    for (size_t i = 0; i < count; ++i)
      bind(mask, arith::ConstantOp::create(builder, loc,
                                           builder.getBoolAttr(static_cast<int64_t>(i) < mask.getMaskDimSizes()[0])));
  } else if (auto created = dyn_cast<vector::CreateMaskOp>(op)) {
    for (size_t i = 0; i < count; ++i)
      bind(created, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index(static_cast<int64_t>(i)),
                                          created.getOperand(0)));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return op->emitOpError("has lanes that are not known");
    for (Attribute each : dense.getValues<Attribute>())
      bind(constant, arith::ConstantOp::create(builder, loc, cast<TypedAttr>(each)));
  } else {
    return false;
  }
  return true;
}

/// Of integers, whose order does not matter: parts first, then the halves of what is left.
LogicalResult Scalarizer::rewrite(vector::ReductionOp reduction) {
  auto combine = [&](Value x, Value y) { return vector::makeArithReduction(builder, loc, reduction.getKind(), x, y); };
  Value left;
  for (Value part : flatten(reduction.getVector()))
    left = left ? combine(left, part) : part;
  while (isVector(left.getType())) {
    Values lanes;
    for (size_t lane = 0; lane < numLanes(left.getType()); ++lane)
      lanes.push_back(vector::ExtractOp::create(builder, loc, left, static_cast<int64_t>(lane)));
    const ArrayRef<Value> all = lanes;
    left = combine(join(all.take_front(all.size() / 2)), join(all.drop_front(all.size() / 2)));
  }
  reduction.getResult().replaceAllUsesWith(left);
  return success();
}

LogicalResult Scalarizer::rewriteLanes(Operation *op) {
  FailureOr<bool> isRenamed = renameLanes(op);
  if (failed(isRenamed) || *isRenamed)
    return isRenamed;
  if (auto reduction = dyn_cast<vector::ReductionOp>(op);
      reduction && reduction.getType().isInteger() && !reduction.getAcc())
    return rewrite(reduction);
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumResults() == 0 ||
      !llvm::all_of(op->getResultTypes(), isVector))
    return op->emitOpError("has a vector, and is no op on each of its lanes");
  for (size_t part = 0; part < numParts(op->getResult(0).getType()); ++part) {
    OperationState state(loc, op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(partOf(operand, part));
    for (Type type : op->getResultTypes())
      state.types.push_back(partType(type));
    state.addAttributes(op->getAttrDictionary().getValue());
    Operation *made = builder.create(state);
    for (auto [ours, its] : llvm::zip(op->getResults(), made->getResults()))
      bindPart(ours, its);
  }
  return success();
}

/// A loop or a branch carries parts in the place of vectors.
LogicalResult Scalarizer::rewriteRegions(Operation *op) {
  auto hasVectors = [](TypeRange types) { return llvm::any_of(types, isVector); };
  if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ViewType>))
    return op->emitOpError("carries a view, which is no scalar");
  bool isChanged = hasVectors(op->getResultTypes()) || hasVectors(op->getOperandTypes());
  for (Region &region : op->getRegions())
    isChanged |= !region.empty() && hasVectors(region.front().getArgumentTypes());
  if (isChanged) {
    OperationState state(op->getLoc(), op->getName());
    state.operands = flatten(op->getOperands());
    for (Type type : op->getResultTypes())
      state.types.append(numParts(type), partType(type));
    state.addAttributes(op->getAttrDictionary().getValue());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *made = builder.create(state);
    auto next = made->result_begin();
    for (OpResult result : op->getResults()) {
      if (!isVector(result.getType()))
        result.replaceAllUsesWith(*next++);
      else
        for (size_t part = 0; part < numParts(result.getType()); ++part)
          bindPart(result, *next++);
    }
    replaced.push_back(op);
    op = made;
  }
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Block &block = region.front();
    for (BlockArgument argument : llvm::to_vector(block.getArguments())) {
      if (!isVector(argument.getType()))
        continue;
      for (size_t part = 0; part < numParts(argument.getType()); ++part)
        bindPart(argument, block.insertArgument(argument.getArgNumber() + 1 + static_cast<unsigned>(part),
                                                partType(argument.getType()), argument.getLoc()));
      replacedArguments.push_back(argument);
    }
    if (failed(rewrite(block)))
      return failure();
  }
  return success();
}

LogicalResult Scalarizer::rewrite(GridOp grid) {
  Values counts;
  Value all = index(1);
  for (auto [extent, step] : llvm::zip(grid.getMixedExtents(), grid.getSteps())) {
    std::optional<int64_t> known = getConstantIntValue(extent);
    counts.push_back(ceilDiv(known ? index(*known) : cast<Value>(extent), index(step)));
    all = mul(all, counts.back());
  }
  auto made = GridOp::create(builder, loc, {getAsOpFoldResult(all)}, {1});
  made.getBody().takeBody(grid.getBody());
  replaced.push_back(grid);
  Block &body = made.getBody().front();
  builder.setInsertionPointToStart(&body);
  Value rest = body.insertArgument(0u, builder.getIndexType(), loc);
  for (size_t dim = counts.size(); dim-- != 0;) {
    Value position = dim == 0 ? rest : builder.createOrFold<arith::RemUIOp>(loc, rest, counts[dim]);
    if (dim != 0)
      rest = builder.createOrFold<arith::DivUIOp>(loc, rest, counts[dim]);
    body.getArgument(static_cast<unsigned>(dim) + 1).replaceAllUsesWith(mul(position, index(grid.getSteps()[dim])));
  }
  body.eraseArguments(1, static_cast<unsigned>(counts.size()));
  return rewrite(body);
}

LogicalResult Scalarizer::rewrite(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  if (auto grid = dyn_cast<GridOp>(op))
    return rewrite(grid);
  if (op->getNumRegions() != 0)
    return rewriteRegions(op);
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    op->setOperands(flatten(op->getOperands()));
    return success();
  }
  const bool isMemory = isa<ViewOp, AllocOp, SubviewOp, LoadOp, StoreOp, GatherOp, PrefetchOp>(op);
  if (!isMemory && llvm::none_of(op->getOperandTypes(), isVector) && llvm::none_of(op->getResultTypes(), isVector))
    return success();
  replaced.push_back(op);
  for (Value operand : op->getOperands())
    if (isa<ViewType>(operand.getType()) && !flatViews.contains(operand))
      return op->emitOpError("has a view that is neither of a buffer nor of the program's own memory");
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ViewOp, AllocOp, SubviewOp, LoadOp, StoreOp, GatherOp>([&](auto each) { return rewrite(each); })
      // Caches of these machines are their own.
      .Case([](PrefetchOp) { return success(); })
      .Default([&](Operation *) { return rewriteLanes(op); });
}

struct Scalarize : zyx::kernel::impl::ScalarizePassBase<Scalarize> {
  using ScalarizePassBase::ScalarizePassBase;
  void runOnOperation() override {
    FuncOp func = getOperation();
    for (const unsigned each : {lanes.getValue(), accessLanes.getValue()})
      if (!llvm::isPowerOf2_64(each)) {
        func.emitError("vectors have a power of two of lanes, not ") << each;
        return signalPassFailure();
      }
    if (!func.getExternal() && failed(Scalarizer(func, lanes, accessLanes).run()))
      signalPassFailure();
  }
};

} // namespace
