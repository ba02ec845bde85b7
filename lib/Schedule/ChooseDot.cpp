//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseDot.h"

#include "zyx/Codegen/Cpu/BlockedDots.h"
#include "zyx/Codegen/Cpu/Panels.h"
#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Codegen/Tile/NearForm.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>
#include <tuple>

using namespace mlir;
using namespace zyx::kernel;
namespace fits = zyx::target::fits::dots;

namespace zyx::schedule {

Value narrowFactor(Value factor) {
  factor = repeatedFactor(factor);
  Operation *def = factor.getDefiningOp();
  return isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp, arith::ExtFOp>(def) ? repeatedFactor(def->getOperand(0))
                                                                             : factor;
}

namespace {

/// Rows that make it worth to pack a right factor that could be read as it lies: to copy a vector takes as long
/// as its products with sixteen rows.
constexpr int64_t enoughRows = 96;
/// Rows up to which a right factor that lies along k is read so instead of being transposed.
constexpr int64_t mostRowsAlongDepth = 36;
/// Rows from which it is read as panels all the same, where these are made once for many runs: sums along k are added
/// up by lanes, and what follows them is computed one by one.
constexpr int64_t enoughRowsOfKept = 8;
/// Longer pieces save little of what sums cost in memory, and leave room for fewer packed columns.
constexpr int64_t mostDepth = 512;
/// Pieces of a right factor that is not packed: panels of it stay in the first cache from one tile to the next.
constexpr int64_t mostDepthInPlace = 128;
/// Bytes from one row of a factor to the next up to which it is read as it lies: of rows further apart, lines
/// fall on few places of the first cache and on as many pages.
constexpr int64_t nearRows = 2048;
/// Rows of a tile up to which the left factor is read as it lies, however far apart they are: so many lines at
/// one place of the first cache stay there.
constexpr int64_t mostRowsInPlace = 8;

/// What a factor is read from.
struct Source {
  int64_t alongFirst = 0, alongSecond = 0;
  /// Those alone that lie along both axes: what lies along one, as scales of columns do, is read once for many
  /// elements.
  int64_t wholeAlongFirst = 0, wholeAlongSecond = 0;
  /// Bytes from one element to the next along the first axis.
  int64_t distance = 0;
  bool computed = false, window = false, gathered = false;
  /// Bytes that are neighbours in memory along the second axis and along the first one, of what is read as a window;
  /// and those along the second one that are few elements apart.
  int64_t runBytes = 0, acrossBytes = 0, nearBytes = 0;
  /// Loads that it is computed from, and whether the last one of them is a window that can be copied in runs.
  int64_t numLoads = 0;
  bool inRuns = false;

  bool liesAlongSecond() const {
    return wholeAlongFirst != wholeAlongSecond ? wholeAlongSecond > wholeAlongFirst : alongSecond >= alongFirst;
  }
};

int64_t bytesOf(Value tile) {
  return std::max<int64_t>(cast<RankedTensorType>(tile.getType()).getElementTypeBitWidth() / 8, 1);
}

int64_t runBytesOf(LoadOp load, Axis along, int64_t mostStep, const Axes &axes) {
  std::optional<AccessForm> form = AccessForm::compute(load.getView().getDefiningOp<ViewOp>().getMap());
  if (!form)
    return 0;
  for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult()))) {
    if (axis != along || form->dims[dim].empty())
      continue;
    form->mergeInnermost(dim);
    const AccessForm::Part &inner = form->parts[form->dims[dim].back()];
    return inner.stride >= 1 && inner.stride <= mostStep ? inner.extent * bytesOf(load.getResult()) : 0;
  }
  return 0;
}

/// Whether neighbours along one of two axes are neighbours in memory, or few elements apart: WindowPacking.cpp copies
/// such windows in runs.
bool hasRuns(LoadOp load, Axis first, Axis second, const Axes &axes) {
  constexpr int64_t shortest = 4;
  std::optional<AccessForm> form = AccessForm::compute(load.getView().getDefiningOp<ViewOp>().getMap());
  if (!form)
    return false;
  for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult()))) {
    if ((axis != first && axis != second) || form->dims[dim].empty())
      continue;
    form->mergeInnermost(dim);
    const AccessForm::Part &inner = form->parts[form->dims[dim].back()];
    if (inner.stride >= 1 && inner.stride <= mostRunStep && inner.extent >= shortest)
      return true;
  }
  return false;
}

