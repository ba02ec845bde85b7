//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RightFactor.h"

#include "zyx/Codegen/Cpu/Panels.h"
#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Schedule/Weights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::schedule {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "zyx/Schedule/Passes.h.inc"
} // namespace zyx::schedule

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// The right factor of a kernel's only dot, and how the dot reads it.
struct PackedFactor : zyx::schedule::RightFactor {
  BlockingAttr blocking;
  Panels panels{};
};

/// Packs the weights of one kernel.
class WeightPacker {
public:
  WeightPacker(FuncOp func, SymbolTable &symbols, const zyx::target::TargetInfo &target)
      : func(func), symbols(symbols), target(target), builder(func.getContext()) {}
  bool pack(ArrayRef<zyx::plan::LaunchOp> launches);

private:
  std::optional<PackedFactor> find();
  bool choosePiece(PackedFactor &factor);
  bool missed(StringRef reason);
  std::optional<GridStepAttr> cutRows(const PackedFactor &factor, GridStepAttr grid, int64_t columns);
  bool alignGrid(PackedFactor &factor);
  void setDepth(PackedFactor &factor);
  FuncOp createPack(PackedFactor &factor, StringRef suffix, int64_t first, int64_t count);

  FuncOp func;
  SymbolTable &symbols;
  const zyx::target::TargetInfo &target;
  OpBuilder builder;
};

struct PackWeights : zyx::schedule::impl::PackWeightsPassBase<PackWeights> {
  void runOnOperation() override;
};

} // namespace

/// A matrix in an argument, of the type of the sums, or of a narrow one that a matrix unit takes: the filters of a
/// convolution lie in another order than its windows.
std::optional<zyx::schedule::RightFactor> zyx::schedule::findRightFactor(DotOp dot, bool isNarrow) {
  RightFactor found;
  Value factor = dot.getRhs();
  if (Operation *def = factor.getDefiningOp();
      isNarrow && isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(def) && def->hasOneUse())
    factor = def->getOperand(0);
  found.load = factor.getDefiningOp<LoadOp>();
  if (!found.load || !found.load->hasOneUse() || found.load.getMask() || found.load.getOther() ||
      cast<RankedTensorType>(dot.getRhs().getType()).getRank() != 2 ||
      (!isNarrow && getElementTypeOrSelf(factor) != getElementTypeOrSelf(dot.getType())))
    return std::nullopt;
  found.view = found.load.getView().getDefiningOp<ViewOp>();
  auto argument = dyn_cast_or_null<BlockArgument>(found.view ? found.view.getBuffer() : Value());
  if (!argument || !argument.hasOneUse() || !found.view->hasOneUse() || !found.view.getSymbols().empty() ||
      found.view.getMap().front().hasValid() ||
      !llvm::all_of(found.load.getIndices(), [](Value index) { return matchPattern(index, m_Zero()); }))
    return std::nullopt;
  BlockAttr block = found.view.getMap().front();
  if (!BlockAttr::constant(block.getOffset()) || !llvm::all_of(block.getStrides(), BlockAttr::constant) ||
      found.view.getType().getShape() != cast<RankedTensorType>(dot.getRhs().getType()).getShape())
    return std::nullopt;
  found.argument = argument.getArgNumber();
  return found;
}

std::optional<PackedFactor> WeightPacker::find() {
  ScheduleAttr schedule = func.getScheduleAttr();
  if (!schedule)
    return std::nullopt;
  PackedFactor found;
  for (Attribute step : schedule.getSteps())
    if (auto block = dyn_cast<BlockStepAttr>(step))
      found.blocking = block.getBlocking();
  SmallVector<DotOp> dots(func.getBody().getOps<DotOp>());
  if (!found.blocking || !found.blocking.getPackRhs() || dots.size() != 1)
    return std::nullopt;
  std::optional<zyx::schedule::RightFactor> factor =
      zyx::schedule::findRightFactor(dots.front(), found.blocking.getNarrow());
  if (!factor)
    return std::nullopt;
  static_cast<zyx::schedule::RightFactor &>(found) = *factor;
  ArrayRef<int64_t> shape = found.view.getType().getShape();
  found.panels = {shape[0], shape[1], std::min(found.blocking.getDepth(), shape[0]), found.blocking.getColumns()};
  return found;
}

