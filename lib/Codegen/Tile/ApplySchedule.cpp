//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/ApplySchedule.h"

#include "ScheduleSteps.h"

#include "zyx/Base/Assert.h"
#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Codegen/Tile/Passes.h"
#include "zyx/Codegen/Tile/SharedAttention.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_APPLYSCHEDULEPASS
#include "zyx/Codegen/Tile/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// Applies the steps of one kernel.
class ScheduleApplier {
public:
  explicit ScheduleApplier(FuncOp func) : func(func), scopes({&func.getBody().front()}) {}

  LogicalResult run() {
    ScheduleAttr schedule = func.getScheduleAttr();
    // Tensor cores are a form of their own (MapTensorCores.cpp).
    if (!schedule || tensorStepOf(func))
      return success();
    unshareConstants(func);
    // So is an attention that threads share (LowerAttention.cpp).
    if (FailureOr<Axes> axes = Axes::compute(func); succeeded(axes) && sharedStepOf(func, *axes))
      return success();
    for (Attribute step : schedule.getSteps()) {
      LogicalResult applied =
          llvm::TypeSwitch<Attribute, LogicalResult>(step)
              .Case<GridStepAttr>([&](GridStepAttr s) { return grid(s.getAxis(), s.getTile()); })
              .Case<LoopStepAttr>([&](LoopStepAttr s) { return loop(s.getAxis(), s.getTile()); })
              .Case<SwapStepAttr>([&](SwapStepAttr) { return swap(); })
              .Case<OnlineStepAttr>([&](OnlineStepAttr s) { return online(s.getAxis(), s.getTile()); })
              .Case<StageStepAttr>([&](StageStepAttr s) { return stage(s.getOperand(), s.getSpace()); })
              .Case<BlockStepAttr>([&](BlockStepAttr s) { return block(s.getBlocking()); })
              .Case<StreamStepAttr>([&](StreamStepAttr) { return stream(); });
      if (failed(applied))
        return failure();
    }
    func.removeScheduleAttr();
    return success();
  }

private:
  LogicalResult grid(StringAttr name, int64_t tile) {
    if (scopes.size() != 1 || isa<scf::ForOp>(scopes[0]->getParentOp()))
      return func.emitOpError() << "gives axis " << name << " to the grid after a loop was made";
    FailureOr<Axes> axes = Axes::compute(func);
    if (failed(axes))
      return failure();
    FailureOr<Axis> axis = axes->find(name, func);
    if (failed(axis))
      return failure();
    if (axes->isCombined(*axis))
      return func.emitOpError() << "cannot give axis " << name << " to the grid: elements are combined along it";
    for (Operation &op : *scopes[0])
      if (auto store = dyn_cast<StoreOp>(op))
        if (!isTile(store.getValue()) || !axes->contains(store.getValue(), *axis))
          return store.emitOpError() << "would be done by every program of a grid over " << name;
    int64_t extent = axes->extent(*axis);
    if (tile >= extent)
      return success();
    // A last piece that sticks out of the axis drops what it has too much, but one that sticks out of
    // another piece would compute what the next program does.
    for (Operation &op : *scopes[0])
      if (auto store = dyn_cast<StoreOp>(op); store && extent % tile != 0)
        for (auto [dim, a] : llvm::enumerate(axes->of(store.getValue())))
          if (a == *axis && !getConstantIntValue(store.getIndices()[dim]))
            return func.emitOpError() << "splits axis " << name << " again, into pieces that do not divide " << extent;
    Value position = appendGridDimension(extent, tile);
    resizeTiles(tileOps(*scopes[0]), *axes, *axis, tile, position, extent % tile == 0);
    return success();
  }

