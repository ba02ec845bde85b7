//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Contractions over windows without the padding that most of their elements are.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Machine.h"
#include "WindowDims.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Fusion/Passes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_LEAVEOUTPADDINGPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
namespace fits = zyx::target::fits::padding;

namespace {

/// Estimates are of f32.
constexpr int64_t elementBytes = 4;
/// Pieces along a dimension, at most.
constexpr size_t mostPieces = 5;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

struct Places {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool isEmpty() const { return begin >= end; }
  bool operator==(const Places &) const = default;
};

/// The least range that has both.
Places hull(Places a, Places b) {
  if (a.isEmpty() || b.isEmpty())
    return a.isEmpty() ? b : a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// Some places along a dimension that is kept, and those of the contracted one where not all of that is padding.
struct Piece {
  Places kept, contracted;
  int64_t count() const { return kept.size() * contracted.size(); }
};

/// A window's dimension of a contraction: of positions and of elements, one is kept and the other contracted.
struct Cut {
  /// Dimensions of the product.
  int64_t kept, contracted;
  SmallVector<Piece> pieces;
  /// Whether pieces are ranges of what is contracted, so that their results overlap and are added up. Ranges of
  /// positions fill vectors worse, the fewer positions they have: here each piece has nearly all of them.
  bool isSummed = false;

  /// What sees padding alone is zero.
  int64_t countKernels() const {
    return llvm::count_if(pieces,
                          [](const Piece &piece) { return !piece.contracted.isEmpty() && !piece.kept.isEmpty(); });
  }
};

class PaddingCutter {
public:
  PaddingCutter(ReduceOp sum, const zyx::target::TargetInfo &machine)
      : sum(sum), machine(machine), builder(sum), loc(sum.getLoc()) {}
  void run();

private:
  void findCuts(Value factor, Value other);
  SmallVector<Cut> chooseCuts();
  double estimateJoin(ArrayRef<Cut> own);
  double estimate(ArrayRef<Cut> own, SmallVectorImpl<const Piece *> &chosen);
  Value join(ArrayRef<Cut> rest, Value a, Value b);
  Value joinSummed(ArrayRef<Cut> rest, Value a, Value b);
  int64_t resultDim(const Cut &cut) {
    return cut.kept - llvm::count_if(sum.getDims(), [&](int64_t gone) { return gone < cut.kept; });
  }
  Value take(Value value, int64_t dim, Places range);
  Value takeOfWindow(WindowOp op, int64_t dim, Places range);
  Value takeOfPad(Value x, Value fill, ArrayRef<int64_t> low, ArrayRef<int64_t> high);
  Value zeros(RankedTensorType type) {
    return ConstantOp::create(builder, loc, type,
                              DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
  }

  /// Of so many neighbours, how many are multiplied at once: a vector, or one or two registers of the matrix unit.
  int64_t tileOf(int64_t neighbours) const {
    if (!unit)
      return machine.lanes(elementBytes);
    return neighbours <= unit->n ? unit->n : 2 * unit->n;
  }
  /// Products that a core makes in so many cycles.
  double productsIn(double cycles) const {
    return cycles * fits::productsPerLane * static_cast<double>(machine.lanes(elementBytes));
  }

  ReduceOp sum;
  const zyx::target::TargetInfo &machine;
  OpBuilder builder;
  Location loc;
  /// What multiplies narrow factors; null where these are not narrow, or there is none.
  const zyx::target::MatrixInstruction *unit = nullptr;
  SmallVector<Cut> cuts;
  /// Dimensions of the product that count positions which lie next to each other, and along which the factor without
  /// windows differs.
  SmallVector<int64_t> neighbours;
  llvm::SmallBitVector others;
};

} // namespace

/// For each place that is kept the contracted places that show elements, as neighbours that have the same ones.
static SmallVector<Piece> findPieces(int64_t kept, int64_t contracted, int64_t keptStep, int64_t step, int64_t low,
                                     int64_t extent) {
  SmallVector<Piece> pieces;
  for (int64_t place = 0; place < kept; ++place) {
    // low <= place * keptStep + i * step < low + extent
    const int64_t first = low - place * keptStep, last = first + extent;
    Places range{first <= 0 ? 0 : llvm::divideCeilSigned(first, step),
                 last <= 0 ? 0 : std::min(contracted, llvm::divideCeilSigned(last, step))};
    if (range.isEmpty())
      range = {};
    if (!pieces.empty() && pieces.back().contracted == range)
      ++pieces.back().kept.end;
    else
      pieces.push_back({{place, place + 1}, range});
  }
  // Of too many those that lose least are one.
  while (pieces.size() > mostPieces) {
    size_t best = 0;
    int64_t least = std::numeric_limits<int64_t>::max();
    auto join = [&](size_t i) {
      const Piece &a = pieces[i], &b = pieces[i + 1];
      return Piece{{a.kept.begin, b.kept.end}, hull(a.contracted, b.contracted)};
    };
    for (size_t i = 0; i + 1 < pieces.size(); ++i)
      if (const int64_t lost = join(i).count() - pieces[i].count() - pieces[i + 1].count(); lost < least)
        std::tie(best, least) = std::pair(i, lost);
    pieces[best] = join(best);
    pieces.erase(pieces.begin() + static_cast<int64_t>(best) + 1);
  }
  return pieces;
}

/// The dimensions of the windows that a factor shows, and what is known of the other one.
void PaddingCutter::findCuts(Value factor, Value other) {
  SmallVector<Operation *> views;
  Operation *op = factor.getDefiningOp();
  for (; isa_and_nonnull<CastOp, ExpandOp, PermuteOp, ReshapeOp>(op); op = op->getOperand(0).getDefiningOp())
    views.push_back(op);
  auto window = dyn_cast_or_null<WindowOp>(op);
  auto pad = window ? window.getX().getDefiningOp<PadOp>() : PadOp();
  if (!pad || !zyx::fusion::isZeroPad(pad))
    return;
  auto inProduct = [&](int64_t dim) -> std::optional<int64_t> {
    std::optional<int64_t> found = dim;
    for (Operation *view : llvm::reverse(views))
      if (found)
        found = zyx::fusion::findResultDim(view, *found);
    return found;
  };
  const auto rank = typeOf(window.getX()).getRank();
  neighbours.clear();
  others = getRepeatedDims(other).flip();
  // Of images whose channels come last in memory these are the neighbours.
  auto permute = pad.getX().getDefiningOp<PermuteOp>();
  const bool areNeighbours = !permute || llvm::is_contained(window.getDims(), llvm::find(permute.getOrder(), rank - 1) -
                                                                                  permute.getOrder().begin());
  for (auto [i, dim] : llvm::enumerate(window.getDims())) {
    if (auto positions = inProduct(dim); positions && areNeighbours && !llvm::is_contained(sum.getDims(), *positions))
      neighbours.push_back(*positions);
    const int64_t low = pad.getLow()[dim], high = pad.getHigh()[dim];
    if ((low <= 0 && high <= 0) || low < 0)
      continue;
    const std::optional<int64_t> positions = inProduct(dim), elements = inProduct(rank + static_cast<int64_t>(i));
    if (!positions || !elements)
      continue;
    const bool sumsElements = llvm::is_contained(sum.getDims(), *elements);
    if (sumsElements == llvm::is_contained(sum.getDims(), *positions))
      continue;
    const int64_t stride = window.getStride()[i], dilation = window.getDilation()[i];
    Cut cut{sumsElements ? *positions : *elements, sumsElements ? *elements : *positions, {}};
    auto type = typeOf(sum.getX());
    const int64_t kept = type.getDimSize(cut.kept), contracted = type.getDimSize(cut.contracted);
    const int64_t extent = typeOf(pad.getX()).getDimSize(dim);
    auto add = [&](Cut cut) {
      int64_t count = 0;
      for (const Piece &piece : cut.pieces)
        count += piece.count();
      if (count < kept * contracted)
        cuts.push_back(std::move(cut));
    };
    cut.pieces =
        findPieces(kept, contracted, sumsElements ? stride : dilation, sumsElements ? dilation : stride, low, extent);
    add(cut);
    // Only of the outermost dimension: the elements beside each other in memory stay together.
    if (!sumsElements || !areNeighbours || i != 0 || window.getDims().size() < 2 || stride != 1 ||
        zyx::fusion::isRounded(sum))
      continue;
    cut.isSummed = true;
    cut.pieces = findPieces(contracted, kept, dilation, stride, low, extent);
    for (Piece &piece : cut.pieces)
      std::swap(piece.kept, piece.contracted);
    add(std::move(cut));
  }
}

/// What the pieces of some cuts take, in products, where one piece is chosen of each of the first ones.
double PaddingCutter::estimate(ArrayRef<Cut> own, SmallVectorImpl<const Piece *> &chosen) {
  if (chosen.size() < own.size()) {
    double all = 0;
    for (const Piece &piece : own[chosen.size()].pieces) {
      if (piece.contracted.isEmpty() || piece.kept.isEmpty())
        continue;
      chosen.push_back(&piece);
      all += estimate(own, chosen);
      chosen.pop_back();
    }
    return all;
  }
  SmallVector<int64_t> shape(typeOf(sum.getX()).getShape());
  for (auto [cut, piece] : llvm::zip_equal(own, chosen)) {
    shape[cut.kept] = piece->kept.size();
    shape[cut.contracted] = piece->contracted.size();
  }
  double products = 1, read = 1;
  int64_t together = 1;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    products *= static_cast<double>(extent);
    if (others.test(dim))
      read *= static_cast<double>(extent);
    if (llvm::is_contained(neighbours, static_cast<int64_t>(dim)))
      together *= extent;
  }
  // A single position leaves its vectors to the results of other filters.
  if (together > 1)
    products *= static_cast<double>(llvm::alignTo(together, tileOf(together))) / static_cast<double>(together);
  // Each piece reads the factor without windows again: out of a cache, or from memory where that is too small.
  const bool isNear = read * elementBytes <= static_cast<double>(machine.memory.l2Bytes);
  const int64_t bytesPerCycle = isNear ? machine.costs.cacheBytesPerCycle : machine.costs.memoryBytesPerCycle;
  return products + productsIn(read * fits::readShare * elementBytes / static_cast<double>(bytesPerCycle));
}

/// What it takes to launch the pieces and to put their results together, in products. Each result is moved once, and
/// once more for each further piece that adds to it.
double PaddingCutter::estimateJoin(ArrayRef<Cut> own) {
  if (llvm::none_of(own, [](const Cut &cut) { return cut.pieces.size() > 1; }))
    return 0;
  auto moved = static_cast<double>(typeOf(sum.getResult()).getNumElements());
  double pieces = 1;
  for (const Cut &cut : own) {
    pieces *= static_cast<double>(cut.countKernels());
    if (cut.isSummed)
      moved *= static_cast<double>(cut.countKernels());
  }
  return productsIn(pieces * static_cast<double>(machine.costs.launchCycles) + moved * fits::joinCycles);
}

/// Those that take least by an estimate in products; none where that is not clearly less than to multiply zeros.
SmallVector<Cut> PaddingCutter::chooseCuts() {
  SmallVector<const Piece *> none;
  double least = estimate({}, none) * fits::clearlyLess;
  SmallVector<Cut> best;
  for (unsigned chosen = 1; chosen < 1U << cuts.size(); ++chosen) {
    SmallVector<Cut> own;
    for (auto [i, cut] : llvm::enumerate(cuts))
      if (chosen >> i & 1)
        own.push_back(cut);
    // What is added up is so along one dimension: there are many pieces of several, and each is read and written whole.
    if (own.size() > 1 && llvm::any_of(own, [](const Cut &cut) { return cut.isSummed; }))
      continue;
    const double cost = estimate(own, none) + estimateJoin(own);
    if (cost < least) {
      least = cost;
      best = std::move(own);
    }
  }
  return best;
}

/// Elements of what is padded and sliced at once.
Value PaddingCutter::takeOfPad(Value x, Value fill, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  auto isZero = [](int64_t number) { return number == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  const SmallVector<int64_t> none(low.size(), 0);
  return PadOp::create(builder, loc, x, fill, low, high, none);
}

Value PaddingCutter::takeOfWindow(WindowOp op, int64_t dim, Places range) {
  const auto rank = typeOf(op.getX()).getRank();
  SmallVector<int64_t> size(op.getSize());
  Value x = op.getX();
  auto spanOf = [&](size_t i, Places positions, Places elements) {
    return Places{positions.begin * op.getStride()[i] + elements.begin * op.getDilation()[i],
                  (positions.end - 1) * op.getStride()[i] + (elements.end - 1) * op.getDilation()[i] + 1};
  };
  if (dim >= rank) {
    const size_t i = dim - rank;
    const int64_t at = op.getDims()[i];
    x = take(x, at, spanOf(i, {0, typeOf(op.getResult()).getDimSize(at)}, range));
    size[i] = range.size();
  } else if (const auto *found = llvm::find(op.getDims(), dim); found != op.getDims().end()) {
    const size_t i = found - op.getDims().begin();
    x = take(x, dim, spanOf(i, range, {0, size[i]}));
  } else {
    x = take(x, dim, range);
  }
  return WindowOp::create(builder, loc, x, op.getDims(), size, op.getStride(), op.getDilation());
}

/// A range along a dimension, taken of the views' operands rather than of what they show.
Value PaddingCutter::take(Value value, int64_t dim, Places range) {
  if (range == Places{0, typeOf(value).getDimSize(dim)})
    return value;
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] = range.size();
  const RankedTensorType type = typeOf(value).clone(shape);
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op))
    return CastOp::create(builder, loc, type, take(cast.getX(), dim, range));
  if (auto expand = dyn_cast_or_null<ExpandOp>(op)) {
    const bool isRepeated = typeOf(expand.getX()).getDimSize(dim) != typeOf(value).getDimSize(dim);
    return ExpandOp::create(builder, loc, type, isRepeated ? expand.getX() : take(expand.getX(), dim, range));
  }
  if (auto permute = dyn_cast_or_null<PermuteOp>(op))
    return PermuteOp::create(builder, loc, type, take(permute.getX(), permute.getOrder()[dim], range),
                             permute.getOrder());
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    if (auto found = zyx::fusion::findDim(typeOf(value).getShape(), dim, typeOf(reshape.getX()).getShape()))
      return ReshapeOp::create(builder, loc, type, take(reshape.getX(), *found, range));
  if (auto window = dyn_cast_or_null<WindowOp>(op))
    return takeOfWindow(window, dim, range);
  SmallVector<int64_t> low(shape.size(), 0), high(shape.size(), 0);
  if (auto flip = dyn_cast_or_null<FlipOp>(op)) {
    const int64_t extent = typeOf(value).getDimSize(dim);
    const Places own =
        llvm::is_contained(flip.getDims(), dim) ? Places{extent - range.end, extent - range.begin} : range;
    return FlipOp::create(builder, loc, type, take(flip.getX(), dim, own), flip.getDims());
  }
  low[dim] = -range.begin;
  high[dim] = range.end - typeOf(value).getDimSize(dim);
  if (auto pad = dyn_cast_or_null<PadOp>(op); pad && pad.getInterior()[dim] == 0) {
    bool isPlain = true;
    for (auto [d, count] : llvm::enumerate(pad.getInterior())) {
      low[d] += pad.getLow()[d];
      high[d] += pad.getHigh()[d];
      isPlain &= count == 0;
    }
    if (isPlain)
      return takeOfPad(pad.getX(), pad.getFill(), low, high);
    std::fill(low.begin(), low.end(), 0);
    std::fill(high.begin(), high.end(), 0);
    low[dim] = -range.begin;
    high[dim] = range.end - typeOf(value).getDimSize(dim);
  }
  return takeOfPad(value, zeros(type.clone(ArrayRef<int64_t>())), low, high);
}