/// Says why weights are packed in each run.
bool WeightPacker::missed(StringRef reason) {
  remark::missed(func.getLoc(), remark::RemarkOpts::name("PackWeights").category("zyx-schedule"))
      << func.getName() << ": its right factor is packed in each run: " << reason;
  return false;
}

/// All pieces have one size: that of the blocking, or the next smaller one that divides the contraction.
bool WeightPacker::choosePiece(PackedFactor &factor) {
  // A matrix unit takes rows of a vector's bytes along the contraction, and as many of them at once as are 32 bits: one
  // sum.
  const int64_t registerBits = 8 * target.vector.bytes;
  constexpr int64_t groupBits = 32;
  int64_t bits = factor.view.getType().getElementType().getIntOrFloatBitWidth(), unit = 1;
  if (factor.blocking.getNarrow()) {
    if (registerBits < bits)
      return false;
    factor.panels.group = groupBits / bits;
    unit = registerBits / bits;
  }
  factor.panels.piece = findEqualPiece(factor.panels.depth, factor.panels.piece, unit);
  return factor.panels.piece > 0;
}

void WeightPacker::setDepth(PackedFactor &factor) {
  BlockingAttr blocking = factor.blocking;
  SmallVector<Attribute> steps(func.getScheduleAttr().getSteps());
  for (Attribute &step : steps)
    if (isa<BlockStepAttr>(step))
      step = BlockStepAttr::get(
          func.getContext(), BlockingAttr::get(func.getContext(), blocking.getRows(), blocking.getColumns(),
                                               blocking.getRowBlock(), factor.panels.piece, blocking.getPackLhs(),
                                               blocking.getPackRhs(), blocking.getAlongDepth(), blocking.getNarrow()));
  func.setScheduleAttr(ScheduleAttr::get(func.getContext(), steps));
}

/// A cut of rows into as many programs as `grid` cuts columns, where the largest of those has fewer elements of the
/// product than `columns` of them, which begin with a panel. Each program then reads all panels, which takes no longer
/// than to multiply them by its rows.
std::optional<GridStepAttr> WeightPacker::cutRows(const PackedFactor &factor, GridStepAttr grid, int64_t columns) {
  constexpr int64_t fewestRows = 32;
  FailureOr<Axes> axes = Axes::compute(func);
  if (failed(axes))
    return std::nullopt;
  auto dot = *func.getBody().getOps<DotOp>().begin();
  Axis rows = axes->of(dot.getResult(), 0);
  std::optional<StringRef> name = axes->name(rows);
  int64_t extent = axes->extent(rows), all = factor.panels.columns;
  int64_t tile =
      llvm::alignTo(llvm::divideCeil(extent, llvm::divideCeil(all, grid.getTile())), factor.blocking.getRows());
  if (!name || tile < fewestRows || tile * all >= std::min(columns, all) * extent ||
      !llvm::all_of(
          func.getBody().getOps<StoreOp>(), [&](StoreOp store) { return axes->contains(store.getValue(), rows); }))
    return std::nullopt;
  return GridStepAttr::get(func.getContext(), builder.getStringAttr(*name), tile);
}

/// Programs begin with a panel.
bool WeightPacker::alignGrid(PackedFactor &factor) {
  auto names = factor.load.getAxes();
  if (!names)
    return false;
  Attribute columns = (*names)[1], depth = (*names)[0];
  bool isOnly = llvm::count_if(func.getScheduleAttr().getSteps(), llvm::IsaPred<GridStepAttr>) == 1;
  SmallVector<Attribute> steps;
  for (Attribute step : func.getScheduleAttr().getSteps()) {
    if (auto grid = dyn_cast<GridStepAttr>(step)) {
      if (grid.getAxis() == depth)
        return false;
      if (grid.getAxis() == columns) {
        int64_t tile = llvm::alignTo(grid.getTile(), factor.panels.width);
        if (std::optional<GridStepAttr> cut =
                isOnly && tile != grid.getTile() ? cutRows(factor, grid, tile) : std::nullopt) {
          steps.push_back(*cut);
          continue;
        }
        if (tile >= factor.panels.columns)
          continue;
        step = GridStepAttr::get(func.getContext(), grid.getAxis(), tile);
      }
    } else if (!isa<BlockStepAttr>(step)) {
      return false;
    }
    steps.push_back(step);
  }
  func.setScheduleAttr(ScheduleAttr::get(func.getContext(), steps));
  return true;
}