  /// Adds a dimension to the kernel's grid, or wraps the kernel's ops in a new one; returns the index.
  Value appendGridDimension(int64_t extent, int64_t step) {
    Block &top = func.getBody().front();
    GridOp old;
    for (Operation &op : top)
      if (auto grid = dyn_cast<GridOp>(op))
        old = grid;
    SmallVector<OpFoldResult> extents;
    SmallVector<int64_t> steps;
    OpBuilder builder(func.getContext());
    if (old) {
      extents = old.getMixedExtents();
      steps.assign(old.getSteps().begin(), old.getSteps().end());
      builder.setInsertionPoint(old);
    } else {
      builder.setInsertionPoint(top.getTerminator());
    }
    extents.push_back(builder.getIndexAttr(extent));
    steps.push_back(step);
    auto grid = GridOp::create(builder, func.getLoc(), extents, steps);
    Block &body = grid.getBody().front();
    if (old) {
      for (auto [from, to] : llvm::zip(old.getIndices(), grid.getIndices()))
        from.replaceAllUsesWith(to);
      body.getOperations().splice(body.begin(), old.getBody().front().getOperations(), old.getBody().front().begin(),
                                  std::prev(old.getBody().front().end()));
      old.erase();
    } else {
      for (Operation &op : llvm::make_early_inc_range(top.without_terminator()))
        if (&op != grid && !isa<ViewOp>(op) && !(isa<arith::ConstantOp>(op) && !isTile(op.getResult(0))))
          op.moveBefore(body.getTerminator());
    }
    scopes = {&body};
    return grid.getIndices().back();
  }

  LogicalResult loop(StringAttr name, int64_t tile) {
    SmallVector<Block *> before = std::move(scopes);
    scopes.clear();
    for (Block *scope : before)
      if (failed(loopIn(*scope, name, tile)))
        return failure();
    return success();
  }

  LogicalResult loopIn(Block &scope, StringAttr name, int64_t tile) {
    FailureOr<Axes> axes = Axes::compute(scope.getParentOp());
    if (failed(axes))
      return failure();
    FailureOr<Axis> axis = axes->find(name, func);
    if (failed(axis))
      return failure();
    if (tile >= axes->extent(*axis)) {
      scopes.push_back(&scope);
      return success();
    }
    FailureOr<bool> moved = computeInside(scope, *axes, *axis, name);
    if (failed(moved))
      return failure();
    if (*moved)
      return loopIn(scope, name, tile);
    SmallVector<Operation *> dependent;
    for (Operation *op : tileOps(scope))
      if (dependsOn(*axes, op, *axis))
        dependent.push_back(op);
    if (axes->isCombined(*axis))
      return contractionLoop(scope, *axes, *axis, name, tile, dependent);

    // Everything that depends on the axis moves into the loop; a copy of it, in tiles of one, does
    // the rest. What bounds it is known where the last of them stands.
    OpBuilder builder(dependent.back());
    Location loc = func.getLoc();
    FailureOr<Value> extent = boundedExtent(builder, *axes, *axis, dependent);
    if (failed(extent))
      return failure();
    std::optional<int64_t> known = getConstantIntValue(*extent);
    Value zero = constantIndex(builder, loc, 0), step = constantIndex(builder, loc, tile);
    Value whole = *extent;
    if (!known || *known % tile != 0) {
      if (known)
        whole = constantIndex(builder, loc, *known - *known % tile);
      else
        whole = arith::SubIOp::create(builder, loc, *extent, arith::RemUIOp::create(builder, loc, *extent, step));
    }
    builder.setInsertionPointAfter(dependent.back());
    // Ops between the dependent ones that do not depend on the axis stay before the loop.
    auto main = scf::ForOp::create(builder, loc, zero, whole, step);
    SmallVector<Operation *> copies;
    scf::ForOp rest;
    if (whole != *extent && tile > 1) {
      Value one = constantIndex(builder, loc, 1);
      rest = scf::ForOp::create(builder, loc, whole, *extent, one);
    }
    IRMapping mapping;
    for (Operation *op : dependent) {
      if (rest) {
        OpBuilder copy(rest.getBody()->getTerminator());
        copies.push_back(copy.clone(*op, mapping));
      }
      op->moveBefore(main.getBody()->getTerminator());
    }
    if (rest) {
      FailureOr<Axes> restAxes = Axes::compute(rest);
      FailureOr<Axis> restAxis = failed(restAxes) ? FailureOr<Axis>(failure()) : restAxes->find(name, func);
      if (failed(restAxis))
        return failure();
      resizeTiles(copies, *restAxes, *restAxis, 1, rest.getInductionVar(), true, /*always=*/true);
    }
    resizeTiles(dependent, *axes, *axis, tile, main.getInductionVar(), true, /*always=*/true);
    scopes.push_back(main.getBody());
    if (rest)
      scopes.push_back(rest.getBody());
    return success();
  }