/// Whether elements of a load repeat for neighbours along an axis, as scales of groups do: vectors have one each.
bool isRepeated(LoadOp load, Axis along, const Axes &axes) {
  constexpr int64_t fewest = 16;
  std::optional<AccessForm> form = AccessForm::compute(load.getView().getDefiningOp<ViewOp>().getMap());
  if (!form || !form->bounds.empty())
    return false;
  for (auto [dim, axis] : llvm::enumerate(axes.of(load.getResult())))
    if (axis == along && form->dims[dim].size() > 1)
      return form->parts[form->dims[dim].back()].stride == 0 && form->parts[form->dims[dim].back()].extent >= fewest;
  return false;
}

Source inspect(Value factor, Axis first, Axis second, Axis depth, const Axes &axes) {
  Source source;
  SmallVector<Value> work = {factor};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (!def || !isTile(value) || !seen.insert(def).second)
      continue;
    if (auto load = dyn_cast<LoadOp>(def)) {
      auto view = load.getView().getDefiningOp<ViewOp>();
      ++source.numLoads;
      BlockAttr block = view.getMap().front();
      source.window |= !view.getMap().isOneWholeBlock() && !isRepeated(load, depth, axes);
      source.computed |= source.window;
      if (source.window) {
        source.runBytes = runBytesOf(load, second, /*mostStep=*/1, axes);
        source.nearBytes = runBytesOf(load, second, mostRunStep, axes);
        source.acrossBytes = runBytesOf(load, first, /*mostStep=*/1, axes);
        source.inRuns = hasRuns(load, first, second, axes);
      }
      for (auto [dim, axis] : llvm::enumerate(axes.of(value))) {
        std::optional<int64_t> stride = BlockAttr::constant(block.getStrides()[dim]);
        bool unit = stride == 1;
        if (axis == first && stride)
          source.distance = std::max(source.distance, std::abs(*stride) * bytesOf(value));
        const bool isWhole = axes.contains(value, first) && axes.contains(value, second);
        source.alongFirst += axis == first && unit;
        source.alongSecond += axis == second && unit;
        source.wholeAlongFirst += axis == first && unit && isWhole;
        source.wholeAlongSecond += axis == second && unit && isWhole;
      }
      continue;
    }
    source.computed |= isElementwise(def) || isa<GatherOp>(def);
    source.gathered |= isa<GatherOp>(def);
    llvm::append_range(work, def->getOperands());
  }
  return source;
}

/// What a step of the contraction costs in all tiles of `rows` by `vectors`, in cycles of a processor with two
/// multipliers, two loads and a latency of four. Loads compete with everything else, if only for room; of a
/// wide tile fewer panels stay in a cache.
double costOf(int64_t m, int64_t across, int64_t rows, int64_t vectors) {
  auto tile = [](int64_t r, int64_t v) {
    if (r == 0 || v == 0)
      return 0.0;
    return std::max({r * v / 2.0, (r + v) / 2.0, 4.0}) + 0.04 * (r + v) + r * v * v / 400.0;
  };
  int64_t down = m / rows, right = across / vectors, lastRows = m % rows, lastVectors = across % vectors;
  return down * right * tile(rows, vectors) + right * tile(lastRows, vectors) + down * tile(rows, lastVectors) +
         tile(lastRows, lastVectors);
}

/// In rows and vectors, and what a step of the contraction costs with it.
struct RegisterTile {
  int64_t rows, vectors;
  double cost;
};

/// Tiles, the one that costs least first. Sums take three quarters of the registers at most: the rest is one row of the
/// right factor and two elements of the left one.
SmallVector<RegisterTile> rankTiles(int64_t m, int64_t across, int64_t registers) {
  SmallVector<RegisterTile> tiles;
  for (int64_t vectors = 1; vectors <= std::min(across, registers / 2); ++vectors) {
    int64_t sums = std::min(registers * 3 / 4, registers - vectors - 2);
    int64_t most = std::clamp<int64_t>(sums / vectors, 1, m);
    // Tiles of equal height rather than a low one at the end.
    int64_t rows = llvm::divideCeil(m, llvm::divideCeil(m, most));
    tiles.push_back({rows, vectors, costOf(m, across, rows, vectors)});
  }
  if (tiles.empty())
    tiles.push_back({1, 1, 0});
  llvm::sort(tiles, [](const RegisterTile &a, const RegisterTile &b) {
    return std::tie(a.cost, a.vectors) < std::tie(b.cost, b.vectors);
  });
  return tiles;
}

