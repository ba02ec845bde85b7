//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Convolutions with few results. To multiply windows they have to be packed, each element of the image as often as
// windows have it, and few filters do not pay for that. Here the image is multiplied as it lies with the filters of
// each element of the window, which is a tap, and what comes of the taps is moved and added up.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "WindowDims.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_SUMTAPSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
namespace fits = zyx::target::fits::taps;

namespace {

/// Taps, at most: each is a summand of every result.
constexpr int64_t mostTaps = 16, fewestTaps = 4;
/// Rows from which a matrix unit multiplies windows: it packs them anyway.
constexpr int64_t fewestRowsOfUnit = 8;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// A dimension of windows that overlap.
struct Slide {
  /// Of the image: how many elements it has, and how far the first window lies before the first one.
  int64_t extent, low;
  int64_t dilation;
  /// The dimensions of positions and taps, in the window at first, and in the product at last.
  int64_t positions, taps;
};

class TapSplitter {
public:
  TapSplitter(ReduceOp sum, const zyx::target::TargetInfo &machine)
      : sum(sum), machine(machine), builder(sum), loc(sum.getLoc()) {}
  void run();

private:
  bool match(Value factor);
  bool pays(const Contraction &contraction, bool isFirst);
  bool hasUnit(Value factor) const {
    const Type type = zyx::fusion::getFactorType(factor);
    return (type.isBF16() && machine.hasBf16Dots()) || (type.isInteger(8) && machine.hasI8Dots());
  }
  Value spreadImage();
  Value spreadFilters(Value factor);
  Value addTaps(Value products, ArrayRef<int64_t> kept);
  bool isTap(int64_t dim) const {
    return llvm::any_of(inProduct, [&](const Slide &slide) { return slide.taps == dim; });
  }

  ReduceOp sum;
  const zyx::target::TargetInfo &machine;
  OpBuilder builder;
  Location loc;
  WindowOp window;
  /// What windows are taken of, without padding; and the views from the windows down to the product, the last one
  /// first.
  Value image;
  SmallVector<Operation *> views;
  /// In the window, and in the product.
  SmallVector<Slide> slides, inProduct;
  /// The shape of the products of all taps with the whole image.
  SmallVector<int64_t> shape;
};

} // namespace

/// Whether a factor shows windows that overlap, one step apart, of an image, and nothing but their taps is summed
/// beside channels.
bool TapSplitter::match(Value factor) {
  views.clear();
  slides.clear();
  Operation *op = factor.getDefiningOp();
  for (; isa_and_nonnull<CastOp, ExpandOp, PermuteOp, ReshapeOp>(op); op = op->getOperand(0).getDefiningOp())
    views.push_back(op);
  window = dyn_cast_or_null<WindowOp>(op);
  if (!window || llvm::none_of(views, [](Operation *view) { return isa<ExpandOp>(view); }))
    return false;
  const int64_t rank = typeOf(window.getX()).getRank();
  auto isMoved = [&](int64_t dim) {
    const auto *found = llvm::find(window.getDims(), dim);
    return found != window.getDims().end() && window.getSize()[found - window.getDims().begin()] > 1;
  };
  // Padding that no window moves over stays.
  auto pad = window.getX().getDefiningOp<PadOp>();
  bool takesPad = pad && zyx::fusion::isZeroPad(pad);
  for (int64_t dim = 0; takesPad && dim < rank; ++dim) {
    const int64_t low = pad.getLow()[dim], high = pad.getHigh()[dim];
    takesPad = low >= 0 && high >= 0 && (isMoved(dim) || (low == 0 && high == 0));
  }
  image = takesPad ? pad.getX() : window.getX();
  for (auto [i, dim] : llvm::enumerate(window.getDims())) {
    if (window.getStride()[i] != 1)
      return false;
    if (window.getSize()[i] > 1)
      slides.push_back({typeOf(image).getDimSize(dim), takesPad ? pad.getLow()[dim] : 0, window.getDilation()[i], dim,
                        rank + static_cast<int64_t>(i)});
  }
  inProduct = slides;
  for (Slide &slide : inProduct)
    for (int64_t *dim : {&slide.positions, &slide.taps})
      for (Operation *view : llvm::reverse(views)) {
        const std::optional<int64_t> found = zyx::fusion::findResultDim(view, *dim);
        if (!found)
          return false;
        *dim = *found;
      }
  auto isSummed = [&](int64_t dim) { return llvm::is_contained(sum.getDims(), dim); };
  return !slides.empty() && llvm::all_of(inProduct, [&](const Slide &slide) {
    return isSummed(slide.taps) && !isSummed(slide.positions);
  });
}

