//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Which positions a mask hides from a whole program, where the mask compares sums of indices and of numbers that are
// data.
#include "zyx/Codegen/Tile/VisibleRange.h"

#include "zyx/Codegen/Tile/TileEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Larger numbers might not fit the type in which they are added.
constexpr int64_t maxMagnitude = int64_t(1) << 28;

/// A sum of indices, each times a number, of where programs begin, of numbers that are data, and of a number.
struct LinearForm {
  llvm::SmallDenseMap<Axis, int64_t> factors;
  SmallVector<std::pair<Value, int64_t>> bases;
  SmallVector<std::pair<LoadOp, int64_t>> data;
  int64_t constant = 0;

  void add(const LinearForm &other, int64_t times) {
    for (auto [axis, factor] : other.factors)
      factors[axis] += times * factor;
    for (auto [base, factor] : other.bases)
      bases.push_back({base, times * factor});
    for (auto [load, factor] : other.data)
      data.push_back({load, times * factor});
    constant += times * other.constant;
  }
};

/// Positions are seen that are below 1 minus the least of `rest`, or, of a low bound, from its least on.
struct Bound {
  LinearForm rest;
  bool isLow;
};

class BoundFinder {
public:
  BoundFinder(const Axes &axes, Axis axis) : axes(axes), axis(axis) {}

  SmallVector<Bound> run(Value scores) {
    follow(scores);
    return std::move(bounds);
  }

private:
  /// Minus infinity stays what it is where it is rounded, and where anything is added to it.
  void follow(Value scores) {
    while (Operation *op = scores.getDefiningOp()) {
      if (!seen.insert(op).second)
        break;
      if (auto sum = dyn_cast<arith::AddFOp>(op)) {
        follow(sum.getLhs());
        scores = sum.getRhs();
        continue;
      }
      if (isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtFOp, arith::TruncFOp>(op)) {
        scores = op->getOperand(0);
        continue;
      }
      auto select = dyn_cast<arith::SelectOp>(op);
      if (!select)
        break;
      const bool hidesTrue = isHidden(select.getTrueValue());
      if (hidesTrue == isHidden(select.getFalseValue()))
        break;
      narrow(select.getCondition(), hidesTrue);
      scores = hidesTrue ? select.getFalseValue() : select.getTrueValue();
    }
  }

  static bool isHidden(Value tile) {
    while (Operation *op = tile.getDefiningOp()) {
      if (!isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtFOp, arith::TruncFOp>(op))
        break;
      tile = op->getOperand(0);
    }
    DenseElementsAttr value;
    return matchPattern(tile, m_Constant(&value)) && value.isSplat() && isa<FloatType>(value.getElementType()) &&
           value.getSplatValue<APFloat>().isInfinity() && value.getSplatValue<APFloat>().isNegative();
  }

  static std::optional<int64_t> splatOf(Value tile) {
    DenseElementsAttr value;
    if (!matchPattern(tile, m_Constant(&value)) || !value.isSplat() || !value.getElementType().isInteger())
      return std::nullopt;
    const APInt number = value.getSplatValue<APInt>();
    if (number.getSignificantBits() > 62 || std::abs(number.getSExtValue()) > maxMagnitude)
      return std::nullopt;
    return number.getSExtValue();
  }

