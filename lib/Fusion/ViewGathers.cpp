//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Gathers that repeat each row are views, and scatters at the same positions are sums.
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "LoopValues.h"
#include "Machine.h"
#include "Tables.h"

#include "zyx/Fusion/Passes.h"

namespace zyx::fusion {
#define GEN_PASS_DEF_VIEWGATHERSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::fusion::Table;
using zyx::fusion::TableEvaluator;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static Value makeZero(OpBuilder &builder, Location loc, Type element) {
  return zyx::fusion::makeZeros(builder, loc, RankedTensorType::get({}, element));
}

namespace {

/// Positions at which `count` rows stand from `first` on, each of them `times` times.
struct Repeats {
  int64_t first, count, times;
};

/// What a value becomes where one of its dimensions is taken apart, or cut.
class Reshaper {
public:
  Reshaper(Operation *op, int64_t dim, const Repeats &repeats)
      : builder(op), loc(op->getLoc()), dim(dim), repeats(repeats) {}

  /// Sums that stand in the place of scatters into zeros, by what is left of these.
  using Sums = llvm::DenseMap<Value, ReduceOp>;

  /// Rows of the operand of a gather, each as often as it is gathered.
  Value repeat(Value x) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    const int64_t rest = shape[dim] - repeats.first - repeats.count;
    if (repeats.first != 0 || rest != 0)
      x = pad(x, -repeats.first, -rest);
    shape[dim] = repeats.count;
    shape.insert(shape.begin() + dim + 1, 1);
    const RankedTensorType type = typeOf(x);
    x = ReshapeOp::create(builder, loc, type.clone(shape), x);
    shape[dim + 1] = repeats.times;
    x = ExpandOp::create(builder, loc, type.clone(shape), x);
    shape.erase(shape.begin() + dim + 1);
    shape[dim] = repeats.count * repeats.times;
    return ReshapeOp::create(builder, loc, type.clone(shape), x);
  }

  /// What is added to each row of a scatter's operand.
  Value add(ScatterOp scatter, Sums &sums) {
    Value x = scatter.getX();
    const int64_t rest = typeOf(x).getDimSize(dim) - repeats.first - repeats.count;
    ReduceOp reduced = reduce(scatter.getUpdates(), sums);
    const bool isWhole = repeats.first == 0 && rest == 0;
    // A zero is added to as well, and gives +0 for two of -0: a sum of the graph may lose that sign.
    Value sum =
        BinaryOp::create(builder, loc, BinaryKind::Add, x, isWhole ? reduced : pad(reduced, repeats.first, rest));
    if (isWhole && zyx::fusion::isZero(x))
      sums[sum] = reduced;
    return sum;
  }

private:
  Value pad(Value x, int64_t low, int64_t high) {
    SmallVector<int64_t> shape(typeOf(x).getShape()), lows(shape.size(), 0), highs(lows), interior(lows);
    shape[dim] += low + high;
    lows[dim] = low;
    highs[dim] = high;
    return PadOp::create(builder, loc, typeOf(x).clone(shape), x, makeZero(builder, loc, typeOf(x).getElementType()),
                         lows, highs, interior);
  }

