//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LayOutFactors.h"

#include "ChooseShared.h"
#include "ChooseTensor.h"
#include "FactorLayouter.h"
#include "LayOutWindows.h"
#include "Strides.h"

#include "zyx/Codegen/Matrix/TensorChain.h"
#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Dialect/Kernel/IR/MapAlgebra.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Schedule/Weights.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

#include "llvm/ADT/SmallSet.h"

namespace zyx::schedule {
#define GEN_PASS_DEF_LAYOUTFACTORSPASS
#include "zyx/Schedule/Passes.h.inc"
} // namespace zyx::schedule

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::Copies;
using zyx::schedule::FactorLayouter;
using zyx::schedule::MadeCopy;
using zyx::schedule::mapOf;
using zyx::target::TargetInfo;
namespace fits = zyx::target::fits::layouts;

OwningOpRef<FuncOp> zyx::schedule::cloneUnshared(FuncOp func) {
  OwningOpRef<FuncOp> clone = func.clone();
  clone->setTrial(true);
  unshareConstants(*clone);
  return clone;
}

static DotOp dotOf(FuncOp func) {
  auto dots = func.getBody().getOps<DotOp>();
  return llvm::hasSingleElement(dots) ? *dots.begin() : DotOp();
}

namespace {

struct LayOutFactors : zyx::schedule::impl::LayOutFactorsPassBase<LayOutFactors> {
  using LayOutFactorsPassBase::LayOutFactorsPassBase;