/// Whether that takes clearly less than to pack windows, in cycles for each vector of positions.
bool TapSplitter::pays(const Contraction &contraction, bool isFirst) {
  const RankedTensorType type = typeOf(sum.getX());
  double taps = 1, rows = 1, channels = 1;
  for (const Slide &slide : inProduct)
    taps *= static_cast<double>(type.getDimSize(slide.taps));
  for (int64_t dim : isFirst ? contraction.second : contraction.first)
    rows *= static_cast<double>(type.getDimSize(dim));
  for (int64_t dim : contraction.reduced)
    channels *= static_cast<double>(type.getDimSize(dim));
  channels /= taps;
  BinaryOp product = contraction.product;
  if (rows >= fewestRowsOfUnit && hasUnit(product.getA()) && hasUnit(product.getB()))
    return false;
  const auto pack = static_cast<double>(machine.costs.packCycles);
  const double products = taps * channels * rows * fits::productCycles;
  // Windows of narrow elements are packed in rows of positions, each converted in whole vectors; the image is one
  // piece.
  const int64_t lanes = machine.lanes(type.getElementTypeBitWidth() / 8);
  const int64_t run = type.getDimSize(inProduct.back().positions);
  const bool isNarrow = zyx::fusion::getFactorType(isFirst ? product.getA() : product.getB()).getIntOrFloatBitWidth() <
                        type.getElementTypeBitWidth();
  const double vectorsOfRun = isNarrow ? static_cast<double>(llvm::alignTo(run, lanes)) / static_cast<double>(run) : 1;
  const double packed = taps * channels * pack * vectorsOfRun + products;
  const double added = channels * pack + products + taps * rows * fits::tapCycles;
  // Elements of the image are as many as positions, or there are windows over padding alone.
  double positions = 1, elements = 1;
  for (const Slide &slide : inProduct) {
    positions *= static_cast<double>(type.getDimSize(slide.positions));
    elements *= static_cast<double>(slide.extent);
  }
  const auto vectors =
      static_cast<double>(typeOf(sum.getResult()).getNumElements()) / rows / static_cast<double>(lanes);
  return taps >= fewestTaps && taps <= mostTaps && added * elements < fits::clearlyLess * packed * positions &&
         vectors * (packed - added) > fits::launches * static_cast<double>(machine.costs.launchCycles);
}

/// The factor of windows as that of elements of the image, each of which all taps multiply.
Value TapSplitter::spreadImage() {
  SmallVector<Slide> at = slides;
  SmallVector<int64_t> unit(typeOf(image).getShape());
  unit.append(window.getDims().size(), 1);
  Value value = ReshapeOp::create(builder, loc, typeOf(image).clone(unit), image);
  bool isSpread = false;
  for (Operation *view : llvm::reverse(views)) {
    isSpread |= isa<ExpandOp>(view);
    SmallVector<int64_t> extents(typeOf(view->getResult(0)).getShape());
    for (Slide &slide : at) {
      slide.positions = *zyx::fusion::findResultDim(view, slide.positions);
      slide.taps = *zyx::fusion::findResultDim(view, slide.taps);
      extents[slide.positions] = slide.extent;
      if (!isSpread)
        extents[slide.taps] = 1;
    }
    value = zyx::fusion::cloneWith(builder, view, value, typeOf(view->getResult(0)).clone(extents));
  }
  return value;
}

/// The other factor, repeated for all elements of the image; null where it is not the same for all positions.
Value TapSplitter::spreadFilters(Value factor) {
  Operation *op = factor.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op)) {
    Value narrow = spreadFilters(cast.getX());
    return narrow ? CastOp::create(builder, loc, typeOf(factor).clone(shape), narrow).getResult() : Value();
  }
  auto expand = dyn_cast_or_null<ExpandOp>(op);
  if (!expand || llvm::any_of(inProduct, [&](const Slide &slide) {
        return typeOf(expand.getX()).getDimSize(slide.positions) != 1;
      }))
    return {};
  return ExpandOp::create(builder, loc, typeOf(factor).clone(shape), expand.getX());
}