/// Pieces of `extent` of one size: a multiple of `unit` with less in the last one, or where all are equal one of
/// `finer`.
int64_t share(int64_t extent, int64_t pieces, int64_t unit, int64_t finer = 0) {
  if (finer > 0 && extent % (pieces * finer) == 0)
    return extent / pieces;
  return std::min(llvm::alignTo(llvm::divideCeil(extent, pieces), unit), uint64_t(extent));
}

int64_t matrixBytesOf(DotOp dot) {
  auto narrow = [](Value factor) { return getElementTypeOrSelf(narrowFactor(factor).getType()); };
  Type lhs = narrow(dot.getLhs()), sum = getElementTypeOrSelf(dot.getType());
  if (lhs != narrow(dot.getRhs()))
    return 0;
  return lhs.isBF16() && sum.isF32() ? 2 : lhs.isInteger(8) && sum.isInteger(32) ? 1 : 0;
}

/// The instruction for a dot's narrow factors; null where there is none, or these are not narrow.
const target::MatrixInstruction *findInstruction(int64_t matrixBytes, const target::TargetInfo &target) {
  return matrixBytes == 2   ? target.findDot(target::MatrixType::BF16)
         : matrixBytes == 1 ? target.findDot(target::MatrixType::I8)
                            : nullptr;
}

/// Two by two registers hold the sums, and what feeds them comes from the second cache as fast as from the first, so
/// that the whole of the contraction is one piece where packed rows of it are not too large. Products that do not fill
/// half of a register are left to vectors. Rows that fill one pay for packing what multiplies them, and fewer beside
/// windows, which have to be packed anyway. Few columns, as the positions of small images are, are little to pack
/// beside what multiplies them: of these one register is enough, of which they fill half.
std::optional<DotPlan> planMatrixUnit(const DotFacts &facts, const target::TargetInfo &target) {
  const target::MatrixInstruction *instruction = findInstruction(facts.matrixBytes, target);
  if (!instruction)
    return std::nullopt;
  const int64_t registerBytes = target.vector.bytes, few = instruction->n, tile = 2 * few;
  const int64_t tileRows = facts.m <= few || (facts.m < tile && facts.rhsWindow) ? few : tile;
  const int64_t fewestRows = facts.rhsWindow ? few / 2 : few;
  const int64_t tileColumns = facts.n < tile && facts.m >= tile ? few : tile;
  // A run of a sixth of a register is copied at once; across the contraction it fills one, as squares are transposed.
  const bool lhsIsScattered =
      facts.lhsWindow && 6 * facts.lhsRunBytes < registerBytes && facts.lhsAcrossBytes < registerBytes;
  if (lhsIsScattered || (facts.rhsWindow && !facts.rhsInRuns) || facts.m < fewestRows ||
      facts.n < (tileColumns == few ? few / 2 + 1 : tile) || facts.k * facts.matrixBytes < registerBytes)
    return std::nullopt;
  DotPlan plan{};
  plan.narrow = plan.packRhs = true;
  plan.rows = tileRows;
  plan.columns = tileColumns;
  int64_t mostRowBytes = std::clamp<int64_t>(target.memory.l2Bytes / 256, 2048, 8192);
  // Sums wait for the next piece in the output, or else beside a packed factor of fewer columns and shorter rows.
  constexpr int64_t privateColumns = 128;
  bool sumsArePrivate = facts.k * facts.matrixBytes > mostRowBytes && !facts.sumsInOutput;
  if (sumsArePrivate)
    mostRowBytes /= 2;
  // Pieces are equal, and not many more than there must be.
  auto rowBytesOf = [&](int64_t depth) -> int64_t { return llvm::alignTo(depth * facts.matrixBytes, registerBytes); };
  plan.depth = std::min(facts.k, mostRowBytes / facts.matrixBytes);
  while (facts.k % plan.depth != 0)
    if (rowBytesOf(--plan.depth) < mostRowBytes / 4)
      return std::nullopt;
  int64_t rowBytes = rowBytesOf(plan.depth);
  // The right factor of a program takes half of the second cache; rows of the left one pass through it.
  int64_t budget = std::min(target.memory.l2Bytes / 2, target.memory.privateBytes * 2 / 3);
  // Windows wait in the order of their runs, a quarter of the steps at a time (MatrixUnit::allocateRuns).
  const int64_t waiting = facts.rhsWindow ? std::max(rowBytes / 4, registerBytes) : 0;
  int64_t mostColumns = llvm::alignDown(budget / (rowBytes + waiting), tileColumns), mostRows = facts.m;
  if (mostColumns == 0)
    return std::nullopt;
  if (sumsArePrivate) {
    mostColumns = std::min(mostColumns, privateColumns);
    int64_t rest = target.memory.privateBytes * 3 / 4 - mostColumns * (rowBytes + waiting);
    mostRows = std::max(llvm::alignDown(std::max<int64_t>(rest, 0) / (mostColumns * 4), tileRows), uint64_t(tileRows));
    if (facts.m > mostRows && !facts.cutRows)
      return std::nullopt;
  }
  int64_t programs = 2.0 * facts.m * facts.n * facts.k * facts.batches < fits::smallestFlops
                         ? 1
                         : llvm::divideCeil(target.cores, facts.batches);
  if (facts.n > mostColumns && !facts.cutColumns)
    return std::nullopt;
  int64_t across = llvm::divideCeil(facts.n, mostColumns);
  // Each program packs all that it is not cut along: windows of many rows are packed once.
  const bool packsFewColumns = across == 1 && facts.lhsWindow && facts.m > facts.n && facts.cutRows;
  if (facts.cutColumns && facts.n >= programs * tileColumns && !(packsFewColumns && facts.m >= programs * tileRows))
    across = llvm::alignTo(across, programs);
  int64_t down = across == 1 && facts.cutRows && facts.m >= programs * tileRows ? programs : 1;
  plan.programColumns = share(facts.n, across, tileColumns);
  down = std::max<int64_t>(down, llvm::divideCeil(facts.m, mostRows));
  plan.programRows = share(facts.m, down, tileRows);
  plan.packLhs = !facts.lhsPlain || plan.programRows % tileRows != 0 || facts.m % tileRows != 0 ||
                 plan.depth * facts.matrixBytes % registerBytes != 0;
  plan.rowBlock = tileRows;
  if (plan.packLhs)
    plan.rowBlock = std::max<int64_t>(llvm::alignDown(target.memory.l2Bytes / 16 / rowBytes, tileRows), tileRows);
  plan.rowBlock = std::min<int64_t>(plan.rowBlock, llvm::alignTo(plan.programRows, tileRows));
  return plan;
}

} // namespace