  void runOnOperation() override {
    const TargetInfo *record = requireTarget(getOperation());
    if (!record)
      return signalPassFailure();
    if (!record->hasTensorCores()) {
      getOperation()->emitError() << "target '" << record->name << "' has no tensor cores to lay factors out for";
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    zyx::schedule::Launches launches = zyx::schedule::collectLaunches(getOperation());
    Copies copies;
    for (FuncOp func : llvm::to_vector(getOperation().getOps<FuncOp>())) {
      SmallVector<zyx::plan::LaunchOp> &own = launches[func.getName()];
      if (func.getSchedule() || FactorLayouter(func, *record, &copies).runForChain(symbols, own) ||
          FactorLayouter(func, *record, &copies).run(symbols, own) || FactorLayouter(func, *record).isTaken() ||
          FactorLayouter(func, *record, &copies).runForSharedMemory(symbols, own))
        continue;
      const bool hasWindows = zyx::schedule::layOutWindows(func, symbols, own, copies);
      if (dotOf(func))
        continue;
      FactorLayouter(func, *record, &copies).transpose(symbols, own, hasWindows);
    }
  }
};

} // namespace

/// The load of a factor of 16 bits or of f32: of a whole argument, nothing of which is masked, and for nothing else.
static LoadOp loadOf(Value factor) {
  auto broadcast = factor.getDefiningOp<BroadcastOp>();
  if (broadcast && broadcast->hasOneUse())
    factor = broadcast.getInput();
  auto load = factor.getDefiningOp<LoadOp>();
  Type element = getElementTypeOrSelf(factor.getType());
  if (!load || !load->hasOneUse() || load.getMask() || load.getOther() ||
      (!element.isBF16() && !element.isF16() && !element.isF32()))
    return {};
  auto view = load.getView().getDefiningOp<ViewOp>();
  if (!view || !isa<BlockArgument>(view.getBuffer()) || !view.getSymbols().empty() ||
      view.getType().getShape() != cast<RankedTensorType>(load.getType()).getShape())
    return {};
  return load;
}

/// The same of a factor that tensor cores may take.
static LoadOp narrowLoadOf(Value factor) {
  return getElementTypeOrSelf(factor.getType()).isF32() ? LoadOp() : loadOf(factor);
}

/// Gives a factor's load a view of its own, through another map.
static void look(LoadOp load, Value buffer, MapAttr map) {
  auto view = load.getView().getDefiningOp<ViewOp>();
  OpBuilder builder(load);
  load.getViewMutable().assign(ViewOp::create(builder, load.getLoc(), view.getType(), buffer, ValueRange(), map));
  if (view->use_empty())
    view->erase();
}

/// What may be done to the factors, alone or together.
SmallVector<DotLayout> FactorLayouter::candidates(bool byThreads) {
  SmallVector<DotLayout> result;
  DotOp dot = dotOf(func);
  auto *find = byThreads ? loadOf : narrowLoadOf;
  LoadOp left = dot ? find(dot.getLhs()) : LoadOp(), right = dot ? find(dot.getRhs()) : LoadOp();
  if (!left || !right)
    return result;
  OwningOpRef<FuncOp> trial = cloneUnshared(func);
  dot = dotOf(*trial);
  left = find(dot.getLhs()), right = find(dot.getRhs());
  FailureOr<Axes> axes = Axes::compute(*trial);
  if (failed(axes))
    return result;
  const Axis depth = axes->of(dot.getLhs()).back();
  auto depthOf = [&](LoadOp load) {
    SmallVector<Axis> own = axes->of(load.getResult());
    return static_cast<unsigned>(llvm::find(own, depth) - own.begin());
  };
  const unsigned leftDepth = depthOf(left), rightDepth = depthOf(right);
  // With rows along the contraction, or across it: tensor cores take both, and one of them may be how memory is read
  // anyway.
  auto densely = [&](LoadOp load, unsigned depth) {
    SmallVector<std::optional<FactorLayout>> all{std::nullopt};
    const auto rank = static_cast<unsigned>(mapOf(load).getRank());
    for (unsigned inner : {depth, depth + 1 == rank ? rank - 2 : rank - 1})
      if (std::optional<FactorLayout> own = rank > 1 ? denseLayout(mapOf(load), inner) : std::nullopt)
        all.push_back(own);
    return all;
  };
  if (!byThreads)
    for (const std::optional<FactorLayout> &lhs : densely(left, leftDepth))
      for (const std::optional<FactorLayout> &rhs : densely(right, rightDepth))
        if (lhs || rhs)
          result.push_back({lhs, rhs});
  for (auto &[own, other] : channelLayouts(mapOf(left), leftDepth, mapOf(right), rightDepth, byThreads))
    result.push_back({own, other});
  for (auto &[own, other] : channelLayouts(mapOf(right), rightDepth, mapOf(left), leftDepth, byThreads))
    result.push_back({other, own});
  return result;
}

/// Lines of memory in which a subgroup finds what it looks up at once: neighbours have vectors that follow each other
/// where they are written.
int64_t FactorLayouter::countLines(const FactorLayout &layout) const {
  const BlockAttr written = layout.target.front();
  SmallVector<int64_t> extents;
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < static_cast<unsigned>(written.getRank()); ++dim) {
    extents.push_back(BlockAttr::constant(written.getShape()[dim]).value_or(1));
    order.push_back(dim);
  }
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return BlockAttr::constant(written.getStrides()[a]).value_or(0) <
           BlockAttr::constant(written.getStrides()[b]).value_or(0);
  });
  // In the middle, where there is no padding.
  const int64_t vector = std::max<int64_t>(target.lanes(fits::copiedBytes / 2), 1);
  const int64_t lineElements = target.memory.lineBytes / (fits::copiedBytes / 2);
  const int64_t count = llvm::product_of(extents);
  llvm::SmallSet<int64_t, 32> lines;
  for (int64_t lane = 0; lane < target.simt.subgroupSize; ++lane) {
    int64_t place = (count / 2 / vector + lane) * vector % count;
    SmallVector<int64_t> index(extents.size());
    for (unsigned dim : order) {
      index[dim] = place % extents[dim];
      place /= extents[dim];
    }
    if (const std::optional<int64_t> found = evaluateMap(layout.source, index))
      lines.insert(*found / lineElements);
  }
  return static_cast<int64_t>(lines.size());
}

double FactorLayouter::rateOf(const FactorLayout &layout) const {
  for (auto [dim, stride] : llvm::enumerate(layout.target.front().getStrides()))
    if (BlockAttr::constant(stride) == 1 && BlockAttr::constant(layout.target.front().getShape()[dim]) != 1 &&
        zyx::schedule::strideThrough(layout.source, dim) == 1)
      return fits::copyRate;
  if (layout.source.isSingleBlock())
    return fits::transposeRate;
  return countLines(layout) <= fits::nearLines ? fits::nearRate : fits::lookUpRate;
}