  /// Copies what a scope reads of tiles that were made before it, with the axis, into the scope: such
  /// a tile keeps its extent. True where something was copied.
  FailureOr<bool> computeInside(Block &scope, const Axes &axes, Axis axis, StringAttr name) {
    bool moved = false;
    llvm::DenseMap<Operation *, Operation *> copies;
    SmallVector<Operation *> users;
    scope.walk([&](Operation *op) { users.push_back(op); });
    for (Operation *user : users)
      for (OpOperand &use : user->getOpOperands()) {
        Operation *def = use.get().getDefiningOp();
        if (!isTile(use.get()) || !def || scope.findAncestorOpInBlock(*def) || !axes.contains(use.get(), axis))
          continue;
        bool kept = isa<ReduceOp, DotOp, scf::ForOp>(def) || cast<RankedTensorType>(use.get().getType()).getEncoding();
        if (kept)
          return def->emitOpError() << "is computed before the loop that axis " << name << " would be split in";
        Operation *&copy = copies[def];
        if (!copy)
          copy = OpBuilder::atBlockBegin(&scope).clone(*def);
        use.set(copy->getResult(0));
        moved = true;
      }
    return moved;
  }

  /// How much of a tile's axis exists: less than the tile where a grid's last program sticks out.
  FailureOr<Value> boundedExtent(OpBuilder &builder, const Axes &axes, Axis axis, ArrayRef<Operation *> ops) {
    Location loc = func.getLoc();
    int64_t extent = axes.extent(axis);
    Value base;
    int64_t viewExtent = 0;
    for (Operation *op : ops) {
      auto store = dyn_cast<StoreOp>(op);
      if (!store)
        continue;
      for (auto [dim, a] : llvm::enumerate(axes.of(store.getValue())))
        if (a == axis && !store.isInBounds(dim)) {
          base = store.getIndices()[dim];
          viewExtent = store.getView().getType().getDimSize(dim);
        }
    }
    // What is walked is taken for in bounds, so loads must not end before stores do.
    for (Operation *op : ops)
      if (auto load = dyn_cast<LoadOp>(op))
        for (auto [dim, a] : llvm::enumerate(axes.of(load.getResult()))) {
          int64_t loadExtent = load.getView().getType().getDimSize(dim);
          std::optional<int64_t> from = getConstantIntValue(load.getIndices()[dim]);
          bool inside = load.isInBounds(dim) || (base == load.getIndices()[dim] && loadExtent >= viewExtent) ||
                        (from && !ShapedType::isDynamic(loadExtent) && *from + extent <= loadExtent);
          if (a == axis && !inside)
            return load.emitOpError("leaves its view elsewhere than another access along the same axis");
        }
    if (!base)
      return constantIndex(builder, loc, extent);
    if (ShapedType::isDynamic(viewExtent))
      return func.emitOpError("walks an axis of a view whose extent is not known");
    Value left = arith::SubIOp::create(builder, loc, constantIndex(builder, loc, viewExtent), base);
    left = arith::MinSIOp::create(builder, loc, left, constantIndex(builder, loc, extent));
    if (mayBeginBeyond(base))
      left = arith::MaxSIOp::create(builder, loc, left, constantIndex(builder, loc, 0));
    return left;
  }