  /// Sums of the rows that stand side by side. Of what is such a sum already all terms are taken at once, in one
  /// kernel: a zero in between makes no difference, as the last sum is added to something.
  ReduceOp reduce(Value x, const Sums &sums) {
    ReduceOp inner = x.hasOneUse() ? sums.lookup(x) : ReduceOp();
    if (!inner) {
      SmallVector<int64_t> shape(typeOf(x).getShape());
      split(shape, dim);
      return reduceSplit(x, shape, {dim + 1});
    }
    int64_t kept = dim;
    for (int64_t each : inner.getDims())
      if (each <= kept)
        ++kept;
    SmallVector<int64_t> shape(typeOf(inner.getX()).getShape()), all{kept + 1};
    split(shape, kept);
    for (int64_t each : inner.getDims())
      all.push_back(each > kept ? each + 1 : each);
    llvm::sort(all);
    return reduceSplit(inner.getX(), shape, all);
  }
  void split(SmallVectorImpl<int64_t> &shape, int64_t along) const {
    shape[along] = repeats.count;
    shape.insert(shape.begin() + along + 1, repeats.times);
  }
  ReduceOp reduceSplit(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    const RankedTensorType type = typeOf(x);
    if (auto before = x.getDefiningOp<ReshapeOp>())
      x = before.getX();
    x = ReshapeOp::create(builder, loc, type.clone(shape), x);
    SmallVector<int64_t> kept;
    for (int64_t each = 0; each < static_cast<int64_t>(shape.size()); ++each)
      if (!llvm::is_contained(dims, each))
        kept.push_back(shape[each]);
    return ReduceOp::create(builder, loc, type.clone(kept), ReduceKind::Add, x, dims);
  }

  OpBuilder builder;
  Location loc;
  int64_t dim;
  Repeats repeats;
};

} // namespace

/// None where positions are not known, where some are outside of the rows, or where each row stands once.
static std::optional<Repeats> findRepeats(Value indices, int64_t rows, TableEvaluator &evaluator) {
  const Table *table = typeOf(indices).getRank() == 1 ? evaluator.get(indices) : nullptr;
  if (!table || table->integers.empty())
    return std::nullopt;
  ArrayRef<APInt> places = table->integers;
  auto isAt = [&](const APInt &place, int64_t row) {
    return !place.isNegative() && place == static_cast<uint64_t>(row);
  };
  if (places.front().isNegative() || places.front().sge(rows))
    return std::nullopt;
  const int64_t first = places.front().getSExtValue();
  int64_t times = 0;
  for (const APInt &place : places) {
    if (!isAt(place, first))
      break;
    ++times;
  }
  const auto all = static_cast<int64_t>(places.size());
  if (times < 2 || all % times != 0 || first + all / times > rows)
    return std::nullopt;
  for (auto [at, place] : llvm::enumerate(places))
    if (!isAt(place, first + static_cast<int64_t>(at) / times))
      return std::nullopt;
  return Repeats{first, all / times, times};
}

static void viewGathers(Block &block) {
  TableEvaluator evaluator;
  Reshaper::Sums sums;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto gather = dyn_cast<GatherOp>(op)) {
      const auto dim = static_cast<int64_t>(gather.getDim());
      const int64_t rows = typeOf(gather.getX()).getDimSize(dim);
      if (std::optional<Repeats> repeats = findRepeats(gather.getIndices(), rows, evaluator))
        gather.replaceAllUsesWith(Reshaper(gather, dim, *repeats).repeat(gather.getX()));
      continue;
    }
    // Few bits are rounded behind each update, and not behind each term of a sum.
    constexpr unsigned fewestBits = 32;
    auto scatter = dyn_cast<ScatterOp>(op);
    if (!scatter || scatter.getKind() != ScatterKind::Add || typeOf(scatter).getElementTypeBitWidth() < fewestBits)
      continue;
    const auto dim = static_cast<int64_t>(scatter.getDim());
    const int64_t rows = typeOf(scatter).getDimSize(dim);
    std::optional<Repeats> repeats = findRepeats(scatter.getIndices(), rows, evaluator);
    // A scatter in place does not touch rows without updates, and none of them becomes +0 where it was -0.
    if (!repeats || (repeats->count != rows && !zyx::fusion::isZero(scatter.getX())))
      continue;
    scatter.replaceAllUsesWith(Reshaper(scatter, dim, *repeats).add(scatter, sums));
  }
  zyx::fusion::eraseUnused(block);
}

namespace {

struct ViewGathers : zyx::fusion::impl::ViewGathersPassBase<ViewGathers> {
  void runOnOperation() override {
    if (!zyx::fusion::getMachine(getOperation()).hasSubgroups())
      return;
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), viewGathers)))
      signalPassFailure();
  }
};

} // namespace