bool isForMatrixUnit(DotOp dot, const target::TargetInfo &target) {
  return findInstruction(matrixBytesOf(dot), target);
}

bool storesFollowTiles(DotOp dot, ArrayRef<StoreOp> stores, const Axes &axes) {
  return llvm::all_of(stores, [&](StoreOp store) {
    return llvm::all_of(axes.of(store.getValue()),
                        [&](Axis axis) { return axes.extent(axis) == 1 || axes.contains(dot.getResult(), axis); });
  });
}

DotFacts describeDot(DotOp dot, ArrayRef<StoreOp> stores, const Axes &axes) {
  auto type = cast<RankedTensorType>(dot.getType());
  unsigned rank = type.getRank();
  Axis m = axes.of(dot.getResult(), rank - 2), n = axes.of(dot.getResult(), rank - 1),
       k = axes.of(dot.getLhs(), rank - 1);
  Source lhs = inspect(dot.getLhs(), m, k, k, axes), rhs = inspect(dot.getRhs(), k, n, k, axes);
  DotFacts facts{};
  facts.m = axes.extent(m);
  facts.n = axes.extent(n);
  facts.k = axes.extent(k);
  facts.batches = ShapedType::getNumElements(type.getShape().drop_back(2));
  facts.elementBytes = bytesOf(dot.getResult());
  facts.lhsAlongDepth = lhs.liesAlongSecond();
  facts.rhsAlongColumns = rhs.liesAlongSecond();
  facts.lhsComputed = lhs.computed;
  facts.lhsConverted = getElementTypeOrSelf(dot.getLhs().getType()) != type.getElementType();
  facts.rhsComputed = rhs.computed;
  facts.rhsGathered = rhs.gathered;
  facts.rhsConverted = getElementTypeOrSelf(dot.getRhs().getType()) != type.getElementType();
  facts.lhsRowBytes = lhs.distance;
  facts.rhsRowBytes = rhs.distance;
  facts.lhsWindow = lhs.window;
  facts.rhsWindow = rhs.window;
  facts.rhsInRuns = rhs.inRuns && rhs.numLoads == 1;
  facts.lhsRunBytes = narrowFactor(dot.getLhs()).getDefiningOp<LoadOp>() ? lhs.nearBytes : 0;
  facts.lhsAcrossBytes = narrowFactor(dot.getLhs()).getDefiningOp<LoadOp>() ? lhs.acrossBytes : 0;
  facts.rhsRunBytes = rhs.runBytes;
  for (StoreOp store : stores) {
    auto map = store.getView().getDefiningOp<ViewOp>().getMap();
    for (auto [dim, axis] : llvm::enumerate(axes.of(store.getValue())))
      facts.sumsInOutput |= axis == n && map.isSingleBlock() &&
                            BlockAttr::constant(map.front().getStrides()[dim]) == 1 &&
                            getElementTypeOrSelf(store.getValue().getType()) == type.getElementType();
  }
  facts.matrixBytes = matrixBytesOf(dot);
  facts.lhsPlain = lhs.alongSecond == 1 && !lhs.window && narrowFactor(dot.getLhs()).getDefiningOp<LoadOp>();
  return facts;
}

