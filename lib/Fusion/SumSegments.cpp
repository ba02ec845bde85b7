//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Updates that are added to the last marked place before them, as in the gradient of a running maximum.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LoopValues.h"
#include "Machine.h"
#include "ScanParts.h"

#include "zyx/Dialect/Graph/Analysis/Updates.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_SUMSEGMENTSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::target::TargetInfo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

/// Reads indices as a sum of steps: those of iotas, and those of one running maximum of marked places.
class MarkedPlaces {
public:
  /// Whether the indices are places in row-major order that differ along one dimension alone from those of their
  /// updates, where they are the last marked one up to there, or the first of all.
  bool match(Value indices);

  Value marks;
  int64_t outer = 1, extent = 1, inner = 1;

private:
  static constexpr int mostDepth = 16;

  bool collect(Value value, int64_t factor, int depth);

  ScanOp scan;
  int64_t scanStep = 0, constant = 0;
  SmallVector<int64_t> steps;
};

/// Rewrites one scatter, as `parts` of each row.
class SegmentSummer {
public:
  SegmentSummer(ScatterOp scatter, const MarkedPlaces &places, int64_t parts)
      : scatter(scatter), places(places), builder(scatter), loc(scatter.getLoc()),
        placeType(choosePlaceType(scatter, parts)), parts(parts), each(places.extent / parts),
        shape{places.outer, parts, each, places.inner}, firsts{places.outer, parts, 1, places.inner} {}

  void apply();

private:
  /// Places cost as many bytes as updates where 32 bits count them. Firsts of parts are looked for by numbers below 0.
  static Type choosePlaceType(ScatterOp scatter, int64_t parts) {
    MLIRContext *context = scatter.getContext();
    const int64_t last = typeOf(scatter).getNumElements() - 1;
    if (last <= std::numeric_limits<int32_t>::max())
      return IntegerType::get(context, 32);
    if (last <= std::numeric_limits<uint32_t>::max() && parts == 1)
      return IntegerType::get(context, 32, IntegerType::Unsigned);
    return IntegerType::get(context, 64);
  }
  Value binary(BinaryKind kind, Value a, Value b) { return BinaryOp::create(builder, loc, kind, a, b); }
  Value select(Value condition, Value a, Value b) { return SelectOp::create(builder, loc, condition, a, b); }
  Value reshape(Value x, ArrayRef<int64_t> to) { return ReshapeOp::create(builder, loc, typeOf(x).clone(to), x); }
  Value number(ArrayRef<int64_t> of, int64_t value) {
    auto type = RankedTensorType::get(of, placeType);
    return ConstantOp::create(builder, loc, type,
                              DenseElementsAttr::get(type, Attribute(builder.getIntegerAttr(placeType, value))));
  }
  /// Places in row-major order by some of the dimensions.
  Value count(ArrayRef<int64_t> of, ArrayRef<int64_t> dims);
  Value iota(ArrayRef<int64_t> of, int64_t dim) {
    return IotaOp::create(builder, loc, RankedTensorType::get(of, placeType), dim);
  }
  /// The elements of each part that stand first, or last.
  Value slice(Value x, bool isLast);
  Value scatterAdd(Value x, Value at, Value updates) {
    const int64_t count = typeOf(updates).getNumElements();
    return ScatterOp::create(builder, loc, typeOf(x), ScatterKind::Add, x, reshape(at, {count}),
                             reshape(updates, {count}), 0);
  }
  Value moveFirsts(Value sums, Value marks, Value local);

  ScatterOp scatter;
  const MarkedPlaces &places;
  OpBuilder builder;
  Location loc;
  const Type placeType;
  const int64_t parts, each;
  const SmallVector<int64_t> shape, firsts;
};

} // namespace