/// The sum of a product of these factors, put together from what the cuts leave.
Value PaddingCutter::join(ArrayRef<Cut> rest, Value a, Value b) {
  if (rest.empty()) {
    Value product = BinaryOp::create(builder, loc, BinaryKind::Mul, a, b);
    SmallVector<int64_t> shape;
    for (auto [dim, extent] : llvm::enumerate(typeOf(product).getShape()))
      if (!llvm::is_contained(sum.getDims(), static_cast<int64_t>(dim)))
        shape.push_back(extent);
    return ReduceOp::create(builder, loc, typeOf(sum.getResult()).clone(shape), sum.getKind(), product, sum.getDims());
  }
  const Cut &cut = rest.front();
  if (cut.isSummed)
    return joinSummed(rest, a, b);
  SmallVector<Value> parts;
  // Places without any element are as long as the parts beside them.
  SmallVector<std::pair<size_t, int64_t>> empty;
  const int64_t dim = resultDim(cut);
  Value known;
  for (const Piece &piece : cut.pieces) {
    if (piece.contracted.isEmpty()) {
      empty.push_back({parts.size(), piece.kept.size()});
      parts.push_back({});
      continue;
    }
    Value first = take(take(a, cut.kept, piece.kept), cut.contracted, piece.contracted);
    Value second = take(take(b, cut.kept, piece.kept), cut.contracted, piece.contracted);
    known = parts.emplace_back(join(rest.drop_front(), first, second));
  }
  for (auto [at, count] : empty) {
    SmallVector<int64_t> shape(typeOf(known).getShape());
    shape[dim] = count;
    parts[at] = zeros(typeOf(known).clone(shape));
  }
  return parts.size() == 1 ? parts.front() : ConcatOp::create(builder, loc, parts, dim).getResult();
}