/// What a copy takes, with its launch.
double FactorLayouter::copyCycles(const FactorLayout &layout) const {
  return static_cast<double>(target.costs.launchCycles) +
         cyclesOf(static_cast<double>(layout.elements) * fits::copiedBytes,
                  rateOf(layout) * static_cast<double>(target.costs.memoryBytesPerCycle));
}

/// The kernel with these layouts.
OwningOpRef<FuncOp> FactorLayouter::tryOut(const DotLayout &layout) {
  OwningOpRef<FuncOp> trial = func.clone();
  trial->setTrial(true);
  DotOp dot = dotOf(*trial);
  auto use = [&](const std::optional<FactorLayout> &factor, LoadOp load) {
    if (factor)
      look(load, load.getView().getDefiningOp<ViewOp>().getBuffer(), factor->map);
  };
  use(layout.lhs, loadOf(dot.getLhs()));
  use(layout.rhs, loadOf(dot.getRhs()));
  unshareConstants(*trial);
  return trial;
}

/// Cycles of a kernel with these layouts on tensor cores, or none where they do not take it.
std::optional<double> FactorLayouter::costOf(const DotLayout &layout, std::string &reason) {
  OwningOpRef<FuncOp> trial = tryOut(layout);
  DotOp dot = dotOf(*trial);
  double cost = 0;
  for (const std::optional<FactorLayout> &factor : {layout.lhs, layout.rhs})
    if (factor && factor->isCopy())
      cost += copyCycles(*factor);
  FailureOr<Axes> axes = Axes::compute(*trial);
  std::optional<TensorDot> match;
  if (succeeded(axes))
    match = matchTensorDot(*trial, *axes, target, /*allowsReducedPrecision=*/false, reason);
  if (!match || match->elementBytes() != 2 || !zyx::schedule::isForTarget(*match, target, reason))
    return std::nullopt;
  const auto sums = static_cast<double>(cast<RankedTensorType>(dot.getType()).getNumElements());
  const double threads = cyclesOf(sums * static_cast<double>(axes->extent(match->k)),
                                  static_cast<double>(target.costs.threadProductsPerCycle));
  cost += cyclesOf(sums * static_cast<double>(match->depth),
                   fits::tensorRate * static_cast<double>(target.costs.matrixProductsPerCycle));
  return cost < threads ? std::optional(cost) : std::nullopt;
}

bool FactorLayouter::isTaken() {
  std::string reason;
  return dotOf(func) && costOf({}, reason);
}

/// A kernel that copies what a factor reads.
FuncOp FactorLayouter::createCopy(const FactorLayout &layout, BufferType buffer, StringRef suffix) {
  builder.setInsertionPointAfter(func);
  Location loc = func.getLoc();
  auto made =
      FuncOp::create(builder, loc, (func.getName() + suffix).str(), builder.getFunctionType({buffer, buffer}, {}));
  symbols->insert(made);
  Block &body = made.getBody().front();
  builder.setInsertionPointToEnd(&body);
  SmallVector<int64_t> shape;
  for (AffineExpr extent : layout.source.front().getShape())
    shape.push_back(*BlockAttr::constant(extent));
  auto view = [&](Value of, MapAttr map) -> Value {
    return ViewOp::create(builder, loc, ViewType::get(shape, buffer.getElementType(), Space::Global), of, ValueRange(),
                          map);
  };
  Value source = view(body.getArgument(0), layout.source), target = view(body.getArgument(1), layout.target);
  SmallVector<Value> zeros(shape.size(), arith::ConstantIndexOp::create(builder, loc, 0));
  SmallVector<Attribute> names;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    names.push_back(builder.getStringAttr("d" + std::to_string(dim)));
  auto inBounds = builder.getDenseBoolArrayAttr(SmallVector<bool>(shape.size(), true));
  Value tile = LoadOp::create(builder, loc, RankedTensorType::get(shape, buffer.getElementType()), source, zeros,
                              Value(), Value(), builder.getArrayAttr(names), inBounds);
  StoreOp::create(builder, loc, tile, target, zeros, Value(), inBounds);
  ReturnOp::create(builder, loc);
  return made;
}