std::optional<NearLines> findLines(DotOp dot, const Axes &axes) {
  const Axis depth = axes.of(dot.getLhs()).back(), columns = axes.of(dot.getResult()).back();
  Value tile = dot.getRhs();
  if (auto wide = tile.getDefiningOp<arith::ExtFOp>())
    tile = wide.getIn();
  auto load = tile.getDefiningOp<LoadOp>();
  auto view = load ? load.getView().getDefiningOp<ViewOp>() : ViewOp();
  if (!view || view.getMap().getNumSymbols() != 0 || !isa<FloatType>(getElementTypeOrSelf(dot.getType())))
    return std::nullopt;
  SmallVector<Axis> own = axes.of(tile);
  const auto *k = llvm::find(own, depth), *n = llvm::find(own, columns);
  if (k == own.end() || n == own.end())
    return std::nullopt;
  return NearLines::compute(view.getMap(), k - own.begin(), n - own.begin());
}

/// Cycles for a packed vector of the right factor. Of windows a run that is shorter than a vector takes as long as one,
/// and is found before.
static double packCyclesOf(const DotFacts &facts, const target::TargetInfo &target) {
  const auto plain = static_cast<double>(target.costs.packCycles);
  if (!facts.rhsWindow || facts.rhsRunBytes == 0)
    return plain;
  return plain + fits::runCycles * target.vector.bytes / static_cast<double>(facts.rhsRunBytes);
}

std::pair<int64_t, int64_t> tileAlongDepth(int64_t rows, int64_t columns, bool isComputed,
                                           const target::TargetInfo &target) {
  const int64_t registers = std::max<int64_t>(target.vector.registers, 8);
  // What is computed of a column is so for each tile of rows: of more rows it is computed less often.
  const int64_t most = (registers >= 32 ? 4 : 2) * (isComputed ? 2 : 1);
  const int64_t own = llvm::divideCeil(rows, llvm::divideCeil(rows, most));
  return {own, std::min({int64_t(8), (registers - 1) / (own + 1), columns})};
}

/// Whether so many rows of the left factor that are read side by side take more lines of the first cache than it has
/// where they fall: processors have sets of at least eight lines, one for each 64 bytes of a page.
static bool rowsCollide(const DotFacts &facts, int64_t rows) {
  constexpr int64_t line = 64, sets = 64, ways = 8;
  if (!facts.lhsAlongDepth || facts.lhsRowBytes == 0 || facts.lhsRowBytes % line != 0)
    return false;
  return rows > ways * (sets / std::gcd(facts.lhsRowBytes / line, sets));
}