/// The same of pieces that overlap: each has zeros where it adds nothing.
Value PaddingCutter::joinSummed(ArrayRef<Cut> rest, Value a, Value b) {
  const Cut &cut = rest.front();
  const int64_t dim = resultDim(cut), extent = typeOf(a).getDimSize(cut.kept);
  Value all;
  for (const Piece &piece : cut.pieces) {
    if (piece.kept.isEmpty() || piece.contracted.isEmpty())
      continue;
    Value first = take(take(a, cut.kept, piece.kept), cut.contracted, piece.contracted);
    Value second = take(take(b, cut.kept, piece.kept), cut.contracted, piece.contracted);
    Value part = join(rest.drop_front(), first, second);
    const RankedTensorType type = typeOf(part);
    SmallVector<int64_t> low(type.getRank(), 0), high(type.getRank(), 0);
    low[dim] = piece.kept.begin;
    high[dim] = extent - piece.kept.end;
    part = takeOfPad(part, zeros(type.clone(ArrayRef<int64_t>())), low, high);
    all = all ? BinaryOp::create(builder, loc, BinaryKind::Add, all, part).getResult() : part;
  }
  return all ? all : zeros(typeOf(sum.getResult()));
}

void PaddingCutter::run() {
  auto product = sum.getX().getDefiningOp<BinaryOp>();
  if (typeOf(sum.getX()).getNumElements() == 0 || !matchContraction(sum))
    return;
  if (zyx::fusion::getFactorType(product.getA()).isBF16() && zyx::fusion::getFactorType(product.getB()).isBF16())
    unit = machine.findDot(zyx::target::MatrixType::BF16);
  findCuts(product.getA(), product.getB());
  if (cuts.empty())
    findCuts(product.getB(), product.getA());
  const SmallVector<Cut> chosen = chooseCuts();
  if (chosen.empty() || llvm::any_of(chosen, [](const Cut &cut) { return cut.countKernels() == 0; }))
    return;
  Value result = join(chosen, product.getA(), product.getB());
  sum.getResult().replaceAllUsesWith(result);
  sum.erase();
}

static void leaveOutPadding(Block &block) {
  const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(block.getParentOp());
  for (auto sum : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
    PaddingCutter(sum, machine).run();
}

namespace {

struct LeaveOutPadding : zyx::fusion::impl::LeaveOutPaddingPassBase<LeaveOutPadding> {
  void runOnOperation() override {
    // Of a machine that is not known nobody can tell.
    const zyx::target::TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (machine.hasSubgroups() || machine.costs.memoryBytesPerCycle == 0)
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), leaveOutPadding)))
      signalPassFailure();
  }
};

} // namespace