/// Has each launch copy what it reads: weights once, in the init.
void FactorLayouter::apply(const FactorLayout &layout, LoadOp load, StringRef suffix,
                           MutableArrayRef<zyx::plan::LaunchOp> launches) {
  auto argument = cast<BlockArgument>(load.getView().getDefiningOp<ViewOp>().getBuffer());
  if (!layout.isCopy())
    return look(load, argument, layout.map);
  const unsigned at = argument.getArgNumber(), count = launches.front().getIns().size();
  auto buffer = cast<BufferType>(argument.getType());
  FuncOp copy;
  // Something else may read the argument.
  Value read = func.getBody().front().insertArgument(count, buffer, argument.getLoc());
  look(load, read, layout.map);
  func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(), {}));
  const auto [from, to] = inOrder(layout.source, layout.target);
  for (zyx::plan::LaunchOp launch : launches)
    addCopy(
        *copies, {launch.getIns()[at], {}, from, to, {}, zyx::schedule::readWeights(launch, at), launch}, copy,
        [&] { return createCopy(layout, buffer, suffix); }, at, layout.elements, builder, load.getLoc());
}

std::optional<std::pair<DotLayout, double>> FactorLayouter::findBest() {
  std::string reason;
  if (!dotOf(func) || costOf({}, reason))
    return std::nullopt;
  std::optional<std::pair<DotLayout, double>> best;
  for (const DotLayout &layout : candidates()) {
    if (std::optional<double> cost = costOf(layout, reason); cost && (!best || *cost < best->second))
      best = {layout, *cost};
    // Nothing takes less than what copies nothing.
    if (best && !best->first.copies())
      break;
  }
  return best;
}

/// Copies of factors that tensor cores take as they are, but whose rows begin in the middle of lines of memory. Weights
/// are copied once.
std::optional<DotLayout> FactorLayouter::findAligned(bool keepsLeft, bool keepsRight) {
  DotOp dot = dotOf(func);
  LoadOp left = dot ? narrowLoadOf(dot.getLhs()) : LoadOp(), right = dot ? narrowLoadOf(dot.getRhs()) : LoadOp();
  if (!target.hasTensorTiles() || !left || !right)
    return std::nullopt;
  auto densely = [](LoadOp load) {
    SmallVector<std::optional<FactorLayout>> all{std::nullopt};
    for (unsigned dim = 0; dim < static_cast<unsigned>(mapOf(load).getRank()) && all.size() == 1; ++dim)
      if (cast<RankedTensorType>(load.getType()).getDimSize(dim) > 1 &&
          zyx::schedule::strideThrough(mapOf(load), dim) == 1)
        all.push_back(denseLayout(mapOf(load), dim));
    return all;
  };
  auto cyclesOfProduct = [&](const DotLayout &layout) -> std::optional<double> {
    OwningOpRef<FuncOp> trial = tryOut(layout);
    FailureOr<Axes> axes = Axes::compute(*trial);
    if (failed(axes))
      return std::nullopt;
    auto choices = zyx::schedule::chooseTensorSteps(*trial, *axes, target, 1);
    return choices.empty() ? std::nullopt : std::optional(choices.front().cost);
  };
  const std::optional<double> asItIs = cyclesOfProduct({});
  std::optional<DotLayout> best;
  double least = asItIs ? *asItIs * fits::clearlyLess : 0;
  for (const std::optional<FactorLayout> &lhs : densely(left))
    for (const std::optional<FactorLayout> &rhs : densely(right)) {
      std::optional<double> cost = asItIs && (lhs || rhs) ? cyclesOfProduct({lhs, rhs}) : std::nullopt;
      if (!cost)
        continue;
      *cost += (lhs && !keepsLeft ? copyCycles(*lhs) : 0) + (rhs && !keepsRight ? copyCycles(*rhs) : 0);
      if (*cost < least)
        best = {lhs, rhs}, least = *cost;
    }
  return best;
}

std::optional<double> zyx::schedule::layOutCycles(FuncOp func, const TargetInfo &target) {
  auto best = FactorLayouter(func, target).findBest();
  return best ? std::optional(best->second) : std::nullopt;
}

bool FactorLayouter::readAlike(ArrayRef<zyx::plan::LaunchOp> launches) {
  return !launches.empty() && llvm::all_of(launches, [&](zyx::plan::LaunchOp launch) {
    return zyx::plan::LaunchOp(launch).getIns().size() == zyx::plan::LaunchOp(launches.front()).getIns().size();
  });
}