  std::optional<LinearForm> formOf(Value tile) {
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    Operation *op = tile.getDefiningOp();
    if (!type || !op || !type.getElementType().isInteger() || type.getElementTypeBitWidth() < 32)
      return std::nullopt;
    if (isa<BroadcastOp, TransposeOp, ReshapeOp, arith::ExtSIOp, arith::TruncIOp>(op))
      return formOf(op->getOperand(0));
    LinearForm form;
    if (auto iota = dyn_cast<IotaOp>(op)) {
      const Axis own = axes.of(iota.getResult(), iota.getDim());
      if (axes.extent(own) > maxMagnitude)
        return std::nullopt;
      form.factors[own] = 1;
      if (iota.getBase())
        form.bases.push_back({iota.getBase(), 1});
      return form;
    }
    if (std::optional<int64_t> number = splatOf(tile)) {
      form.constant = *number;
      return form;
    }
    // Where a cache ends, or how long a text is: one number for all that a program has. One of padding is no element.
    if (auto load = dyn_cast<LoadOp>(op); load && type.getNumElements() == 1 && !load.getMask() && !load.getOther() &&
                                          !isComplex(load.getView()) &&
                                          !llvm::is_contained(load.getInBounds().value_or(ArrayRef<bool>()), false)) {
      form.data.push_back({load, 1});
      return form;
    }
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return std::nullopt;
    std::optional<LinearForm> lhs = formOf(op->getOperand(0)), rhs = formOf(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    lhs->add(*rhs, isa<arith::AddIOp>(op) ? 1 : -1);
    return lhs;
  }

  /// By a condition that holds, or does not, where something is seen.
  void narrow(Value condition, bool isNegated) {
    Operation *op = condition.getDefiningOp();
    if (!op)
      return;
    if (isa<BroadcastOp, TransposeOp, ReshapeOp>(op))
      return narrow(op->getOperand(0), isNegated);
    if (isNegated ? isa<arith::OrIOp>(op) : isa<arith::AndIOp>(op)) {
      narrow(op->getOperand(0), isNegated);
      return narrow(op->getOperand(1), isNegated);
    }
    if (isa<arith::XOrIOp>(op)) {
      for (unsigned side : {0, 1})
        if (DenseElementsAttr value; matchPattern(op->getOperand(side), m_Constant(&value)) && value.isSplat() &&
                                     value.getElementType().isInteger(1) && value.getSplatValue<APInt>().isOne())
          return narrow(op->getOperand(1 - side), !isNegated);
      return;
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      narrowBy(compare, isNegated ? arith::invertPredicate(compare.getPredicate()) : compare.getPredicate());
  }

  void narrowBy(arith::CmpIOp compare, arith::CmpIPredicate predicate) {
    std::optional<LinearForm> lhs = formOf(compare.getLhs()), rhs = formOf(compare.getRhs());
    if (!lhs || !rhs)
      return;
    using Is = arith::CmpIPredicate;
    LinearForm difference = *lhs;
    difference.add(*rhs, -1);
    LinearForm opposite;
    opposite.add(difference, -1);
    if (predicate == Is::slt || predicate == Is::sle || predicate == Is::eq)
      bound(difference, predicate == Is::slt);
    if (predicate == Is::sgt || predicate == Is::sge || predicate == Is::eq)
      bound(opposite, predicate == Is::sgt);
  }

  /// Of a form that is at most zero, or below it, somewhere.
  void bound(LinearForm form, bool isBelow) {
    auto own = form.factors.find(axis);
    const int64_t factor = own == form.factors.end() ? 0 : own->second;
    if (factor != 1 && factor != -1)
      return;
    form.factors.erase(axis);
    form.constant += isBelow ? 1 : 0;
    bounds.push_back({std::move(form), /*isLow=*/factor == -1});
  }

  const Axes &axes;
  Axis axis;
  SmallVector<Bound> bounds;
  llvm::SmallPtrSet<Operation *, 16> seen;
};

/// Axes of which a program has `extent` positions from `begin` on; of the others it has all.
struct Part {
  Axis axis;
  int64_t begin, extent;
};

} // namespace

/// The least of a form without the bases, for positions of a program.
static int64_t leastOf(const LinearForm &form, const Axes &axes, ArrayRef<Part> parts) {
  int64_t least = form.constant;
  for (auto [axis, times] : form.factors) {
    const Part *own = llvm::find_if(parts, [axis = axis](const Part &part) { return part.axis == axis; });
    const int64_t first = own == parts.end() ? 0 : own->begin;
    const int64_t last =
        own == parts.end() ? axes.extent(axis) - 1 : std::min(own->begin + own->extent, axes.extent(axis)) - 1;
    least += times * (times < 0 ? last : first);
  }
  return least;
}

/// The number of a tile of one element, and whether sums with it fit their type: near its ends they would wrap.
static std::pair<Value, Value> readNumber(LoadOp load, OpBuilder &builder, Location loc) {
  Type type = getElementTypeOrSelf(load.getType());
  Value number = LoadOp::create(builder, loc, type, load.getView(), load.getIndices(), Value(), Value(), ArrayAttr(),
                                DenseBoolArrayAttr());
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  Value isAbove = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, number, constant(-maxMagnitude));
  Value isBelow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, number, constant(maxMagnitude));
  return {arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number),
          arith::AndIOp::create(builder, loc, isAbove, isBelow)};
}