bool MarkedPlaces::collect(Value value, int64_t factor, int depth) {
  if (depth == 0)
    return false;
  auto numberOf = [](Value value) -> std::optional<int64_t> {
    ConstantOp splat = zyx::fusion::getSplat(value);
    if (!splat || !typeOf(splat).getElementType().isSignlessInteger())
      return std::nullopt;
    return splat.getValue().getSplatValue<APInt>().getSExtValue();
  };
  if (std::optional<int64_t> number = numberOf(value)) {
    int64_t sum = 0;
    if (llvm::MulOverflow(*number, factor, sum) || llvm::AddOverflow(constant, sum, constant))
      return false;
    return true;
  }
  if (auto iota = value.getDefiningOp<IotaOp>()) {
    if (steps.size() != static_cast<size_t>(typeOf(value).getRank()))
      return false;
    return !llvm::AddOverflow(steps[iota.getDim()], factor, steps[iota.getDim()]);
  }
  if (auto found = value.getDefiningOp<ScanOp>()) {
    if (scan)
      return false;
    scan = found;
    scanStep = factor;
    return true;
  }
  auto binary = value.getDefiningOp<BinaryOp>();
  if (!binary)
    return false;
  if (binary.getKind() == BinaryKind::Add)
    return collect(binary.getA(), factor, depth - 1) && collect(binary.getB(), factor, depth - 1);
  if (binary.getKind() != BinaryKind::Mul)
    return false;
  Value other = binary.getA();
  std::optional<int64_t> number = numberOf(binary.getB());
  if (!number) {
    number = numberOf(binary.getA());
    other = binary.getB();
  }
  int64_t product = 0;
  return number && !llvm::MulOverflow(*number, factor, product) && collect(other, product, depth - 1);
}

bool MarkedPlaces::match(Value indices) {
  while (auto reshape = indices.getDefiningOp<ReshapeOp>())
    indices = reshape.getX();
  ArrayRef<int64_t> shape = typeOf(indices).getShape();
  steps.assign(shape.size(), 0);
  if (!collect(indices, 1, mostDepth) || !scan || constant != 0 || scan.getKind() != ReduceKind::Max ||
      scan.getExclusive() || scan.getReverse() || typeOf(scan).getShape() != shape)
    return false;
  const auto dim = static_cast<int64_t>(scan.getDim());
  int64_t step = 1;
  for (int64_t d = static_cast<int64_t>(shape.size()); d-- > 0; step *= shape[d]) {
    // A step that leads nowhere may be any.
    if (d == dim ? scanStep != step || steps[d] != 0 : shape[d] != 1 && steps[d] != step)
      return false;
    (d < dim ? outer : d == dim ? extent : inner) *= shape[d];
  }
  auto marked = scan.getX().getDefiningOp<SelectOp>();
  auto place = marked ? marked.getA().getDefiningOp<IotaOp>() : IotaOp();
  if (!place || static_cast<int64_t>(place.getDim()) != dim || !zyx::fusion::isZero(marked.getB()))
    return false;
  marks = marked.getCondition();
  return true;
}

Value SegmentSummer::count(ArrayRef<int64_t> of, ArrayRef<int64_t> dims) {
  Value sum;
  for (int64_t dim : dims) {
    // One place counts nothing, and its step may be larger than any place.
    if (of[dim] == 1)
      continue;
    int64_t step = 1;
    for (int64_t extent : ArrayRef(shape).drop_front(dim + 1))
      step *= extent;
    Value own = iota(of, dim);
    if (step != 1)
      own = binary(BinaryKind::Mul, own, number(of, step));
    sum = sum ? binary(BinaryKind::Add, sum, own) : own;
  }
  return sum ? sum : number(of, 0);
}

Value SegmentSummer::slice(Value x, bool isLast) {
  Type element = typeOf(x).getElementType();
  auto scalar = RankedTensorType::get({}, element);
  Value fill =
      ConstantOp::create(builder, loc, scalar, DenseElementsAttr::get(scalar, Attribute(builder.getZeroAttr(element))));
  const int64_t others = each - 1;
  const SmallVector<int64_t> none(4, 0), cut{0, 0, -others, 0};
  return PadOp::create(builder, loc, typeOf(x).clone(firsts), x, fill, isLast ? cut : none, isLast ? none : cut, none);
}