/// With such tiles; `packRhs` stands in for the rule about packing the right factor, where either is possible.
static DotPlan planWith(RegisterTile tile, std::optional<bool> packRhs, const DotFacts &facts,
                        const target::TargetInfo &target) {
  DotPlan plan{};
  const int64_t bytes = facts.elementBytes, lanes = target.lanes(bytes);
  int64_t m = std::max<int64_t>(facts.m, 1), n = std::max<int64_t>(facts.n, 1), k = std::max<int64_t>(facts.k, 1);

  plan.rows = tile.rows;
  plan.columns = tile.vectors * lanes;
  // Both factors along k, and few rows: vectors along k, and no transposition.
  const bool isKept = facts.rhsKept && !facts.rhsAlongColumns && m >= enoughRowsOfKept && n >= lanes;
  // A left factor that is computed is packed, where all of it stays near.
  const int64_t lhsBytes = facts.lhsComputed ? int64_t(llvm::alignTo(k, lanes) * llvm::alignTo(m, lanes)) * bytes : 0;
  plan.alongDepth = facts.lhsAlongDepth && !facts.rhsAlongColumns && !facts.rhsWindow && !facts.rhsGathered &&
                    lhsBytes <= std::min(target.memory.l2Bytes / 4, target.memory.privateBytes / 8) &&
                    m <= mostRowsAlongDepth && k >= 2 * lanes && !isKept;
  if (plan.alongDepth)
    std::tie(plan.rows, plan.columns) = tileAlongDepth(m, n, facts.rhsComputed || facts.rhsConverted, target);

  int64_t tilesDown = llvm::divideCeil(m, plan.rows);
  int64_t tilesAcross = llvm::divideCeil(n, plan.columns);
  bool fromSecond = facts.rhsRowBytes <= nearRows && !facts.rhsConverted;
  bool rhsIsNear = facts.rhsAlongColumns && !facts.rhsComputed && !plan.alongDepth &&
                   k * n * bytes <= (fromSecond ? target.memory.l2Bytes : target.memory.l1Bytes) / 2;
  plan.packRhs = !plan.alongDepth && (!facts.rhsAlongColumns || facts.rhsWindow ||
                                      (tilesDown > 1 && facts.rhsComputed) || (m >= enoughRows && !rhsIsNear));
  if (packRhs && !plan.alongDepth && facts.rhsAlongColumns && !facts.rhsWindow)
    plan.packRhs = *packRhs;
  plan.depth = k;
  if (plan.packRhs || rhsIsNear) {
    // A tile's rows of the left factor stay in the first cache while panels of the right one pass by.
    int64_t most = std::clamp(target.memory.l1Bytes / 2 / (plan.rows * bytes), lanes, mostDepth);
    plan.depth = share(k, llvm::divideCeil(k, most), lanes);
    // Panels that are made before have pieces of one size.
    if (isKept && m <= mostRowsAlongDepth && findEqualPiece(k, plan.depth, /*unit=*/1) == 0) {
      DotFacts other = facts;
      other.rhsKept = false;
      return planWith(tile, packRhs, other, target);
    }
  } else if (!plan.alongDepth && tilesAcross > 1) {
    // The right factor is read once, in the order in which it lies.
    plan.depth = std::min(k, std::clamp<int64_t>(2 * m, 16, mostDepthInPlace));
  }
  int64_t rhsBudget = std::min(target.memory.l2Bytes / 2, target.memory.privateBytes / 2);
  int64_t columnBytes = llvm::alignTo(plan.depth, lanes) * bytes;
  int64_t mostColumns = std::max<int64_t>(rhsBudget / columnBytes / plan.columns, 1) * plan.columns;
  double flops = 2.0 * m * n * k * facts.batches;
  // As many as cores, or a multiple: cut so that the largest one takes the least time, which is that of its
  // products, of its columns of the right factor, packed or not, and of its rows of the left one.
  int64_t programs = flops < fits::smallestFlops ? 1 : llvm::divideCeil(target.cores, facts.batches);
  int64_t across = 1, down = 1;
  double least = 0;
  for (int64_t a = 1; a <= programs; ++a) {
    int64_t d = llvm::divideCeil(programs, a);
    if ((a > 1 && (!facts.cutColumns || tilesAcross < a)) || (d > 1 && (!facts.cutRows || tilesDown < d)))
      continue;
    double width = share(n, a, plan.columns, lanes), height = share(m, d, plan.rows);
    double cost = (width * height / 2 + (isKept ? 0 : packCyclesOf(facts, target) * width)) / lanes + height / 2;
    cost *= llvm::divideCeil(a * d, programs);
    if (least == 0 || cost <= least) {
      least = cost;
      across = a;
      down = d;
    }
  }
  // More of them across until a packed block fits its budget, of equal size and equally many for each core.
  if (facts.cutColumns && plan.packRhs && share(n, across, plan.columns, lanes) > mostColumns) {
    int64_t fewest = llvm::divideCeil(n, mostColumns), shortest = 0;
    for (int64_t a = fewest; a < 2 * fewest; ++a) {
      int64_t length = llvm::divideCeil(a * down, programs) * share(n, a, plan.columns, lanes);
      if (shortest == 0 || length < shortest) {
        shortest = length;
        across = a;
      }
    }
  }
  plan.programColumns = share(n, across, plan.columns, lanes);
  plan.programRows = share(m, down, plan.rows);
  // Where sums cannot wait in an output they are private, and the program is cut until they fit; what cannot
  // be cut is summed up in one piece.
  int64_t sumsBudget = target.memory.privateBytes / 4;
  if (!facts.sumsInOutput && plan.depth < k && plan.programRows * plan.programColumns * bytes > sumsBudget) {
    int64_t square = llvm::alignTo(256, plan.columns);
    int64_t fewer = facts.cutColumns ? std::min(plan.programColumns, square) : plan.programColumns;
    int64_t most = sumsBudget / (fewer * bytes) / plan.rows * plan.rows;
    if (facts.cutRows && most > 0) {
      plan.programColumns = fewer;
      plan.programRows = std::min(plan.programRows, most);
    } else {
      plan.depth = k;
    }
  }
  tilesAcross = llvm::divideCeil(plan.programColumns, plan.columns);
  bool farRows = plan.rows > mostRowsInPlace && facts.lhsRowBytes > nearRows;
  plan.packLhs =
      (plan.alongDepth ? facts.lhsComputed : facts.lhsWindow) ||
      (!plan.alongDepth && facts.lhsConverted && facts.elementBytes == 4) ||
      (!plan.alongDepth && tilesAcross > 1 &&
       (facts.lhsComputed || facts.lhsConverted || ((plan.packRhs || rhsIsNear) && (!facts.lhsAlongDepth || farRows))));
  int64_t lhsBudget = std::min(target.memory.l2Bytes / 8, target.memory.privateBytes / 4);
  int64_t rowBytes = llvm::alignTo(plan.depth, lanes) * bytes;
  // What is near passes by for few rows at a time: those of a tile, or of a square that is transposed.
  int64_t allRows = llvm::alignTo(m, plan.rows);
  if (rhsIsNear && !facts.lhsWindow)
    plan.rowBlock = facts.lhsAlongDepth ? plan.rows : std::lcm(plan.rows, lanes);
  else
    plan.rowBlock =
        plan.packLhs && !plan.alongDepth ? std::max<int64_t>(lhsBudget / rowBytes / plan.rows, 1) * plan.rows : allRows;
  plan.rowBlock = std::min(plan.rowBlock, allRows);
  // What cannot be cut further is read as it lies.
  plan.packRhs &=
      rowBytes * int64_t(llvm::alignTo(plan.programColumns, plan.columns)) <= target.memory.privateBytes / 2;
  plan.packLhs &=
      rowBytes * int64_t(llvm::alignTo(plan.rowBlock, lanes)) <= target.memory.privateBytes / 4 + rowBytes * lanes &&
      rowBytes * lanes <= target.memory.privateBytes / 8;
  return plan;
}