VisibleRange zyx::kernel::findVisibleRange(Value scores, const Axes &axes, Axis axis, OpBuilder &builder,
                                           Location loc) {
  VisibleRange range;
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value).getResult(); };
  for (const Bound &bound : BoundFinder(axes, axis).run(scores)) {
    Value rest = index(leastOf(bound.rest, axes, {}));
    for (auto [base, times] : bound.rest.bases) {
      Value part = arith::MulIOp::create(builder, loc, base, index(times));
      rest = arith::AddIOp::create(builder, loc, rest, part);
    }
    // Where a number is too large for that, all is walked.
    for (auto [load, times] : bound.rest.data) {
      auto [number, fits] = readNumber(load, builder, loc);
      Value part = arith::MulIOp::create(builder, loc, number, index(times));
      Value sum = arith::AddIOp::create(builder, loc, rest, part);
      rest = arith::SelectOp::create(builder, loc, fits, sum, index(-4 * maxMagnitude));
    }
    if (bound.isLow) {
      range.low = range.low ? arith::MaxSIOp::create(builder, loc, range.low, rest).getResult() : rest;
    } else {
      // position + rest <= 0
      Value high = arith::SubIOp::create(builder, loc, index(1), rest);
      range.high = range.high ? arith::MinSIOp::create(builder, loc, range.high, high).getResult() : high;
    }
  }
  return range;
}

double zyx::kernel::findVisibleShare(Value scores, const Axes &axes, Axis axis, int64_t block,
                                     const llvm::SmallDenseMap<Axis, int64_t> &tiles) {
  SmallVector<Bound> bounds = BoundFinder(axes, axis).run(scores);
  // Where programs begin is no number there, and data is not known.
  llvm::erase_if(bounds, [](const Bound &bound) { return !bound.rest.bases.empty() || !bound.rest.data.empty(); });
  if (bounds.empty())
    return 1;
  // More programs are sampled. Masks compare one axis with the keys, rarely two; of others a program is taken to have
  // all, which hides less.
  constexpr int64_t mostSamples = 64;
  constexpr size_t mostAxes = 2;
  SmallVector<Part> parts;
  SmallVector<int64_t> counts;
  int64_t samples = 1;
  for (const Bound &bound : bounds)
    for (auto [other, times] : bound.rest.factors) {
      auto found = tiles.find(other);
      if (times == 0 || parts.size() == mostAxes || found == tiles.end() || found->second >= axes.extent(other) ||
          llvm::any_of(parts, [other = other](const Part &part) { return part.axis == other; }))
        continue;
      parts.push_back({other, 0, found->second});
      counts.push_back(std::min(llvm::divideCeil(axes.extent(other), found->second), uint64_t(mostSamples)));
      samples *= counts.back();
    }
  const int64_t extent = axes.extent(axis);
  double walked = 0;
  for (int64_t sample = 0; sample < samples; ++sample) {
    int64_t rest = sample;
    for (auto [part, count] : llvm::zip_equal(parts, counts)) {
      // The one in the middle of those that it stands for.
      const int64_t programs = llvm::divideCeil(axes.extent(part.axis), part.extent);
      part.begin = (2 * (rest % count) + 1) * programs / (2 * count) * part.extent;
      rest /= count;
    }
    int64_t low = 0, high = extent;
    for (const Bound &bound : bounds) {
      const int64_t least = leastOf(bound.rest, axes, parts);
      if (bound.isLow)
        low = std::max(low, least);
      else
        high = std::min(high, 1 - least);
    }
    low -= low % block;
    if (low < high)
      walked += static_cast<double>(std::min<int64_t>(llvm::alignTo(high - low, block), extent - low));
  }
  return walked / static_cast<double>(samples * extent);
}