/// What reaches a part's first element without a mark of its own belongs to a part before.
Value SegmentSummer::moveFirsts(Value sums, Value marks, Value local) {
  Value first = slice(sums, /*isLast=*/false), isMarked = slice(marks, /*isLast=*/false);
  Value last = slice(local, /*isLast=*/true);
  Value hasMark = binary(BinaryKind::Or, isMarked, binary(BinaryKind::Ne, last, count(firsts, {0, 1, 3})));
  Value own = select(hasMark, last, count(firsts, {0, 3}));
  Value before = ScanOp::create(builder, loc, typeOf(own), ReduceKind::Max, own, 1, /*exclusive=*/true,
                                /*reverse=*/false);
  Value none = number(firsts, -1), isRowsFirst = binary(BinaryKind::Eq, iota(firsts, 1), number(firsts, 0));
  Value target = select(binary(BinaryKind::Or, isMarked, isRowsFirst), none, before);
  Value moves = ExpandOp::create(builder, loc, RankedTensorType::get(shape, builder.getI1Type()),
                                 binary(BinaryKind::Ge, target, number(firsts, 0)));
  moves = binary(BinaryKind::And, moves, binary(BinaryKind::Eq, iota(shape, 2), number(shape, 0)));
  Value kept = select(moves, zyx::fusion::makeZeros(builder, loc, typeOf(sums)), sums);
  return scatterAdd(reshape(kept, {typeOf(sums).getNumElements()}), target, first);
}

void SegmentSummer::apply() {
  Value marks = reshape(places.marks, shape);
  Value marked = select(marks, count(shape, {0, 1, 2, 3}), count(shape, {0, 1, 3}));
  Value local = ScanOp::create(builder, loc, typeOf(marked), ReduceKind::Max, marked, 2, /*exclusive=*/false,
                               /*reverse=*/false);
  const int64_t numElements = typeOf(marked).getNumElements();
  Value sums = scatterAdd(reshape(scatter.getX(), {numElements}), local, scatter.getUpdates());
  sums.getDefiningOp()->setAttr(segmentsAttrName,
                                builder.getDenseI64ArrayAttr({places.outer * parts, each, places.inner}));
  if (parts != 1)
    sums = moveFirsts(reshape(sums, shape), marks, local);
  scatter.replaceAllUsesWith(reshape(sums, typeOf(scatter).getShape()));
  scatter.erase();
}

static void sumSegments(Block &block, const TargetInfo &machine) {
  for (auto scatter : llvm::make_early_inc_range(block.getOps<ScatterOp>())) {
    const RankedTensorType type = typeOf(scatter);
    const int64_t numElements = type.getNumElements();
    Type element = type.getElementType();
    if (!machine.hasSubgroups() || scatter.getKind() != ScatterKind::Add || scatter.getDim() != 0 ||
        type.getRank() != 1 || numElements == 0 || typeOf(scatter.getIndices()).getNumElements() != numElements ||
        element.getIntOrFloatBitWidth() < 8 || !zyx::fusion::isZero(scatter.getX()))
      continue;
    MarkedPlaces places;
    if (!places.match(scatter.getIndices()))
      continue;
    // Sums of parts would be rounded twice.
    const bool isShort = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
    const int64_t parts = isShort ? 1 : zyx::fusion::countScanParts(places.outer, places.extent, places.inner, machine);
    SegmentSummer(scatter, places, parts).apply();
  }
  zyx::fusion::eraseUnused(block);
}

namespace {

struct SumSegments : zyx::fusion::impl::SumSegmentsPassBase<SumSegments> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { sumSegments(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
