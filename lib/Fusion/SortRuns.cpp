//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "FirstElements.h"
#include "Machine.h"

#include "zyx/Dialect/Graph/Analysis/FirstElements.h"
#include "zyx/Fusion/Passes.h"

#include "mlir/IR/Builders.h"

#include <cmath>
#include <limits>

namespace zyx::fusion {
#define GEN_PASS_DEF_SORTRUNSPASS
#include "zyx/Fusion/Passes.h.inc"
} // namespace zyx::fusion

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::target::TargetInfo;

/// What stands behind all elements: a NaN, or a number that none comes after.
static TypedAttr getLast(Type element, bool descending) {
  if (auto format = dyn_cast<FloatType>(element))
    return FloatAttr::get(element, APFloat::getNaN(format.getFloatSemantics()));
  auto type = cast<IntegerType>(element);
  const unsigned width = type.getWidth();
  const bool isUnsigned = type.isUnsigned() || width == 1;
  if (isUnsigned)
    return IntegerAttr::get(type, descending ? APInt::getMinValue(width) : APInt::getMaxValue(width));
  return IntegerAttr::get(type, descending ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
}

namespace {

/// A workgroup sorts as many in shared memory.
constexpr int64_t elementsOfRun = 2048;

/// Rewrites one sort along the last dimension as sorts of runs and one of what these give.
class RunSorter {
public:
  RunSorter(SortOp sort, int64_t runElements)
      : sort(sort), builder(sort), loc(sort.getLoc()), type(cast<RankedTensorType>(sort.getX().getType())),
        element(type.getElementType()), number(cast<RankedTensorType>(sort.getType()).getElementType()),
        dim(type.getRank() - 1), runElements(runElements), runs(llvm::divideCeil(type.getDimSize(dim), runElements)),
        isOfIndices(sort.getKind() == SortKind::Indices) {}

  /// All elements: a second sort merges the runs.
  void apply() {
    const Sorted sorted = sortRunsOf(runElements);
    SortOp merged = sortOf(sort.getKind(), reshape(sorted.values, {runs * runElements}), dim);
    merged->setAttr(runsAttrName, builder.getI64IntegerAttr(runs));
    Value result = isOfIndices ? pick(sorted.places, merged) : merged.getResult();
    zyx::fusion::giveFirst(sort, resize(result, type.getDimSize(dim), getFill()));
  }

  /// `first`: how many elements of a row, and of each run, anybody reads. Gives the sort of what the runs give.
  SortOp applyFirst(int64_t first) {
    const int64_t kept = std::min(first, runElements);
    Sorted sorted = sortRunsOf(kept);
    auto merged = sortOf(sort.getKind(), reshape(sorted.values, {runs * kept}), dim);
    Value result = resize(merged, first, getFill());
    zyx::fusion::giveFirst(sort, isOfIndices ? pick(sorted.places, result) : result);
    return merged;
  }

private:
  /// Runs of elements, and where these were in the row if that is asked for.
  struct Sorted {
    Value values, places;
  };

  /// As many elements of each sorted run as are kept.
  Sorted sortRunsOf(int64_t kept) {
    Value x = resize(sort.getX(), runs * runElements, getLast(element, sort.getDescending()));
    x = reshape(x, {runs, runElements});
    Sorted sorted;
    sorted.values = resize(sortOf(SortKind::Values, x, dim + 1), kept, getLast(element, sort.getDescending()));
    if (isOfIndices)
      sorted.places = addBegins(resize(sortOf(SortKind::Indices, x, dim + 1), kept, getFill()), runElements);
    return sorted;
  }

  /// Numbers in a run as numbers in all of them, of `length` elements each.
  Value addBegins(Value own, int64_t length) { return addMultiples(own, dim, length); }
  /// Numbers, and to each the multiple of `length` that its place along a dimension is.
  Value addMultiples(Value own, int64_t along, int64_t length) {
    auto places = cast<RankedTensorType>(own.getType());
    Value run = IotaOp::create(builder, loc, places, along);
    auto step = DenseElementsAttr::get(places, Attribute(builder.getIntegerAttr(number, length)));
    run = BinaryOp::create(builder, loc, BinaryKind::Mul, run, ConstantOp::create(builder, loc, places, step));
    return BinaryOp::create(builder, loc, BinaryKind::Add, own, run);
  }

  /// The places of each row that stand where `at` says, which counts the row's own in row-major order.
  Value pick(Value places, Value at) {
    auto all = cast<RankedTensorType>(places.getType()), wanted = cast<RankedTensorType>(at.getType());
    const int64_t numRows = type.getNumElements() / type.getDimSize(dim), each = all.getNumElements() / numRows;
    if (numRows != 1) {
      auto byRow = wanted.clone(ArrayRef<int64_t>({numRows, wanted.getNumElements() / numRows}));
      at = ReshapeOp::create(builder, loc, byRow, at);
      at = addMultiples(at, 0, each);
    }
    Value flat = ReshapeOp::create(builder, loc, all.clone(ArrayRef<int64_t>(all.getNumElements())), places);
    Value picked = GatherOp::create(builder, loc, cast<RankedTensorType>(at.getType()), flat, at, 0);
    return numRows == 1 ? picked : ReshapeOp::create(builder, loc, wanted, picked).getResult();
  }

  TypedAttr getFill() {
    return isOfIndices ? TypedAttr(builder.getIntegerAttr(number, 0)) : getLast(element, sort.getDescending());
  }
  /// The first elements of the last dimension, or all with `fill` behind them.
  Value resize(Value x, int64_t extent, TypedAttr fill) {
    auto from = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> none(from.getRank(), 0), high(none), shape(from.getShape());
    high.back() = extent - shape.back();
    shape.back() = extent;
    if (high.back() == 0)
      return x;
    auto scalar = RankedTensorType::get({}, from.getElementType());
    Value rest = ConstantOp::create(builder, loc, scalar, DenseElementsAttr::get(scalar, Attribute(fill)));
    return PadOp::create(builder, loc, from.clone(shape), x, rest, none, high, none);
  }
  /// The dimensions before the row's, and then others.
  Value reshape(Value x, ArrayRef<int64_t> last) {
    SmallVector<int64_t> shape(type.getShape().drop_back());
    llvm::append_range(shape, last);
    return ReshapeOp::create(builder, loc, cast<RankedTensorType>(x.getType()).clone(shape), x);
  }
  SortOp sortOf(SortKind kind, Value of, int64_t along) {
    auto result = cast<RankedTensorType>(of.getType()).clone(kind == SortKind::Values ? element : number);
    return SortOp::create(builder, loc, result, kind, of, along, sort.getDescending());
  }

  SortOp sort;
  OpBuilder builder;
  Location loc;
  RankedTensorType type;
  Type element, number;
  int64_t dim, runElements, runs;
  bool isOfIndices;
};

} // namespace

/// How long runs are: without padding, if about as many divide a row.
static int64_t findDivisor(int64_t extent, int64_t wanted) {
  for (int64_t more = 0; more < std::min(wanted, elementsOfRun) / 2; ++more)
    for (int64_t run : {wanted + more, wanted - more})
      if (extent % run == 0)
        return run;
  return wanted;
}

namespace {

/// Whether, and in which runs, a sort is to go in steps.
class RunChooser {
public:
  explicit RunChooser(const TargetInfo &machine) : machine(machine) {}

  void apply(SortOp sort) {
    sort->removeAttr(runsAttrName);
    auto type = cast<RankedTensorType>(sort.getX().getType());
    const auto dim = static_cast<int64_t>(sort.getDim());
    const int64_t extent = type.getDimSize(dim), rows = extent == 0 ? 0 : type.getNumElements() / extent;
    if (!machine.hasSubgroups() || rows == 0 || dim + 1 != type.getRank())
      return;
    const int64_t read = zyx::fusion::countRead(sort);
    if (const int64_t run = findRunOfFirsts(sort, rows, extent, read))
      // What all runs give may be long, too.
      return apply(RunSorter(sort, run).applyFirst(read));
    if (!areFew(read, extent))
      if (const int64_t run = findRunOfAll(rows, extent, type.getElementTypeBitWidth()))
        RunSorter(sort, run).apply();
  }

private:
  /// First elements of which a kernel finds fewer than it would sort.
  static bool areFew(int64_t read, int64_t extent) {
    constexpr int64_t most = 512, share = 8;
    return read <= most && read * share <= extent;
  }

  /// How long runs are into which rows fall that are sorted as a whole; 0 where a workgroup for each row takes less, or
  /// a cluster.
  int64_t findRunOfAll(int64_t rows, int64_t extent, int64_t width) const {
    constexpr int64_t fewestRuns = 4;
    const int64_t cores = machine.cores, longRuns = llvm::divideCeilSigned(extent, elementsOfRun);
    if (longRuns < fewestRuns)
      return 0;
    // Each element looks for its place in all other runs.
    if (longRuns < fewestRunsOfTiles)
      return rows * longRuns <= 2 * cores ? elementsOfRun : 0;
    // A workgroup for each row keeps half of the machine busy, or clusters do, whose shared memory has room for a row.
    const auto &simt = machine.simt;
    const int64_t wordBytes = width <= 32 ? 8 : 12;
    const bool hasCluster =
        width <= 32 && extent <= countOfCluster(simt.clusterSize, simt.subgroupSize, simt.sharedBytes);
    if (rows > cores / 2 || (hasCluster && rows * longRuns > 2 * cores))
      return 0;
    const int64_t mostRuns = threadsOfRunTiles(wordBytes, simt.subgroupSize, simt.sharedBytes, simt.workgroupThreads);
    // A run for each core, as far as these are neither very short nor more than threads are.
    constexpr int64_t shortest = 1024, longest = 4096;
    auto share =
        static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(llvm::divideCeilSigned(rows * extent, cores))));
    for (share = std::clamp(share, shortest, longest); share <= longest; share *= 2)
      if (const int64_t run = findDivisor(extent, share); llvm::divideCeilSigned(extent, run) <= mostRuns)
        return run;
    return 0;
  }

  /// How long runs are of which the first elements are to be found first; 0 where that pays not. Each run gives as many
  /// as are read: together they are to be far fewer than the row has.
  int64_t findRunOfFirsts(SortOp sort, int64_t rows, int64_t extent, int64_t read) const {
    constexpr int64_t fewer = 4, fewRows = 32, fewestRuns = 12, fewestOfMany = 4, mostOfRun = 4096;
    const auto wanted =
        std::max(elementsOfRun, static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(fewer * read))));
    if (read == 0 || wanted > mostOfRun || llvm::divideCeilSigned(extent, wanted) * read * fewer > extent)
      return 0;
    const auto &simt = machine.simt;
    const FirstThreads alone(extent, read, simt.subgroupSize, simt.sharedBytes, simt.workgroupThreads);
    const bool isOnePass =
        getElementTypeOrSelf(sort.getX().getType()).getIntOrFloatBitWidth() <= 32 && alone.isEnough();
    if (isOnePass) {
      // One pass over a row leaves a machine idle where rows are few.
      if (rows > fewRows || extent < fewestRuns * elementsOfRun)
        return 0;
    } else if (extent < fewestOfMany * wanted) {
      return 0;
    } else if (!areFew(read, extent) && rows * llvm::divideCeilSigned(extent, elementsOfRun) <= 2 * machine.cores) {
      // Runs are merged by all.
      return 0;
    }
    return findDivisor(extent, wanted);
  }

  const TargetInfo &machine;
};

} // namespace

static void sortRuns(Block &block, const TargetInfo &machine) {
  for (auto sort : llvm::make_early_inc_range(block.getOps<SortOp>()))
    RunChooser(machine).apply(sort);
}

namespace {

struct SortRuns : zyx::fusion::impl::SortRunsPassBase<SortRuns> {
  void runOnOperation() override {
    const TargetInfo &machine = zyx::fusion::getMachine(getOperation());
    if (failed(zyx::fusion::rewriteBlocks(getOperation(), [&](Block &block) { sortRuns(block, machine); })))
      signalPassFailure();
  }
};

} // namespace