/// Few rows pay for no packing: windows are read out of a copy of the image, a line of positions at a time. Its last
/// vector has lanes behind the line.
static std::optional<DotChoice> planLines(const DotFacts &facts, const target::TargetInfo &target) {
  // Beside a matrix unit, which has rows for so many more.
  constexpr int64_t mostRows = 32, mostRowsOfUnit = 12, fewestSteps = 3;
  if (!facts.rhsLines || facts.elementBytes != 4 || facts.rhsRunBytes == 0 ||
      facts.m > (findInstruction(facts.matrixBytes, target) ? mostRowsOfUnit : mostRows))
    return std::nullopt;
  const NearLines &lines = *facts.rhsLines;
  const int64_t line = lines.lineLength(), whole = target.lanes(facts.elementBytes),
                registers = target.vector.registers;
  const int64_t lanes = std::min<int64_t>(whole, llvm::PowerOf2Ceil(line));
  const int64_t inner = lines.innerPositions();
  if (lanes == 1 || 2 * lanes < whole || lines.stepsAtOnce() < fewestSteps ||
      facts.k * 4 * mostRowsInPlace > target.memory.l1Bytes / 2)
    return std::nullopt;
  // Tiles are a part of a line that divides it, where there is more than one.
  DotPlan plan{};
  auto vectorsOf = [&](int64_t columns) -> int64_t { return llvm::divideCeil(columns, lanes); };
  double best = 0;
  for (int64_t columns = 1; columns <= std::min(line, 4 * lanes) && vectorsOf(columns) <= registers / 4; ++columns) {
    const double filled = static_cast<double>(columns) / static_cast<double>(vectorsOf(columns) * lanes);
    if ((inner == 1 ? columns % lanes != 0 && columns != line : line % columns != 0) || filled < best)
      continue;
    best = filled;
    plan.columns = columns;
  }
  // What lanes without a position cost must be less than packing takes.
  const double rows = static_cast<double>(facts.m),
               used = best * static_cast<double>(lanes) / static_cast<double>(whole);
  if (best == 0 || rows / 2 * (1 / used - 1) > packCyclesOf(facts, target) / 2)
    return std::nullopt;
  const int64_t vectors = vectorsOf(plan.columns);
  const int64_t most = std::max<int64_t>(std::min(registers * 3 / 4, registers - vectors - 2) / vectors, 1);
  plan.rows = llvm::divideCeil(facts.m, llvm::divideCeil(facts.m, most));
  plan.depth = facts.k;
  plan.rowBlock = llvm::alignTo(facts.m, plan.rows);
  plan.programRows = facts.m;
  plan.packLhs = facts.lhsWindow || facts.lhsComputed || facts.lhsConverted || !facts.lhsAlongDepth;
  // As many programs as cores, and more until the copies stay in the second cache.
  const auto steps = static_cast<double>(facts.k) * static_cast<double>(facts.batches);
  const auto tiles = static_cast<double>(llvm::divideCeil(facts.n, plan.columns));
  const double flops = 2.0 * facts.m * facts.n * facts.k * facts.batches;
  const int64_t programs = flops < fits::smallestFlops ? 1 : llvm::divideCeil(target.cores, facts.batches);
  const int64_t budget = std::min(target.memory.l2Bytes / 4, target.memory.privateBytes / 3);
  const int64_t unit = inner > 1 ? inner : plan.columns, units = llvm::divideCeil(facts.n, unit);
  for (int64_t pieces = 1; pieces == 1 || (facts.cutColumns && pieces <= units); ++pieces) {
    plan.programColumns = std::min<int64_t>(llvm::divideCeil(units, pieces) * unit, facts.n);
    const bool isLast = !facts.cutColumns || pieces == units;
    if (lines.countElements(plan.programColumns, lanes) * facts.elementBytes <= budget &&
        (pieces >= programs || isLast))
      return DotChoice{plan, tiles * costOf(facts.m, vectors, plan.rows, vectors) * steps};
  }
  return std::nullopt;
}