  /// A loop over the contraction axis of a dot, which carries the accumulator.
  LogicalResult contractionLoop(Block &scope, const Axes &axes, Axis axis, StringAttr name, int64_t tile,
                                ArrayRef<Operation *> dependent) {
    DotOp dot;
    for (Operation *op : dependent) {
      if (auto found = dyn_cast<DotOp>(op); found && !dot)
        dot = found;
      else if (found || isa<ReduceOp, StoreOp, scf::ForOp>(op))
        return op->emitOpError() << "also depends on axis " << name << ", so no loop can carry one dot's sum";
    }
    ZYX_ASSERT(dot, "only dots, reductions and scans combine, and the latter two are refused");
    int64_t extent = axes.extent(axis);
    OpBuilder builder(dot);
    Location loc = dot.getLoc();
    auto makeLoop = [&](int64_t from, int64_t to, int64_t step, Value acc) {
      Value low = constantIndex(builder, loc, from), high = constantIndex(builder, loc, to),
            by = constantIndex(builder, loc, step);
      return scf::ForOp::create(builder, loc, low, high, by, acc);
    };
    int64_t whole = extent - extent % tile;
    auto main = makeLoop(0, whole, tile, dot.getAcc());
    scf::ForOp rest;
    if (whole != extent)
      rest = makeLoop(whole, extent, 1, main.getResult(0));
    dot.getResult().replaceAllUsesWith(rest ? rest.getResult(0) : main.getResult(0));

    auto fill = [&](scf::ForOp loop, int64_t size, bool move) -> LogicalResult {
      IRMapping mapping;
      OpBuilder body = OpBuilder::atBlockEnd(loop.getBody());
      SmallVector<Operation *> ops;
      DotOp inner;
      for (Operation *op : dependent) {
        Operation *placed = op;
        if (move)
          op->moveBefore(loop.getBody(), loop.getBody()->end());
        else
          placed = body.clone(*op, mapping);
        ops.push_back(placed);
        if (auto d = dyn_cast<DotOp>(placed))
          inner = d;
      }
      inner.getAccMutable().assign(loop.getRegionIterArg(0));
      scf::YieldOp::create(body, loc, inner.getResult());
      FailureOr<Axes> inside = Axes::compute(loop);
      FailureOr<Axis> insideAxis = failed(inside) ? FailureOr<Axis>(failure()) : inside->find(name, func);
      if (failed(insideAxis))
        return failure();
      resizeTiles(ops, *inside, *insideAxis, size, loop.getInductionVar(), true);
      return success();
    };
    if (rest && failed(fill(rest, 1, /*move=*/false)))
      return failure();
    if (failed(fill(main, tile, /*move=*/true)))
      return failure();
    scopes.push_back(&scope);
    return success();
  }

  /// The only dot of a scope; null where there is none or more than one.
  static DotOp onlyDot(Block &scope) {
    SmallVector<DotOp> dots;
    scope.walk([&](DotOp found) { dots.push_back(found); });
    return dots.size() == 1 ? dots.front() : DotOp();
  }

  /// Of several dots, as an attention has, each has a step of its own, in their order.
  LogicalResult block(BlockingAttr blocking) {
    for (Block *scope : scopes) {
      SmallVector<DotOp> dots;
      scope->walk([&](DotOp found) { dots.push_back(found); });
      if (dots.empty())
        return func.emitOpError("walks its dot in blocks, but has none");
      auto *next = llvm::find_if(dots, [](DotOp dot) { return !dot.getBlocking(); });
      if (next == dots.end())
        return func.emitOpError("walks a dot in blocks that is walked so already");
      next->setBlockingAttr(blocking);
    }
    return success();
  }

  LogicalResult swap() {
    SmallVector<DotOp> dots;
    func.walk([&](DotOp dot) { dots.push_back(dot); });
    if (dots.empty())
      return func.emitOpError("swaps the factors of its dots, but has none");
    for (DotOp dot : dots)
      swapFactors(dot);
    return success();
  }

  LogicalResult online(StringAttr name, int64_t tile) {
    for (Block *scope : scopes) {
      FailureOr<Axes> axes = Axes::compute(scope->getParentOp());
      if (failed(axes))
        return failure();
      FailureOr<Axis> axis = axes->find(name, func);
      if (failed(axis))
        return failure();
      if (failed(walkOnline(*scope, *axes, *axis, name, tile)))
        return failure();
    }
    return success();
  }