/// Whether a factor is read out of weights, which are copied once.
static bool isKept(Value factor, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  LoadOp load = loadOf(factor);
  auto argument = load ? cast<BlockArgument>(load.getView().getDefiningOp<ViewOp>().getBuffer()) : BlockArgument();
  return argument && zyx::schedule::readWeights(launches, argument.getArgNumber());
}

void FactorLayouter::applyBoth(const DotLayout &layout, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  if (layout.lhs)
    apply(*layout.lhs, loadOf(dotOf(func).getLhs()), "_lhs", launches);
  if (layout.rhs)
    apply(*layout.rhs, loadOf(dotOf(func).getRhs()), "_rhs", launches);
  zyx::schedule::dropUnread(func, launches);
}

bool FactorLayouter::run(SymbolTable &into, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  symbols = &into;
  const bool readsBoth = readAlike(launches);
  auto found = readsBoth ? findBest() : std::nullopt;
  // Few results of each group leave most of a tile empty, and windows in memory are the image many times over. Threads
  // have to read them in vectors: where they read each element by itself they take longer than estimated.
  if (found && found->first.copies())
    if (auto shared = findShared(launches);
        shared && (shared->first.lhs || shared->first.rhs) && shared->second < found->second * fits::clearlyLess)
      return false;
  std::optional<DotLayout> best = found ? std::optional(found->first) : std::nullopt;
  const bool isAligned = !best && readsBoth && isTaken();
  if (isAligned)
    best = findAligned(isKept(dotOf(func).getLhs(), launches), isKept(dotOf(func).getRhs(), launches));
  if (!best)
    return false;
  applyBoth(*best, launches);
  const bool left = best->lhs && best->lhs->isCopy(), right = best->rhs && best->rhs->isCopy();
  remark::passed(func.getLoc(), remark::RemarkOpts::name("LayOutFactors").category("zyx-schedule"))
      << func.getName() << ": "
      << (isAligned       ? "copied for tensor cores, so that rows begin on lines of memory"
          : left && right ? "copied into another order for tensor cores: both factors"
          : left          ? "copied into another order for tensor cores: the left factor"
          : right         ? "copied into another order for tensor cores: the right factor"
                          : "contracted in another order for tensor cores");
  return true;
}

/// Threads of a chain have two neighbouring columns of its scores. Of what lies along rows they read single elements,
/// each with a place of its own, as of what is brought to shared memory: more than a copy takes, if heads and batches
/// that share it read it many times.
bool FactorLayouter::runForChain(SymbolTable &into, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  constexpr int64_t fewestReads = 16;
  if (!target.hasTensorTiles() || !readAlike(launches) || !isChain(func))
    return false;
  symbols = &into;
  OwningOpRef<FuncOp> trial = cloneUnshared(func);
  FailureOr<Axes> axes = Axes::compute(*trial);
  std::string reason;
  std::optional<TensorChain> chain = failed(axes) ? std::nullopt : matchTensorChain(*trial, *axes, target, reason);
  if (!chain)
    return false;
  int64_t scores = axes->extent(chain->rows) * axes->extent(chain->streamed);
  for (Axis axis : chain->batches)
    scores *= axes->extent(axis);
  auto loadsOf = [](FuncOp of) {
    SmallVector<LoadOp> loads;
    of.walk([&](LoadOp load) { loads.push_back(load); });
    return loads;
  };
  SmallVector<std::pair<LoadOp, FactorLayout>> turned;
  for (auto [load, tried] : llvm::zip_equal(loadsOf(func), loadsOf(*trial))) {
    const SmallVector<Axis> own = axes->of(tried.getResult());
    const auto row = static_cast<unsigned>(llvm::find(own, chain->rows) - own.begin()),
               streamed = static_cast<unsigned>(llvm::find(own, chain->streamed) - own.begin());
    if (row == own.size() || streamed == own.size() || loadOf(load.getResult()) != load ||
        !mapOf(load).isOneWholeBlock() || strideThrough(mapOf(load), row) != 1 ||
        strideThrough(mapOf(load), streamed) == 1)
      continue;
    const int64_t elements = cast<RankedTensorType>(load.getType()).getNumElements();
    const std::optional<FactorLayout> layout = denseLayout(mapOf(load), streamed);
    if (layout && elements * fewestReads <= scores &&
        cyclesOf(static_cast<double>(scores) * zyx::target::fits::sharedProducts::elementOps,
                 static_cast<double>(target.costs.lanesPerCycle)) > copyCycles(*layout))
      turned.emplace_back(load, *layout);
  }
  for (auto [number, each] : llvm::enumerate(turned))
    apply(each.second, each.first, "_turned" + (number ? std::to_string(number) : std::string()), launches);
  if (turned.empty())
    return false;
  zyx::schedule::dropUnread(func, launches);
  remark::passed(func.getLoc(), remark::RemarkOpts::name("LayOutFactors").category("zyx-schedule"))
      << func.getName() << ": what stands beside its scores is copied, so that threads read neighbours of it";
  return true;
}