/// Of what comes of each tap, those that reach each position. `kept` are the dimensions of the product that `products`
/// has.
Value TapSplitter::addTaps(Value products, ArrayRef<int64_t> kept) {
  const RankedTensorType from = typeOf(products);
  auto placeOf = [&](int64_t dim) { return llvm::find(kept, dim) - kept.begin(); };
  auto fillType = from.clone(ArrayRef<int64_t>());
  Value fill = ConstantOp::create(builder, loc, fillType,
                                  DenseElementsAttr::get(fillType, builder.getZeroAttr(from.getElementType())));
  // Without taps, in the order of the product.
  SmallVector<int64_t> dims, extents, back;
  for (int64_t dim : kept)
    if (!isTap(dim)) {
      dims.push_back(dim);
      extents.push_back(typeOf(sum.getX()).getDimSize(dim));
    }
  SmallVector<int64_t> ordered(dims);
  llvm::sort(ordered);
  for (int64_t dim : ordered)
    back.push_back(llvm::find(dims, dim) - dims.begin());
  SmallVector<int64_t> tap(inProduct.size(), 0);
  const SmallVector<int64_t> none(from.getRank(), 0);
  Value all;
  for (size_t i = 0; i != static_cast<size_t>(-1);) {
    SmallVector<int64_t> low(none), high(none), shown(from.getShape());
    for (auto [number, slide] : llvm::zip_equal(tap, inProduct)) {
      const int64_t taps = placeOf(slide.taps), positions = placeOf(slide.positions);
      low[taps] = -number;
      high[taps] = number + 1 - from.getDimSize(taps);
      shown[taps] = 1;
      low[positions] = slide.low - number * slide.dilation;
      shown[positions] = typeOf(sum.getX()).getDimSize(slide.positions);
      high[positions] = shown[positions] - slide.extent - low[positions];
    }
    Value moved = PadOp::create(builder, loc, from.clone(shown), products, fill, low, high, none);
    moved = ReshapeOp::create(builder, loc, from.clone(extents), moved);
    all = all ? BinaryOp::create(builder, loc, BinaryKind::Add, all, moved).getResult() : moved;
    i = tap.size();
    while (i-- > 0 && ++tap[i] == from.getDimSize(placeOf(inProduct[i].taps)))
      tap[i] = 0;
  }
  return PermuteOp::create(builder, loc, typeOf(sum.getResult()), all, back);
}

void TapSplitter::run() {
  if (typeOf(sum.getX()).getNumElements() == 0)
    return;
  const std::optional<Contraction> contraction = matchContraction(sum);
  if (!contraction || zyx::fusion::isRounded(sum))
    return;
  BinaryOp product = contraction->product;
  for (const bool isFirst : {true, false}) {
    Value windows = isFirst ? product.getA() : product.getB(), filters = isFirst ? product.getB() : product.getA();
    if (!match(windows) || !pays(*contraction, isFirst))
      continue;
    shape.assign(typeOf(sum.getX()).getShape().begin(), typeOf(sum.getX()).getShape().end());
    for (const Slide &slide : inProduct)
      shape[slide.positions] = slide.extent;
    // Positions come last: they are as many as there are, and taps are few.
    auto isPosition = [&](int64_t dim) {
      return llvm::any_of(inProduct, [&](const Slide &slide) { return slide.positions == dim; });
    };
    SmallVector<int64_t> kept, positions, order, reduced, permuted, extents;
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      if (!llvm::is_contained(sum.getDims(), dim) || isTap(dim))
        (isPosition(dim) ? positions : kept).push_back(dim);
      else
        reduced.push_back(static_cast<int64_t>(order.size())), order.push_back(dim);
    Value other = reduced.empty() ? Value() : spreadFilters(filters);
    if (!other)
      continue;
    llvm::append_range(kept, positions);
    llvm::append_range(order, kept);
    for (int64_t dim : order)
      permuted.push_back(shape[dim]);
    for (int64_t dim : kept)
      extents.push_back(shape[dim]);
    auto reorder = [&](Value factor) {
      return PermuteOp::create(builder, loc, typeOf(factor).clone(permuted), factor, order).getResult();
    };
    Value shown = reorder(spreadImage()), filter = reorder(other);
    Value products =
        BinaryOp::create(builder, loc, BinaryKind::Mul, isFirst ? shown : filter, isFirst ? filter : shown);
    products = ReduceOp::create(builder, loc, typeOf(sum.getResult()).clone(extents), sum.getKind(), products, reduced);
    sum.getResult().replaceAllUsesWith(addTaps(products, kept));
    sum.erase();
    return;
  }
}

static void sumTaps(Block &block) {
  const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(block.getParentOp());
  for (auto sum : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
    TapSplitter(sum, machine).run();
}

namespace {

struct SumTaps : zyx::fusion::impl::SumTapsPassBase<SumTaps> {
  void runOnOperation() override {
    // Threads of subgroups read windows as they lie.
    const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (machine.hasSubgroups() || machine.costs.packCycles == 0)
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), sumTaps)))
      signalPassFailure();
  }
};

} // namespace