SmallVector<DotChoice> planDots(const DotFacts &facts, const target::TargetInfo &target, unsigned most) {
  SmallVector<DotChoice> choices;
  auto add = [&](DotPlan plan, double cost) {
    if (choices.size() < most && llvm::none_of(choices, [&](const DotChoice &known) { return known.plan == plan; }))
      choices.push_back({plan, cost});
  };
  // Packing is what else there is to measure.
  if (std::optional<DotChoice> choice = planLines(facts, target))
    add(choice->plan, choice->cost);
  if (std::optional<DotPlan> plan = planMatrixUnit(facts, target)) {
    add(*plan, 0);
    return choices;
  }
  const int64_t lanes = target.lanes(facts.elementBytes), registers = std::max<int64_t>(target.vector.registers, 8);
  const int64_t m = std::max<int64_t>(facts.m, 1), across = llvm::divideCeil(std::max<int64_t>(facts.n, 1), lanes);
  SmallVector<RegisterTile> tiles = rankTiles(m, across, registers);
  // Rows that are read once are not packed. Where their lines fall on one place of the first cache, a tile has no more
  // than stay there.
  if (RegisterTile &best = tiles.front(); best.rows > mostRowsInPlace && rowsCollide(facts, best.rows) &&
                                          !planWith(best, std::nullopt, facts, target).packLhs)
    best = {mostRowsInPlace, best.vectors, costOf(m, across, mostRowsInPlace, best.vectors)};
  const double steps = static_cast<double>(facts.k) * static_cast<double>(facts.batches);
  add(planWith(tiles.front(), std::nullopt, facts, target), tiles.front().cost * steps);
  // Packed or not: nothing estimates the other way.
  for (bool packRhs : {true, false})
    add(planWith(tiles.front(), packRhs, facts, target), 0);
  for (RegisterTile tile : ArrayRef(tiles).drop_front())
    add(planWith(tile, std::nullopt, facts, target), tile.cost * steps);
  return choices;
}

} // namespace zyx::schedule