/// A kernel that copies `count` panels of each piece from panel `first` on.
FuncOp WeightPacker::createPack(PackedFactor &factor, StringRef suffix, int64_t first, int64_t count) {
  Panels panels = factor.panels;
  BlockAttr matrix = factor.view.getMap().front();
  SmallVector<int64_t> all = panels.shape();
  MapAttr whole = MapAttr::identity(func.getContext(), all);
  // Those are panels of a matrix of fewer columns, and of another place.
  auto moved = [&](BlockAttr block, ArrayRef<int64_t> shape, int64_t by) {
    auto extents =
        llvm::map_to_vector(shape, [&](int64_t extent) { return getAffineConstantExpr(extent, func.getContext()); });
    return BlockAttr::get(func.getContext(), extents, block.getStrides(), block.getOffset() + by, block.getValidLow(),
                          block.getValidHigh());
  };
  int64_t from = first * panels.width, across = *BlockAttr::constant(matrix.getStrides()[1]);
  int64_t panelElements = *BlockAttr::constant(whole.front().getStrides()[1]);
  panels.columns = std::min(panels.columns - from, count * panels.width);
  SmallVector<int64_t> shape = panels.shape(), rows = {panels.depth, panels.columns};

  builder.setInsertionPointAfter(func);
  Location loc = factor.load.getLoc();
  Type buffer = factor.view.getBuffer().getType();
  Type element = factor.view.getType().getElementType();
  auto pack =
      FuncOp::create(builder, loc, (func.getName() + suffix).str(), builder.getFunctionType({buffer, buffer}, {}));
  symbols.insert(pack);
  Block &body = pack.getBody().front();
  builder.setInsertionPointToEnd(&body);
  auto look = [&](Value of, MapAttr map) -> Value {
    return ViewOp::create(builder, loc, ViewType::get(shape, element, Space::Global), of, ValueRange(), map);
  };
  SmallVector<BlockAttr> blocks(panels.readFrom(moved(matrix, rows, from * across)).getBlocks());
  llvm::append_range(blocks, factor.view.getMap().getBlocks().drop_front());
  Value source = look(body.getArgument(0), MapAttr::get(func.getContext(), blocks));
  Value target =
      look(body.getArgument(1), MapAttr::get(func.getContext(), {moved(whole.front(), shape, first * panelElements)}));
  SmallVector<Value> zeros(shape.size(), arith::ConstantIndexOp::create(builder, loc, 0));
  SmallVector<bool> inBounds(shape.size(), true);
  SmallVector<StringRef> axes = {"piece", "panel", "k", "n", "group"};
  Value tile = LoadOp::create(builder, loc, RankedTensorType::get(shape, element), source, zeros, Value(), Value(),
                              builder.getStrArrayAttr(ArrayRef(axes).take_front(shape.size())),
                              builder.getDenseBoolArrayAttr(inBounds));
  StoreOp::create(builder, loc, tile, target, zeros, Value(), builder.getDenseBoolArrayAttr(inBounds));
  ReturnOp::create(builder, loc);
  // A program reads and writes whole lines, of few pages.
  constexpr int64_t rowsPerProgram = 64;
  SmallVector<Attribute> steps;
  constexpr int64_t tiles[] = {1, 1, rowsPerProgram};
  for (auto [dim, tile] : llvm::enumerate(tiles))
    if (tile < shape[dim])
      steps.push_back(GridStepAttr::get(func.getContext(), builder.getStringAttr(axes[dim]), tile));
  pack.setScheduleAttr(ScheduleAttr::get(func.getContext(), steps));
  return pack;
}