  LogicalResult stage(unsigned operand, Space space) {
    if (const Space possible = spaceOfTiles(func); space != possible)
      return func.emitOpError() << "stages a tile in " << stringifySpace(space) << " memory, but "
                                << (possible == Space::Private
                                        ? "a program is one thread, which shares it with nobody"
                                        : "its threads compute the tile together, and must share it");
    for (Block *scope : scopes) {
      DotOp dot = onlyDot(*scope);
      if (!dot)
        return func.emitOpError("stages an operand of its dot, but has none or several");
      OpOperand &use = operand == 0 ? dot.getLhsMutable() : dot.getRhsMutable();
      auto type = cast<RankedTensorType>(use.get().getType());
      if (type.getEncoding())
        return func.emitOpError("stages an operand that is in memory already");
      OpBuilder builder(dot);
      builder.setInsertionPointAfterValue(use.get());
      use.set(ConvertOp::create(
          builder, dot.getLoc(),
          RankedTensorType::get(type.getShape(), type.getElementType(), MemoryAttr::get(type.getContext(), space)),
          use.get()));
    }
    return success();
  }

  LogicalResult stream() {
    llvm::BitVector written;
    func.walk([&](StoreOp store) {
      store.setStream(true);
      collectGridIndices(store.getIndices(), written);
    });
    // Beside as many writes, fetching ahead gained nothing that could be measured.
    bool combines = func.walk([](ReduceOp) { return WalkResult::interrupt(); }).wasInterrupted();
    func.walk([&](LoadOp load) {
      llvm::BitVector read;
      collectGridIndices(load.getIndices(), read);
      // What other programs read again, or other elements of windows, is worth its place in the caches.
      load.setStream(combines && !written.test(read) && !readsTwice(load));
    });
    return success();
  }

  /// Adds the dimensions of the grid on which these values depend.
  static void collectGridIndices(ValueRange values, llvm::BitVector &found) {
    for (Value value : values) {
      if (auto argument = dyn_cast<BlockArgument>(value); argument && isa<GridOp>(argument.getOwner()->getParentOp())) {
        if (found.size() <= argument.getArgNumber())
          found.resize(argument.getArgNumber() + 1);
        found.set(argument.getArgNumber());
      } else if (Operation *by = value.getDefiningOp()) {
        collectGridIndices(by->getOperands(), found);
      }
    }
  }

  /// Whether a load's map leads several places to one element, as those of windows and of repeated rows do.
  static bool readsTwice(LoadOp load) {
    auto view = load.getView().getDefiningOp<ViewOp>();
    if (!view || !view.getMap().isSingleBlock())
      return false;
    SmallVector<std::pair<int64_t, int64_t>> dims;
    for (auto [stride, extent] : llvm::zip(view.getMap().front().getStrides(), view.getMap().front().getShape())) {
      std::optional<int64_t> step = BlockAttr::constant(stride), count = BlockAttr::constant(extent);
      if (!step || !count)
        return false;
      if (*count > 1)
        dims.push_back({std::abs(*step), *count});
    }
    llvm::sort(dims);
    int64_t reach = 0;
    for (auto [step, count] : dims) {
      if (step <= reach)
        return true;
      reach += step * (count - 1);
    }
    return false;
  }

  FuncOp func;
  SmallVector<Block *> scopes;
};

struct ApplySchedule : zyx::kernel::impl::ApplySchedulePassBase<ApplySchedule> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](FuncOp func) {
      CrashNote note(func);
      return WalkResult(applySchedule(func));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

LogicalResult zyx::kernel::applySchedule(FuncOp func) { return ScheduleApplier(func).run(); }

zyx::Status zyx::kernel::checkSchedule(FuncOp func, ArrayRef<Attribute> steps) {
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(func.getLoc()));
  // Some steps do more on a processor.
  if (auto module = func->getParentOfType<ModuleOp>())
    copyTarget(module, *scratch);
  FuncOp copy = func.clone();
  scratch->push_back(copy);
  copy.setScheduleAttr(ScheduleAttr::get(func.getContext(), steps));
  std::string reason;
  ScopedDiagnosticHandler collect(func.getContext(), [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  if (succeeded(applySchedule(copy)) && succeeded(verify(*scratch)))
    return Status::ok();
  return Status::unsupported(std::move(reason));
}