std::optional<double> FactorLayouter::sharedCycles(const DotLayout &layout) {
  OwningOpRef<FuncOp> trial = tryOut(layout);
  FailureOr<Axes> axes = Axes::compute(*trial);
  if (failed(axes))
    return std::nullopt;
  const auto plans =
      zyx::schedule::planSharedDots(dotOf(*trial), *axes, /*cutRows=*/true, /*cutColumns=*/true, target, 1);
  return plans.empty() ? std::nullopt : std::optional(plans.front().cost);
}

/// Whether a factor is one of windows that overlap, or may be: of what has no form that is not told.
static bool hasWindows(Value factor) {
  LoadOp load = loadOf(factor);
  if (!load || mapOf(load).isSingleBlock())
    return false;
  const std::optional<AccessForm> form = AccessForm::compute(mapOf(load));
  return !form || form->hasOverlaps();
}

std::optional<std::pair<DotLayout, double>> FactorLayouter::findShared(MutableArrayRef<zyx::plan::LaunchOp> launches) {
  auto isNoProduct = [](Operation *op) {
    return WalkResult(isa<ReduceOp, GatherOp, GridOp>(op) ? WalkResult::interrupt() : WalkResult::advance());
  };
  if (!dotOf(func) || (!hasWindows(dotOf(func).getLhs()) && !hasWindows(dotOf(func).getRhs())) ||
      !target.hasSharedMemory() || !readAlike(launches) || func.walk(isNoProduct).wasInterrupted())
    return std::nullopt;
  const SmallVector<DotLayout> all = candidates(/*byThreads=*/true);
  const std::optional<double> asItIs = all.empty() ? std::nullopt : sharedCycles({});
  if (!asItIs)
    return std::nullopt;
  const bool keepsLeft = isKept(dotOf(func).getLhs(), launches), keepsRight = isKept(dotOf(func).getRhs(), launches);
  const double wide = getElementTypeOrSelf(dotOf(func).getLhs().getType()).isF32() ? 2 : 1;
  std::optional<std::pair<DotLayout, double>> best = std::pair(DotLayout(), *asItIs);
  double least = *asItIs * fits::clearlyLess;
  for (const DotLayout &layout : all) {
    std::optional<double> cost = sharedCycles(layout);
    if (!cost)
      continue;
    *cost += wide * ((layout.lhs && layout.lhs->isCopy() && !keepsLeft ? copyCycles(*layout.lhs) : 0) +
                     (layout.rhs && layout.rhs->isCopy() && !keepsRight ? copyCycles(*layout.rhs) : 0));
    if (*cost < least)
      best = {layout, *cost}, least = *cost;
  }
  return best;
}

bool FactorLayouter::runForSharedMemory(SymbolTable &into, MutableArrayRef<zyx::plan::LaunchOp> launches) {
  symbols = &into;
  auto best = findShared(launches);
  if (!best || (!best->first.lhs && !best->first.rhs))
    return false;
  const bool copies = best->first.copies();
  applyBoth(best->first, launches);
  remark::passed(func.getLoc(), remark::RemarkOpts::name("LayOutFactors").category("zyx-schedule"))
      << func.getName() << ": " << (copies ? "copied and contracted" : "contracted")
      << " channel by channel, so that threads read its windows in vectors";
  return true;
}