/// Where all launches read weights, or what is made of them, a kernel of the init packs these.
bool WeightPacker::pack(ArrayRef<zyx::plan::LaunchOp> launches) {
  std::optional<PackedFactor> factor = find();
  if (!factor || !zyx::schedule::readWeights(launches, factor->argument))
    return false;
  if (!choosePiece(*factor))
    return missed("its " + std::to_string(factor->panels.depth) + " rows are not in pieces of one size, of " +
                  std::to_string(factor->blocking.getDepth()) + " or some less");
  auto bytesOf = [](Value buffer) { return cast<zyx::plan::BufferType>(buffer.getType()).getByteSize(); };
  SmallVector<int64_t> extents = factor->panels.shape();
  zyx::Shape shape(extents.begin(), extents.end());
  std::optional<zyx::plan::BufferType> packed;
  for (zyx::plan::LaunchOp launch : launches) {
    Value weight = launch.getIns()[factor->argument];
    packed = zyx::plan::BufferType::get(func.getContext(),
                                        {cast<zyx::plan::BufferType>(weight.getType()).getDtype(), shape});
    if (packed->getByteSize() > 2 * bytesOf(weight))
      return missed("panels of so few columns are mostly empty");
  }
  if (!alignGrid(*factor))
    return missed("its programs do not begin with panels");
  setDepth(*factor);
  // Only of the last panel some columns may not exist.
  int64_t whole = factor->panels.columns / factor->panels.width;
  SmallVector<FuncOp> packs;
  if (whole != 0)
    packs.push_back(createPack(*factor, "_pack", 0, whole));
  if (whole != factor->panels.count())
    packs.push_back(createPack(*factor, "_pack_last", whole, 1));
  Location loc = factor->load.getLoc();
  DenseMap<std::pair<Operation *, Value>, Value> made;
  for (zyx::plan::LaunchOp launch : launches) {
    auto plan = launch->getParentOfType<zyx::plan::FuncOp>();
    Value weight = launch.getIns()[factor->argument];
    Value &kept = made[{plan, weight}];
    if (!kept) {
      zyx::plan::InitOp init = zyx::schedule::initOf(plan, loc);
      builder.setInsertionPoint(init);
      auto alloc = zyx::plan::AllocOp::create(builder, loc, *packed);
      alloc.setKept(true);
      kept = alloc;
      builder.setInsertionPoint(init.getBody().front().getTerminator());
      for (FuncOp pack : packs)
        zyx::plan::LaunchOp::create(builder, loc, zyx::plan::EventType::get(func.getContext()),
                                    FlatSymbolRefAttr::get(pack.getSymNameAttr()), ValueRange{weight}, ValueRange{kept},
                                    builder.getDenseI64ArrayAttr({}), builder.getI64IntegerAttr(0), ValueRange());
    }
    launch.getInsMutable()[factor->argument].assign(kept);
  }
  builder.setInsertionPoint(factor->view);
  Value view = ViewOp::create(builder, loc, factor->view.getType(), factor->view.getBuffer(), ValueRange(),
                              factor->panels.lookThrough(func.getContext()));
  factor->view.getResult().replaceAllUsesWith(view);
  factor->view.erase();
  return true;
}

/// What only the init reads any more lives as long as that.
static void unkeep(zyx::plan::FuncOp plan) {
  zyx::plan::InitOp init = plan.getInit();
  if (!init)
    return;
  for (auto alloc : llvm::make_early_inc_range(plan.getBody().getOps<zyx::plan::AllocOp>())) {
    if (!alloc.getKept() ||
        !llvm::all_of(alloc->getUsers(), [&](Operation *user) { return init->isProperAncestor(user); }))
      continue;
    alloc.setKept(false);
    alloc->moveBefore(&init.getBody().front(), init.getBody().front().begin());
  }
}

void PackWeights::runOnOperation() {
  const zyx::target::TargetInfo *target = requireTarget(getOperation());
  if (!target)
    return signalPassFailure();
  SymbolTable symbols(getOperation());
  zyx::schedule::Launches launches = zyx::schedule::collectLaunches(getOperation());
  for (FuncOp func : llvm::to_vector(getOperation().getOps<FuncOp>())) {
    if (!WeightPacker(func, symbols, *target).pack(launches.lookup(func.getName())))
      continue;
    remark::passed(func.getLoc(), remark::RemarkOpts::name("PackWeights").category("zyx-schedule"))
        << func.getName() << ": its right factor is packed once for many runs";
  }
  for (auto plan : getOperation().getOps<zyx::plan::FuncOp>())
    unkeep(plan);
}
